#include "hostwatch/readers.hpp"

#include "proc_tree.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace hostwatch {
namespace {

using namespace std::chrono_literals;

constexpr Clock::time_point start{100s};
const std::string netHeading = "a|b\nc|d\n";

/// Feeds one reader and returns the samples of the newest reading.
template <class Sample>
class Feed {
public:
    std::vector<Sample> operator()(std::string_view text, Clock::duration sinceStart) {
        std::vector<Sample> measured;
        problem_ = reader_->read(text, start + sinceStart, measured);
        return measured;
    }

    const Problem& problem() const { return problem_; }

private:
    std::unique_ptr<Reader<Sample>> reader_ = makeReader<Sample>();
    Problem problem_;
};

std::string disk(const char* name, int read, int written, int busy) {
    return std::string("8 0 ") + name + " 1 0 " + std::to_string(read) + " 0 1 0 " +
           std::to_string(written) + " 0 0 " + std::to_string(busy) + " 0\n";
}

std::string interface(const char* name, int received, int sent) {
    return std::string(name) + ": " + std::to_string(received) + " 0 0 0 0 0 0 0 " +
           std::to_string(sent) + " 0 0 0 0 0 0 0\n";
}

TEST(CpuReader, NeedsTwoReadings) {
    Feed<CpuSample> feed;
    EXPECT_TRUE(feed("cpu 0 0 0 0\ncpu0 0 0 0 0\n", 0s).empty());
    const auto measured = feed("cpu 10 5 10 75\ncpu0 10 5 10 75\n", 1s);
    ASSERT_EQ(measured.size(), 1U) << "the line of all cores is no core";
    EXPECT_EQ(measured[0].core, 0);
    EXPECT_DOUBLE_EQ(measured[0].busyPercent, 25);
}

TEST(CpuReader, MeasuresNothingWhenNoTickHasPassed) {
    Feed<CpuSample> feed;
    feed("cpu 1 1 1 1\ncpu0 1 1 1 1\n", 0s);
    EXPECT_TRUE(feed("cpu 1 1 1 1\ncpu0 1 1 1 1\n", 1s).empty());
}

TEST(CpuReader, TakesACoreThatComesAndGoes) {
    Feed<CpuSample> feed;
    feed("cpu 0 0 0 0\ncpu0 0 0 0 0\n", 0s);
    EXPECT_EQ(feed("cpu 1 0 0 0\ncpu1 1 0 0 0\n", 1s).size(), 0U);
    EXPECT_EQ(feed("cpu 2 0 0 0\ncpu1 2 0 0 0\n", 2s).size(), 1U);
}

TEST(CpuReader, TakesAWaitingTimeThatRunsBackwards) {
    Feed<CpuSample> feed;
    feed("cpu 0 0 0 0 50\ncpu0 0 0 0 0 50\n", 0s);
    const auto measured = feed("cpu 10 0 0 0 49\ncpu0 10 0 0 0 49\n", 1s);
    ASSERT_EQ(measured.size(), 1U);
    EXPECT_DOUBLE_EQ(measured[0].busyPercent, 100);
}

TEST(MemoryReader, MeasuresAtOnce) {
    Feed<MemorySample> feed;
    const auto measured = feed(test::goodMeminfo, 0s);
    ASSERT_EQ(measured.size(), 1U);
    const auto& memory = measured[0];
    EXPECT_EQ(memory.totalBytes, 1000U * 1024);
    EXPECT_EQ(memory.usedBytes, 400U * 1024);
    EXPECT_EQ(memory.cachedBytes, 250U * 1024);
    EXPECT_EQ(memory.swapUsedBytes, 100U * 1024);
    EXPECT_TRUE(feed("MemTotal: 1 kB\n", 1s).empty());
    EXPECT_TRUE(feed.problem());
}

TEST(DiskReader, MeasuresRatesOverTheTimeBetween) {
    Feed<DiskSample> feed;
    feed(disk("sda", 100, 200, 1000), 0s);
    const auto measured = feed(disk("sda", 140, 200, 1500), 2s);
    ASSERT_EQ(measured.size(), 1U);
    const auto& sample = measured[0];
    EXPECT_EQ(sample.name.view(), "sda");
    EXPECT_DOUBLE_EQ(sample.readBytesPerSecond, 20 * 512);
    EXPECT_DOUBLE_EQ(sample.writtenBytesPerSecond, 0);
    EXPECT_DOUBLE_EQ(sample.busyPercent, 25);
}

TEST(DiskReader, NeverShowsMoreThanAllTheTimeAsBusy) {
    Feed<DiskSample> feed;
    feed(disk("sda", 0, 0, 0), 0s);
    const auto measured = feed(disk("sda", 0, 0, 1010), 1s);
    EXPECT_DOUBLE_EQ(measured.at(0).busyPercent, 100);
}

TEST(DiskReader, StartsAnewWhenACounterRunsBackwards) {
    Feed<DiskSample> feed;
    feed(disk("sda", 100, 100, 100), 0s);
    EXPECT_TRUE(feed(disk("sda", 10, 10, 10), 1s).empty());
    const auto measured = feed(disk("sda", 12, 10, 10), 2s);
    ASSERT_EQ(measured.size(), 1U);
    EXPECT_DOUBLE_EQ(measured[0].readBytesPerSecond, 1024);
}

TEST(DiskReader, MeasuresNothingWhenNoTimeHasPassed) {
    Feed<DiskSample> feed;
    feed(disk("sda", 0, 0, 0), 1s);
    EXPECT_TRUE(feed(disk("sda", 9, 0, 0), 1s).empty());
}

TEST(NetworkReader, MeasuresEachInterface) {
    Feed<NetworkSample> feed;
    feed(netHeading + interface("lo", 5, 5) + interface("eth0", 1000, 10), 0s);
    const auto measured =
        feed(netHeading + interface("lo", 5, 5) + interface("eth0", 3000, 20), 500ms);
    ASSERT_EQ(measured.size(), 2U);
    const auto& sample = measured[0];
    EXPECT_EQ(sample.name.view(), "eth0");
    EXPECT_DOUBLE_EQ(sample.receivedBytesPerSecond, 4000);
    EXPECT_DOUBLE_EQ(sample.sentBytesPerSecond, 20);
}

TEST(NetworkReader, CoversTheLongerTimeAfterAReadingThatFailed) {
    Feed<NetworkSample> feed;
    feed(netHeading + interface("eth0", 1000, 1), 0s);
    EXPECT_TRUE(feed("rubbish", 1s).empty());
    EXPECT_TRUE(feed.problem());
    const auto measured = feed(netHeading + interface("eth0", 5000, 1), 4s);
    EXPECT_FALSE(feed.problem());
    EXPECT_DOUBLE_EQ(measured.at(0).receivedBytesPerSecond, 1000);
}

TEST(NetworkReader, MeasuresTheGoodLinesOfAFileWithABadOne) {
    Feed<NetworkSample> feed;
    feed(netHeading + interface("eth0", 1000, 1), 0s);
    EXPECT_EQ(feed(netHeading + "rubbish\n" + interface("eth0", 2000, 1), 1s).size(), 1U);
    EXPECT_TRUE(feed.problem());
}

TEST(Sources, ReadOnePlaceEachAtARateOfTheirOwn) {
    for (const Source one : allSources) {
        EXPECT_GT(periodOf(one), 0s);
        for (const Source other : allSources) {
            if (one != other) {
                EXPECT_STRNE(fileOf(one), fileOf(other));
                EXPECT_NE(periodOf(one), periodOf(other));
            }
        }
    }
}

}  // namespace
}  // namespace hostwatch
