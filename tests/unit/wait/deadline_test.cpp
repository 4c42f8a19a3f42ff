#include <sluice/wait/event_count.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <limits>

namespace sluice {
namespace {

using namespace std::chrono_literals;

struct StoppedClock {
    using duration = std::chrono::nanoseconds;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<StoppedClock>;
    [[maybe_unused]] static constexpr bool is_steady = true;
    static time_point now() noexcept { return time_point(1000ns); }
};

constexpr auto now = StoppedClock::time_point(1000ns);
constexpr auto never = StoppedClock::time_point::max();

TEST(DeadlineTest, LiesAheadByTheDuration) {
    EXPECT_EQ(deadlineAfter<StoppedClock>(5us), now + 5us);
    EXPECT_EQ(deadlineAfter<StoppedClock>(std::chrono::duration<double, std::nano>(0.25)),
              now + 1ns)
        << "rounded up, so that nobody waits too short";
}

TEST(DeadlineTest, NothingAndLessIsNow) {
    EXPECT_EQ(deadlineAfter<StoppedClock>(0s), now);
    EXPECT_EQ(deadlineAfter<StoppedClock>(-1h), now);
    EXPECT_EQ(deadlineAfter<StoppedClock>(std::chrono::hours::min()), now);
}

TEST(DeadlineTest, LongestDurationsDoNotOverflow) {
    EXPECT_EQ(deadlineAfter<StoppedClock>(std::chrono::hours::max()), never);
    EXPECT_EQ(deadlineAfter<StoppedClock>(std::chrono::nanoseconds::max()), never);
    EXPECT_EQ(deadlineAfter<StoppedClock>(
                  std::chrono::duration<double>(std::numeric_limits<double>::infinity())),
              never);
}

TEST(DeadlineTest, AFloatThatIsRoundedBeyondTheEndDoesNotOverflow) {
    EXPECT_EQ(deadlineAfter(StoppedClock::time_point(), std::chrono::duration<float>(9223371776.F)),
              never);
    const std::chrono::duration<float> rest(never - now);
    EXPECT_EQ(deadlineAfter<StoppedClock>(rest), never);
}

TEST(DeadlineTest, BeginsBeforeTheEpochToo) {
    constexpr auto early = StoppedClock::time_point(-1s);
    EXPECT_EQ(deadlineAfter(early, 5s), StoppedClock::time_point(4s));
    EXPECT_EQ(deadlineAfter(StoppedClock::time_point::min(), 5s),
              StoppedClock::time_point::min() + 5s);
    EXPECT_EQ(deadlineAfter(early, std::chrono::hours::max()), never);
}

}  // namespace
}  // namespace sluice
