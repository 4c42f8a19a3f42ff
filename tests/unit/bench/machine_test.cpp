#include "harness/run/machine.hpp"

#include "harness/machine/affinity.hpp"
#include "harness/machine/cpu_share.hpp"
#include "harness/machine/environment.hpp"

#include <gtest/gtest.h>

#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
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

TEST(CpuShareTest, IsUnknownOrAPart) {
    const CpuShare share;
    for (const double part : {share.others(), share.stolen()}) {
        EXPECT_LE(part, 1.0);
        EXPECT_GE(part, -1.0);
    }
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

// BR-11: the cost of one read of the clock on each CPU, and its smallest step.
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

TEST(EnvironmentTest, KnowsItsMachineAndBuild) {
    BuildRecord build;
    build.flagSets = {{"-O3", 7}};
    build.gitCommit = "abc";
    Environment environment;
    std::thread([&] { environment = describeEnvironment(allowedCpus(), build); }).join();
    EXPECT_FALSE(environment.kernel.empty());
    EXPECT_FALSE(environment.compiler.empty());
    EXPECT_EQ(environment.startedAt.size(), std::string("2000-01-01T00:00:00Z").size());
    EXPECT_EQ(environment.topology.size(), allowedCpus().size());
    EXPECT_EQ(environment.programHash.size(), 16U);
    EXPECT_EQ(environment.flagSets.front().flags, "-O3");
    EXPECT_EQ(environment.gitCommit, "abc");
}

}  // namespace
}  // namespace sluice::bench
