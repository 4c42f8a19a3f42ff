#include <sluice/bridge/nats/detail/wall_time.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>

namespace sluice::nats {
namespace {

using namespace std::chrono_literals;

/// A clock that a test sets. It counts its readings.
struct SetClock {
    using duration = std::chrono::nanoseconds;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<SetClock>;

    static time_point now() noexcept {
        ++readings;
        return shown;
    }
    static inline time_point shown{5s};
    static inline int readings = 0;
};

TEST(WallTimeTest, KeepsTheDistancesOfTheStamps) {
    detail::WallTime<SetClock> wallTime;
    const std::int64_t before = detail::wallClock();
    const std::int64_t first = wallTime.of(SetClock::shown);
    EXPECT_GE(first, before);
    EXPECT_LE(first, detail::wallClock());
    EXPECT_EQ(wallTime.of(SetClock::shown - 3s), first - 3'000'000'000);
    EXPECT_EQ(wallTime.of(SetClock::shown + 999'999ns), first + 999'999);
}

TEST(WallTimeTest, ReadsTheClocksOnceAMillisecond) {
    detail::WallTime<SetClock> wallTime;
    SetClock::readings = 0;
    (void)wallTime.of(SetClock::shown);
    (void)wallTime.of(SetClock::shown + 999'999ns);
    EXPECT_EQ(SetClock::readings, 1);
    SetClock::shown += 1ms;
    (void)wallTime.of(SetClock::shown);
    EXPECT_EQ(SetClock::readings, 2);
}

}  // namespace
}  // namespace sluice::nats
