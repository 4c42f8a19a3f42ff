// The machine: its places, clock, lines, processor time and storage.

#include "harness/machine/affinity.hpp"
#include "harness/machine/cpu_share.hpp"
#include "harness/machine/cpu_time.hpp"
#include "harness/machine/environment.hpp"
#include "harness/machine/storage.hpp"
#include "harness/machine/topology.hpp"
#include "harness/machine/usage.hpp"
#include "harness/run/machine.hpp"

#include <gtest/gtest.h>

#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <thread>

namespace sluice::bench {
namespace {

// The ping-pong spins: it is only sensible between two CPUs.
class MachineTest : public testing::Test {
protected:
    void SetUp() override {
        if (cpus_.size() < 2) {
            GTEST_SKIP() << "needs two CPUs";
        }
    }

    const std::vector<int> cpus_ = allowedCpus();
};

TEST_F(MachineTest, TimesALineOneWay) {
    const Round round = lineOneWayRound(cpus_[0], cpus_[1]);
    EXPECT_EQ(round.error, "");
    EXPECT_GT(round.ns, 0);
}

TEST_F(MachineTest, TimesStreamedLinesAndReadsThem) {
    const Round round = lineStreamedRound(cpus_[0], cpus_[1]);
    EXPECT_EQ(round.error, "");
    EXPECT_GT(round.ns, 0);
}

TEST_F(MachineTest, SamplesHowLateTheMachineItselfIs) {
    const Round round = wakefulnessRound(cpus_[0], cpus_[1]);
    EXPECT_EQ(round.error, "");
    EXPECT_EQ(round.samples.size(), 50000U);
    EXPECT_GE(round.ns, 0);
}

TEST_F(MachineTest, EachMeasuredLineIsOneOfTheConditions) {
    MachineWatch watch(cpus_[0], cpus_[1], true);
    (void)watch.sinceLastCall();
    double shortest = watch.line().ns;
    double longest = shortest;
    for (int i = 0; i < 20; ++i) {
        const double ns = watch.line().ns;
        shortest = std::min(shortest, ns);
        longest = std::max(longest, ns);
    }
    const RoundConditions conditions = watch.sinceLastCall();
    EXPECT_LE(conditions.shortestLineNs, shortest);
    EXPECT_GE(conditions.longestLineNs, longest);
}

TEST_F(MachineTest, ReportsAnImpossiblePin) {
    EXPECT_NE(lineStreamedRound(cpus_[0], CPU_SETSIZE - 1).error, "");
}

double secondsOfThisProcess() {
    rusage usage{};
    (void)getrusage(RUSAGE_SELF, &usage);
    return double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           1e-6 * double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

TEST(CpuShareTest, AnotherProcessOfTheGroupCounts) {
    const double before = secondsOfGroup() - secondsOfThisProcess();
    const pid_t busy = fork();
    if (busy == 0) {
        alarm(60);
        while (true) {
        }
    }
    while (secondsOfGroup() - secondsOfThisProcess() < before + 0.1) {
        usleep(1000);
    }
    kill(busy, SIGKILL);
    EXPECT_EQ(waitpid(busy, nullptr, 0), busy);
}

TEST(CpuShareTest, IsUnknownOrAPart) {
    const CpuShare share;
    for (const double part : {share.others(), share.stolen()}) {
        EXPECT_LE(part, 1.0);
        EXPECT_GE(part, -1.0);
    }
}

// The cost of one read of the clock on each CPU, and its smallest step.
TEST(EnvironmentTest, TimesTheClockOnEachCpu) {
    const std::vector<int> cpus = allowedCpus();
    Environment environment;
    std::thread([&] { environment = describeEnvironment(cpus, {}); }).join();
    ASSERT_EQ(environment.clockCosts.size(), cpus.size());
    double dearest = 0;
    for (std::size_t i = 0; i < cpus.size(); ++i) {
        EXPECT_EQ(environment.clockCosts[i].cpu, cpus[i]);
        EXPECT_GT(environment.clockCosts[i].ns, 0);
        dearest = std::max(dearest, environment.clockCosts[i].ns);
    }
    EXPECT_EQ(environment.clockNs, dearest);
    EXPECT_GT(environment.clockStepNs, 0);
}

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

TEST(PlacementOrderTest, PrefersOtherCoresInTheSameL3AndPackage) {
    struct Case {
        std::vector<CpuPlace> places;
        Numbers order;
        Names missing;
    };
    for (const Case& each : {// Siblings are neighbours here: CPUs 0 and 1 are one core.
                             Case{{at(0, 0, 0, 0), at(1, 0, 0, 0), at(2, 1, 0, 0), at(3, 1, 0, 0),
                                   at(4, 2, 0, 0), at(5, 2, 0, 0)},
                                  {0, 2, 4, 3, 1, 5},
                                  {"same package", "other package"}},
                             Case{{at(0, 0, 0, 0), at(1, 1, 0, 1), at(2, 2, 0, 0), at(3, 3, 0, 1)},
                                  {0, 2, 1, 3},
                                  {"same core", "other package"}},
                             Case{{at(0, 0, 0, 0), at(1, 0, 1, 1), at(2, 1, 0, 2)},
                                  {0, 2, 1},
                                  {"same core", "same L3"}},
                             Case{{at(4, 2, 0, 0), at(5, 2, 0, 0)},
                                  {4, 5},
                                  {"same L3", "same package", "other package"}}}) {
        EXPECT_EQ(placementOrder(each.places), each.order);
        EXPECT_EQ(missingIn(each.places), each.missing);
    }
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

using Cpus = std::vector<int>;

TEST(PlacementTest, KeepsTheConsumersCpuFreeWhereItCan) {
    struct Case {
        Cpus cpus;
        std::size_t producers;
        Spread spread;
        Cpus expected;
        bool oversubscribed;
    };
    for (const Case& each : {Case{{4, 6}, 1, Spread::apart, {4}, false},
                             Case{{4, 6}, 1, Spread::everywhere, {4}, false},
                             Case{{0, 1}, 4, Spread::apart, {0, 0, 0, 0}, true},
                             Case{{0, 1}, 4, Spread::everywhere, {0, 1, 0, 1}, true},
                             Case{{0, 1, 2, 3, 4}, 4, Spread::apart, {0, 2, 3, 4}, false}}) {
        const Placement placement = placeThreads(each.cpus, each.producers, each.spread);
        EXPECT_EQ(placement.consumerCpu, each.cpus[1]);
        EXPECT_EQ(placement.producerCpus, each.expected);
        EXPECT_EQ(placement.oversubscribed, each.oversubscribed);
    }
}

TEST(AffinityTest, PinsAThreadToAnAllowedCpu) {
    const Cpus cpus = allowedCpus();
    ASSERT_FALSE(cpus.empty());
    std::thread([&] {
        EXPECT_TRUE(pinThisThread(cpus.back()));
        EXPECT_EQ(sched_getcpu(), cpus.back());
    }).join();
}

// A thread that the placement lets roam may use all CPUs again, after any round.
TEST(AffinityTest, LetsAThreadRoamWhereThePlacementSaysSo) {
    const Cpus cpus = allowedCpus();
    Placement placement;
    std::thread([&] {
        EXPECT_TRUE(takePlace(placement, cpus.back()));
        EXPECT_EQ(allowedCpus(), Cpus{cpus.back()});
        placement.roaming = cpus;
        EXPECT_TRUE(takePlace(placement, cpus.back()));
        EXPECT_EQ(allowedCpus(), cpus);
    }).join();
}

TEST(AffinityTest, SaysWhenACpuIsRefused) {
    std::thread([] { EXPECT_FALSE(pinThisThread(CPU_SETSIZE - 1)); }).join();
}

constexpr const char* mounts = "22 1 254:1 / / rw,relatime shared:1 - ext4 /dev/vda1 rw\n"
                               "23 22 0:21 / /tmp rw shared:2 master:1 - tmpfs tmpfs rw\n"
                               "24 23 254:2 /logs /tmp/logs rw - xfs /dev/vdb rw\n";

std::string storageIn(const std::string& folder, const std::string& list = mounts) {
    std::istringstream text(list);
    const Storage found = storageOf(folder, text);
    return found.fileSystem + " on " + found.device;
}

TEST(StorageTest, TheInnermostMountHasTheFolder) {
    EXPECT_EQ(storageIn("/home"), "ext4 on /dev/vda1");
    EXPECT_EQ(storageIn("/tmp"), "tmpfs on tmpfs");
    EXPECT_EQ(storageIn("/tmp/other"), "tmpfs on tmpfs");
    EXPECT_EQ(storageIn("/tmp/logs/deep"), "xfs on /dev/vdb");
    EXPECT_EQ(storageIn("/tmp/logs2"), "tmpfs on tmpfs") << "the name only begins alike";
}

TEST(StorageTest, TheLaterOfTwoMountsOnOneFolderHidesTheOther) {
    EXPECT_EQ(storageIn("/home", std::string(mounts) + "25 22 0:9 / / rw - overlay overlay rw\n"),
              "overlay on overlay");
}

TEST(StorageTest, NothingIsGuessed) {
    EXPECT_EQ(storageIn("/home", ""), " on ");
    EXPECT_EQ(storageIn("/home", "22 1 254:1 / / rw\n"), " on ");
}

double peakOf(std::size_t mib) {
    beginPeak();
    const std::unique_ptr<char[]> memory(new char[mib << 20U]);
    std::memset(memory.get(), 1, mib << 20U);
    asm volatile("" : : "r"(memory.get()) : "memory");
    return usageSoFar().peakMemoryMib.value_or(-1);
}

TEST(UsageTest, TheMostMemoryIsCountedAnewForEachRound) {
    const double large = peakOf(256);
    if (large < 0) {
        GTEST_SKIP() << "the kernel does not tell";
    }
    EXPECT_GT(large, 256);
    EXPECT_LT(peakOf(1), large - 128);
}

/// Works until this thread has taken 20 ms of processor time. Returns the time that it took.
double work() {
    const double before = cpuTimeOfNs(CLOCK_THREAD_CPUTIME_ID);
    double taken = 0;
    while (taken < 20e6) {
        taken = cpuTimeOfNs(CLOCK_THREAD_CPUTIME_ID) - before;
    }
    return taken;
}

TEST(CpuTime, TheCallingThreadIsNoOtherThread) {
    const double before = cpuTimeOfOthersSoFarNs();
    const double own = work();
    EXPECT_LT(cpuTimeOfOthersSoFarNs() - before, own);
}

TEST(CpuTime, OtherThreadsCount) {
    const double before = cpuTimeOfOthersSoFarNs();
    double taken = 0;
    std::thread other([&] { taken = work(); });
    other.join();
    EXPECT_GE(cpuTimeOfOthersSoFarNs() - before, taken);
}

}  // namespace
}  // namespace sluice::bench
