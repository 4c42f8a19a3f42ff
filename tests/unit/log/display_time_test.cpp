#include <sluice/log/detail/display_time.hpp>

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
    static Key keyAt(std::chrono::nanoseconds passed) {
        return static_cast<Key>((1h + passed).count());
    }
    Time show(std::chrono::nanoseconds time, std::chrono::nanoseconds stamped,
              std::uint8_t flags = RecordHead::none, bool hasWaited = false) {
        RecordHead head{};
        head.time = day + time;
        head.flags = flags;
        return times.show(head, keyAt(stamped), hasWaited);
    }

    DisplayTime times;
};

TEST_F(LogDisplayTime, ShowsSpdlogsTimeWhenItIsInOrder) {
    clocksAt(1s);
    EXPECT_EQ(show(100ms, 100ms), day + 100ms);
    EXPECT_EQ(show(200ms, 200ms), day + 200ms);
}

TEST_F(LogDisplayTime, DoesNotStepBack) {
    clocksAt(1s);
    EXPECT_EQ(show(105ms, 105ms), day + 105ms);
    EXPECT_EQ(show(100ms, 106ms), day + 105ms) << "was interrupted between clock and stamp";
    EXPECT_EQ(show(107ms, 107ms), day + 107ms);
    EXPECT_EQ(show(110ms, 900ms), day + 110ms) << "for long, and nobody logged meanwhile";
    EXPECT_EQ(show(105ms, 901ms), day + 110ms) << "for long";
}

TEST_F(LogDisplayTime, ShowsThatARecordWaitedForRoom) {
    clocksAt(1s);
    EXPECT_EQ(show(900ms, 900ms), day + 900ms);
    EXPECT_EQ(show(100ms, 950ms, RecordHead::none, true), day + 900ms);
}

TEST_F(LogDisplayTime, KeepsATimeThatIsTheCallers) {
    clocksAt(2s);
    EXPECT_EQ(show(1900ms, 1900ms), day + 1900ms);
    EXPECT_EQ(show(500ms, 1901ms, RecordHead::keepsTime), day + 500ms);
    EXPECT_EQ(show(500ms, 1902ms), day + 500ms) << "so old is no time that was read in the call";
    EXPECT_EQ(show(5s, 1903ms), day + 5s) << "nor one that is still to come";
    EXPECT_EQ(show(1904ms, 1904ms), day + 1904ms) << "none of them changes what follows";
}

TEST_F(LogDisplayTime, TellsTheTimeOfARecordWithoutOneByItsStamp) {
    clocksAt(10s);
    EXPECT_EQ(show(0s, 9s, RecordHead::hasNoTime), day + 9s);
    EXPECT_EQ(show(0s, 9500ms, RecordHead::hasNoTime), day + 9500ms);
    EXPECT_EQ(show(0s, 10001ms, RecordHead::hasNoTime), day + 10001ms);
}

TEST_F(LogDisplayTime, FollowsAClockThatIsSetBack) {
    clocksAt(1s);
    EXPECT_EQ(show(999ms, 999ms), day + 999ms);
    clocksAt(2s, -1h);
    EXPECT_EQ(show(1500ms - 1h, 1500ms), day + 1500ms - 1h);
    EXPECT_EQ(show(0s, 1600ms, RecordHead::hasNoTime), day + 1600ms - 1h);
}

}  // namespace
}  // namespace sluice::log::detail
