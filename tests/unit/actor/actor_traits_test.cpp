#include <sluice/actor/actor_traits.hpp>
#include <sluice/actor/detail/failure_handling.hpp>

#include <gtest/gtest.h>

#include <chrono>

namespace sluice {
namespace {

using namespace std::chrono_literals;
using Clock = ActorTraits::Platform::Clock;

struct ThreeInTen : ActorTraits {
    static constexpr unsigned restartLimit = 3;
    static constexpr std::chrono::nanoseconds restartPeriod = 10s;
    static constexpr std::chrono::nanoseconds restartBackOff = 2s;
    static constexpr std::chrono::nanoseconds maxRestartBackOff = 5s;
};

TEST(ActorTraitsTest, BackOffDoublesUpToItsLimitAndRestartsAreLimited) {
    detail::RestartBudget<ThreeInTen> budget;
    const Clock::time_point start{100s};
    EXPECT_EQ(budget.take(start), 2s);
    EXPECT_EQ(budget.take(start + 1s), 4s);
    EXPECT_EQ(budget.take(start + 2s), 5s);
    EXPECT_EQ(budget.take(start + 10s - 1ns), std::nullopt);
    EXPECT_EQ(budget.take(start + 10s), 2s);  // a new period
}

struct NeverRestarts : ThreeInTen {
    static constexpr unsigned restartLimit = 0;
};
struct LongestBackOff : ThreeInTen {
    static constexpr std::chrono::nanoseconds restartBackOff =
        std::chrono::nanoseconds::max() - 1ns;
    static constexpr std::chrono::nanoseconds maxRestartBackOff = std::chrono::nanoseconds::max();
};

TEST(ActorTraitsTest, ExtremeLimits) {
    detail::RestartBudget<NeverRestarts> none;
    EXPECT_EQ(none.take(Clock::time_point{}), std::nullopt);
    detail::RestartBudget<LongestBackOff> longest;
    EXPECT_EQ(longest.take(Clock::time_point{}), LongestBackOff::restartBackOff);
    EXPECT_EQ(longest.take(Clock::time_point{}), std::chrono::nanoseconds::max());
}

}  // namespace
}  // namespace sluice
