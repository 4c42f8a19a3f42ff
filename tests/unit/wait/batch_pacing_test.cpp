#include "unit/wait/scripted_platform.hpp"

#include <sluice/wait/park.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <limits>
#include <type_traits>

namespace sluice {
namespace {

using namespace std::chrono_literals;
using test::Script;
using Pacing = BasicBatchPacing<test::ScriptedPlatform>;

// One object of each can be a constant: no state is shared and nothing is set up at run time.
constexpr BatchPacing constantPacing;
[[maybe_unused]] constexpr BatchPacing constantPacingWithOptions{BatchPacing::Options{8, 100ns}};
static_assert(std::is_nothrow_default_constructible_v<BatchPacing>);
static_assert(noexcept(constantPacing.polled(1)) && noexcept(constantPacing.full()));
static_assert(
    std::is_empty_v<NoPacing>&& noexcept(NoPacing{}.polled(1)) && noexcept(NoPacing{}.full()));

Pacing pacing(std::size_t enough, std::chrono::nanoseconds pause) {
    return Pacing{Pacing::Options{enough, pause}};
}

class BatchPacingTest : public testing::Test {
protected:
    BatchPacingTest() { script.step = 100ns; }

    bool pausesAfter(const Pacing& subject, std::size_t harvest) const {
        const int before = script.pauses;
        subject.polled(harvest);
        return script.pauses != before;
    }

    Script script;
};

TEST_F(BatchPacingTest, PollsAtOnceAfterALargeHarvest) {
    const Pacing subject = pacing(16, 400ns);
    for (const std::size_t many : {std::size_t{16}, std::size_t{17}, std::size_t{5000},
                                   std::numeric_limits<std::size_t>::max()}) {
        EXPECT_FALSE(pausesAfter(subject, many)) << many;
    }
    EXPECT_EQ(script.clockReadings, 0);
}

TEST_F(BatchPacingTest, PauseEndsWithTheFirstReadingThatReachesItsLength) {
    pacing(16, 400ns).polled(1);
    EXPECT_EQ(script.pauses, 4);
    EXPECT_EQ(script.clockReadings, 5) << "one to start with and one per step";
}

TEST_F(BatchPacingTest, FullPausesOnce) {
    pacing(16, 400ns).full();
    EXPECT_EQ(script.pauses, 4);
    EXPECT_EQ(script.clockReadings, 5);
}

TEST_F(BatchPacingTest, PauseOfNoLengthIsASingleStep) {
    pacing(16, 0ns).polled(1);
    pacing(16, 0ns).full();
    EXPECT_EQ(script.pauses, 2);
}

TEST_F(BatchPacingTest, PausesTwiceAsLongAfterADenseHarvest) {
    const Pacing subject{Pacing::Options{16, 400ns, 8}};
    subject.polled(7);
    EXPECT_EQ(script.pauses, 4);
    subject.polled(8);
    EXPECT_EQ(script.pauses, 4 + 8);
    EXPECT_FALSE(pausesAfter(subject, 16)) << "it is enough all the same";
}

TEST_F(BatchPacingTest, DefaultIs600NanosecondsAndTwiceThatFrom24MessagesTo511) {
    const Pacing subject;
    subject.polled(23);
    EXPECT_EQ(script.pauses, 6);
    subject.polled(0);
    EXPECT_EQ(script.pauses, 6) << "an empty poll costs no pause";
    subject.polled(24);
    EXPECT_EQ(script.pauses, 6 + 12);
    EXPECT_TRUE(pausesAfter(subject, 511));
    EXPECT_FALSE(pausesAfter(subject, 512));
}

}  // namespace
}  // namespace sluice
