#include "unit/wait/scripted_platform.hpp"

#include <sluice/wait/harvest_pacing.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <limits>
#include <type_traits>

namespace sluice {
namespace {

using namespace std::chrono_literals;
using test::Script;
using Pacing = BasicHarvestPacing<test::ScriptedPlatform>;

// One object of each can be a constant: no state is shared and nothing is set up at run time.
constexpr HarvestPacing constantPacing;
[[maybe_unused]] constexpr HarvestPacing constantPacingWithOptions{
    HarvestPacing::Options{8, 100ns}};
static_assert(std::is_nothrow_default_constructible_v<HarvestPacing>);
static_assert(noexcept(constantPacing.harvested(1)) && noexcept(constantPacing.full()));
static_assert(
    std::is_empty_v<NoPacing>&& noexcept(NoPacing{}.harvested(1)) && noexcept(NoPacing{}.full()));

Pacing pacing(std::size_t enough, std::chrono::nanoseconds pause) {
    return Pacing{Pacing::Options{enough, pause}};
}

class HarvestPacingTest : public testing::Test {
protected:
    HarvestPacingTest() { script.step = 100ns; }

    bool pausesAfter(const Pacing& subject, std::size_t harvest) const {
        const int before = script.pauses;
        subject.harvested(harvest);
        return script.pauses != before;
    }

    Script script;
};

TEST_F(HarvestPacingTest, PollsAtOnceAfterAnEmptyHarvest) {
    pacing(16, 400ns).harvested(0);
    EXPECT_EQ(script.pauses, 0);
    EXPECT_EQ(script.clockReadings, 0);
}

TEST_F(HarvestPacingTest, PollsAtOnceAfterALargeHarvest) {
    const Pacing subject = pacing(16, 400ns);
    for (const std::size_t many : {std::size_t{16}, std::size_t{17}, std::size_t{5000},
                                   std::numeric_limits<std::size_t>::max()}) {
        EXPECT_FALSE(pausesAfter(subject, many)) << many;
    }
    EXPECT_EQ(script.clockReadings, 0);
}

TEST_F(HarvestPacingTest, PausesAfterASmallHarvest) {
    const Pacing subject = pacing(16, 400ns);
    EXPECT_TRUE(pausesAfter(subject, 1));
    EXPECT_TRUE(pausesAfter(subject, 8));
    EXPECT_TRUE(pausesAfter(subject, 15));
}

TEST_F(HarvestPacingTest, PauseEndsWithTheFirstReadingThatReachesItsLength) {
    pacing(16, 400ns).harvested(1);
    EXPECT_EQ(script.pauses, 4);
    EXPECT_EQ(script.clockReadings, 5) << "one to start with and one per step";
}

TEST_F(HarvestPacingTest, PauseIsNeverShorterThanAsked) {
    script.step = 300ns;
    pacing(16, 400ns).harvested(1);
    EXPECT_EQ(script.pauses, 2);
    EXPECT_EQ(script.clockReadings, 3);
}

TEST_F(HarvestPacingTest, FullPausesOnce) {
    pacing(16, 400ns).full();
    EXPECT_EQ(script.pauses, 4);
    EXPECT_EQ(script.clockReadings, 5);
}

TEST_F(HarvestPacingTest, PauseOfNoLengthIsASingleStep) {
    pacing(16, 0ns).harvested(1);
    pacing(16, 0ns).full();
    EXPECT_EQ(script.pauses, 2);
}

TEST_F(HarvestPacingTest, AnyHarvestMayBeEnough) {
    EXPECT_FALSE(pausesAfter(pacing(1, 400ns), 1));
    EXPECT_FALSE(pausesAfter(pacing(0, 400ns), 1));
}

TEST_F(HarvestPacingTest, PausesTwiceAsLongAfterADenseHarvest) {
    const Pacing subject{Pacing::Options{16, 400ns, 8}};
    subject.harvested(7);
    EXPECT_EQ(script.pauses, 4);
    subject.harvested(8);
    EXPECT_EQ(script.pauses, 4 + 8);
    EXPECT_FALSE(pausesAfter(subject, 16)) << "it is enough all the same";
}

TEST_F(HarvestPacingTest, DefaultIs600NanosecondsAndTwiceThatFrom24MessagesTo511) {
    const Pacing subject;
    subject.harvested(23);
    EXPECT_EQ(script.pauses, 6);
    subject.harvested(24);
    EXPECT_EQ(script.pauses, 6 + 12);
    EXPECT_TRUE(pausesAfter(subject, 511));
    EXPECT_FALSE(pausesAfter(subject, 512));
}

TEST_F(HarvestPacingTest, NeverYields) {
    const Pacing subject = pacing(16, 400ns);
    subject.harvested(1);
    subject.full();
    EXPECT_EQ(script.yields, 0);
}

TEST(HarvestPacingOnTheRealClockTest, TakesAtLeastItsTime) {
    const HarvestPacing subject{HarvestPacing::Options{16, 2ms}};
    const auto start = std::chrono::steady_clock::now();
    subject.harvested(1);
    const auto afterHarvest = std::chrono::steady_clock::now();
    subject.full();
    EXPECT_GE(afterHarvest - start, 2ms);
    EXPECT_GE(std::chrono::steady_clock::now() - afterHarvest, 2ms);
}

TEST(NoPacingTest, NeitherPausesNorReadsTheClock) {
    Script script;
    const NoPacing subject;
    subject.harvested(0);
    subject.harvested(1);
    subject.harvested(100000);
    subject.full();
    EXPECT_EQ(script.pauses, 0);
    EXPECT_EQ(script.clockReadings, 0);
}

}  // namespace
}  // namespace sluice
