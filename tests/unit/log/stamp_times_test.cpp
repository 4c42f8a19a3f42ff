#include <sluice/log/detail/backend/batch_writer.hpp>

#include "support/testing.hpp"

namespace sluice::log::detail {
namespace {

using namespace std::chrono_literals;

constexpr StampTimes::time_point day{std::chrono::hours(24)};

/// Stamps count nanoseconds here.
constexpr Stamp stampAt(std::chrono::nanoseconds passed) {
    return static_cast<Stamp>((1h + passed).count());
}

StampTimes timesAt(std::chrono::nanoseconds passed) {
    StampTimes times;
    times.adjust(stampAt(0s), StampTimes::SteadyTime(1h), day);
    times.adjust(stampAt(passed), StampTimes::SteadyTime(1h + passed),
                 day + std::chrono::duration_cast<StampTimes::time_point::duration>(passed));
    return times;
}

TEST(LogStampTimes, AStampHasTheTimeAtWhichItWasTaken) {
    const StampTimes times = timesAt(10s);
    EXPECT_EQ(times.at(stampAt(9s)), day + 9s);
    EXPECT_EQ(times.at(stampAt(9500ms)), day + 9500ms);
    EXPECT_EQ(times.at(stampAt(10s)), day + 10s);
}

TEST(LogStampTimes, FollowsSpdlogsClockWhenItIsSet) {
    StampTimes times = timesAt(1s);
    times.adjust(stampAt(2s), StampTimes::SteadyTime(1h + 2s), day + 2s - 1h);
    EXPECT_EQ(times.at(stampAt(1600ms)), day + 1600ms - 1h);
}

TEST(LogStampTimes, AStampFromBeforeTheClockStartedAgainIsNotInTheFuture) {
    StampTimes times = timesAt(1s);
    times.adjust(Stamp{100}, StampTimes::SteadyTime(1h + 2s), day + 2s);
    EXPECT_EQ(times.at(stampAt(1s)), day + 2s);
    times.adjust(Stamp{1000000100}, StampTimes::SteadyTime(1h + 3s), day + 3s);
    EXPECT_EQ(times.at(Stamp{500000100}), day + 2500ms) << "the length of a tick is known";
}

TEST(LogStampTimes, AThreadThatWasInterruptedDoesNotSetTheTimeBack) {
    StampTimes times = timesAt(1s);
    EXPECT_EQ(times.inOrder(day + 990ms), day + 990ms);
    EXPECT_EQ(times.inOrder(day + 985ms), day + 990ms);
    EXPECT_EQ(times.inOrder(day + 100ms), day + 100ms) << "too early for a clock reading";
    EXPECT_EQ(times.inOrder(day + 1h), day + 1h) << "later than the clock";
    EXPECT_EQ(times.inOrder(day + 985ms), day + 990ms);
    times.adjust(stampAt(2s), StampTimes::SteadyTime(1h + 2s), day + 980ms);
    EXPECT_EQ(times.inOrder(day + 980ms), day + 980ms) << "spdlog's clock was set back";
}

}  // namespace
}  // namespace sluice::log::detail
