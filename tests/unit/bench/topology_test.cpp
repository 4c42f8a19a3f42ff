// Reads a made-up machine: two packages, two cores each, two hardware threads a core. BR-21.

#include "harness/machine/topology.hpp"

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

// A CPU of a made-up machine: its core, its package and the number of its L3.
CpuPlace at(int cpu, int core, int package, int l3) {
    CpuPlace place;
    place.cpu = cpu;
    place.core = core;
    place.package = package;
    place.l3 = l3;
    return place;
}

std::vector<std::string> missingIn(const std::vector<CpuPlace>& places) {
    std::vector<std::string> names;
    for (const MissingDistance& missing : missingDistances(places)) {
        EXPECT_FALSE(missing.because.empty());
        names.push_back(missing.distance);
    }
    return names;
}

using Numbers = std::vector<int>;
using Names = std::vector<std::string>;

TEST(PlacementOrderTest, PassesOverTheSecondThreadOfACore) {
    // Siblings are neighbours here: CPUs 0 and 1 are one core.
    const std::vector<CpuPlace> places = {at(0, 0, 0, 0), at(1, 0, 0, 0), at(2, 1, 0, 0),
                                          at(3, 1, 0, 0), at(4, 2, 0, 0), at(5, 2, 0, 0)};
    EXPECT_EQ(placementOrder(places), (Numbers{0, 2, 4, 3, 1, 5}));
    EXPECT_EQ(missingIn(places), (Names{"same package", "other package"}));
}

TEST(PlacementOrderTest, StaysInOneL3WhereItCan) {
    const std::vector<CpuPlace> places = {at(0, 0, 0, 0), at(1, 1, 0, 1), at(2, 2, 0, 0),
                                          at(3, 3, 0, 1)};
    EXPECT_EQ(placementOrder(places), (Numbers{0, 2, 1, 3}));
    EXPECT_EQ(missingIn(places), (Names{"same core", "other package"}));
}

TEST(PlacementOrderTest, StaysInOnePackageWhereItCan) {
    const std::vector<CpuPlace> places = {at(0, 0, 0, 0), at(1, 0, 1, 1), at(2, 1, 0, 2)};
    EXPECT_EQ(placementOrder(places), (Numbers{0, 2, 1}));
    EXPECT_EQ(missingIn(places), (Names{"same core", "same L3"}));
}

TEST(PlacementOrderTest, TakesTwoThreadsOfACoreWhenThereIsNothingElse) {
    const std::vector<CpuPlace> places = {at(4, 2, 0, 0), at(5, 2, 0, 0)};
    EXPECT_EQ(placementOrder(places), (Numbers{4, 5}));
    EXPECT_EQ(missingIn(places), (Names{"same L3", "same package", "other package"}));
}

TEST(PlacementOrderTest, KeepsTheOrderWhereTheSystemTellsNothing) {
    const std::vector<CpuPlace> places = {at(3, -1, -1, -1), at(5, -1, -1, -1), at(7, -1, -1, -1)};
    EXPECT_EQ(placementOrder(places), (Numbers{3, 5, 7}));
    EXPECT_EQ(missingIn(places).size(), 4U);
    EXPECT_EQ(missingDistances(places)[0].because, "the system does not tell where the CPUs are");
    EXPECT_EQ(placementOrder({places[0]}), Numbers{3});
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
