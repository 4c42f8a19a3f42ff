#include <sluice/log/detail/backend/display_time.hpp>

#include <gtest/gtest.h>

#include <chrono>

namespace sluice::log::detail {
namespace {

using namespace std::chrono_literals;
using Time = DisplayTime::time_point;

constexpr Time day{std::chrono::hours(24)};

/// Stamps count nanoseconds here.
class LogDisplayTime : public testing::Test {
protected:
    LogDisplayTime() { clocksAt(0s); }

    /// So long after the start.
    void clocksAt(std::chrono::nanoseconds passed, std::chrono::nanoseconds wallIsSet = 0s) {
        times.adjust(keyAt(passed), DisplayTime::SteadyTime(1h + passed), day + passed + wallIsSet);
    }
    static Stamp keyAt(std::chrono::nanoseconds passed) {
        return static_cast<Stamp>((1h + passed).count());
    }
    Time show(std::chrono::nanoseconds time, std::chrono::nanoseconds stamped,
              std::uint8_t flags = RecordHead::none) {
        RecordHead head{};
        head.time = day + time;
        head.flags = flags;
        return times.show(head, keyAt(stamped));
    }

    DisplayTime times;
};

TEST_F(LogDisplayTime, ShowsSpdlogsTimeWhenItIsInOrder) {
    clocksAt(1s);
    EXPECT_EQ(show(100ms, 100ms), day + 100ms);
    EXPECT_EQ(show(200ms, 200ms), day + 200ms);
}

TEST_F(LogDisplayTime, AStampFromBeforeTheClockStartedAgainIsNotInTheFuture) {
    clocksAt(1s);
    times.adjust(Stamp{100}, DisplayTime::SteadyTime(1h + 2s), day + 2s);
    EXPECT_EQ(show(0s, 1s, RecordHead::hasNoTime), day + 2s);
    times.adjust(Stamp{1000000100}, DisplayTime::SteadyTime(1h + 3s), day + 3s);
    RecordHead head{};
    head.flags = RecordHead::hasNoTime;
    EXPECT_EQ(times.show(head, Stamp{500000100}), day + 2500ms) << "the length of a tick is known";
}

TEST_F(LogDisplayTime, DoesNotStepBack) {
    clocksAt(1s);
    EXPECT_EQ(show(105ms, 105ms), day + 105ms);
    EXPECT_EQ(show(100ms, 106ms), day + 105ms) << "was interrupted between clock and stamp";
    EXPECT_EQ(show(107ms, 107ms), day + 107ms);
}

TEST_F(LogDisplayTime, ShowsThatARecordWaitedForRoom) {
    clocksAt(10s);
    EXPECT_EQ(show(9s, 9s), day + 9s);
    EXPECT_EQ(show(1s, 9500ms), day + 9s);
}

TEST_F(LogDisplayTime, KeepsATimeThatIsTheCallers) {
    clocksAt(10s);
    EXPECT_EQ(show(9s, 9s), day + 9s);
    EXPECT_EQ(show(8900ms, 9s, RecordHead::keepsTime), day + 8900ms);
    EXPECT_EQ(show(15s, 9200ms, RecordHead::keepsTime), day + 15s);
    EXPECT_EQ(show(9300ms, 9300ms), day + 9300ms) << "none of them changes what follows";
}

TEST_F(LogDisplayTime, TellsTheTimeOfARecordWithoutOneByItsStamp) {
    clocksAt(10s);
    EXPECT_EQ(show(0s, 9s, RecordHead::hasNoTime), day + 9s);
    EXPECT_EQ(show(0s, 9500ms, RecordHead::hasNoTime), day + 9500ms);
    EXPECT_EQ(show(0s, 10s, RecordHead::hasNoTime), day + 10s);
}

// A handler that logs may keep its thread from running between the time and the stamp.
TEST_F(LogDisplayTime, DoesNotStepBackAfterALongInterruption) {
    clocksAt(10s);
    EXPECT_EQ(show(9s, 9s), day + 9s);
    EXPECT_EQ(show(7500ms, 9100ms), day + 9s);
}

TEST_F(LogDisplayTime, DoesNotStepBackWhenTheClockIsSetBack) {
    clocksAt(1s);
    EXPECT_EQ(show(999ms, 999ms), day + 999ms);
    clocksAt(2s, -1h);
    EXPECT_EQ(show(1500ms - 1h, 1500ms), day + 999ms);
    EXPECT_EQ(show(0s, 1600ms, RecordHead::hasNoTime), day + 999ms);
    clocksAt(2h, -1h);
    EXPECT_EQ(show(2h - 1h, 2h), day + 1h) << "it has caught up";
}

}  // namespace
}  // namespace sluice::log::detail
