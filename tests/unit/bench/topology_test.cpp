// Reads a made-up machine: two packages, two cores each, two hardware threads a core. BR-21.

#include "harness/topology.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace sluice::bench {
namespace {

class TopologyTest : public testing::Test {
protected:
    void SetUp() override {
        for (int cpu = 0; cpu < 8; ++cpu) {
            const int core = cpu % 4;
            const int package = core / 2;
            const std::string folder = "cpu" + std::to_string(cpu);
            write(folder + "/topology/core_id", std::to_string(core));
            write(folder + "/topology/physical_package_id", std::to_string(package));
            write(folder + "/topology/thread_siblings_list",
                  std::to_string(core) + "," + std::to_string(core + 4));
            write(folder + "/cache/index0/level", "1");
            write(folder + "/cache/index3/level", "3");
            write(folder + "/cache/index3/size", "32768K");
            write(folder + "/cache/index3/shared_cpu_list", package == 0 ? "0-1,4-5" : "2-3,6-7");
            write(folder + "/node" + std::to_string(package) + "/cpulist", "0");
        }
    }
    void TearDown() override { std::filesystem::remove_all(root_); }

    CpuPlace place(int cpu) const { return placeOf(cpu, root_); }

    const std::string root_ = testing::TempDir() + "sluice_topology_" +
                              testing::UnitTest::GetInstance()->current_test_info()->name();

private:
    void write(const std::string& name, const std::string& text) const {
        const std::filesystem::path path = root_ + "/" + name;
        std::filesystem::create_directories(path.parent_path());
        std::ofstream(path) << text << '\n';
    }
};

TEST_F(TopologyTest, KnowsThePlaceOfACpu) {
    const CpuPlace six = place(6);
    EXPECT_EQ(six.core, 2);
    EXPECT_EQ(six.package, 1);
    EXPECT_EQ(six.numaNode, 1);
    EXPECT_EQ(six.l3, 2);
    EXPECT_EQ(six.siblings, std::vector<int>{2});
    EXPECT_EQ(l3Size(6, root_), 32768);
}

TEST_F(TopologyTest, TellsHowFarApartTwoAre) {
    EXPECT_EQ(distanceOf(place(0), place(4)), "same core");
    EXPECT_EQ(distanceOf(place(0), place(1)), "same L3");
    EXPECT_EQ(distanceOf(place(0), place(2)), "other package");
}

TEST_F(TopologyTest, FindsAPairForEachDistanceThereIs) {
    std::vector<CpuPlace> places;
    for (int cpu = 0; cpu < 8; ++cpu) {
        places.push_back(place(cpu));
    }
    const std::vector<CpuPair> pairs = pairsByDistance(places);
    ASSERT_EQ(pairs.size(), 3U);
    EXPECT_EQ(pairs[0].distance, "same core");
    EXPECT_EQ(pairs[0].second, 4);
    EXPECT_EQ(pairs[1].distance, "same L3");
    EXPECT_EQ(pairs[1].second, 1);
    EXPECT_EQ(pairs[2].distance, "other package");
    EXPECT_EQ(pairs[2].second, 2);
    EXPECT_TRUE(pairsByDistance({place(0)}).empty());
}

TEST_F(TopologyTest, SaysNothingOfWhatItCannotRead) {
    const CpuPlace nowhere = placeOf(0, root_ + "/none");
    EXPECT_EQ(nowhere.core, -1);
    EXPECT_EQ(nowhere.l3, -1);
    EXPECT_EQ(l3Size(0, root_ + "/none"), -1);
    EXPECT_EQ(distanceOf(nowhere, nowhere), "");
}

TEST_F(TopologyTest, ReadsListsOfCpus) {
    EXPECT_EQ(cpuList("0-2,5"), (std::vector<int>{0, 1, 2, 5}));
    EXPECT_EQ(cpuList(""), std::vector<int>{});
}

}  // namespace
}  // namespace sluice::bench
