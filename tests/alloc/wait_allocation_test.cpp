#include "support/allocation_count.hpp"
#include "support/crew.hpp"
#include "support/observed_wait.hpp"
#include "support/watchdog.hpp"

#include <sluice/wait/park.hpp>
#include <sluice/wait/portable_parkers.hpp>
#include <sluice/wait/spin_waits.hpp>
#include <sluice/wait/wait_set.hpp>

#include "support/testing.hpp"

namespace sluice::test {
namespace {

using namespace std::chrono_literals;

template <class Wait>
class WaitAllocationTest : public testing::Test {};

using CondVarPark = BasicPark<StdPlatform, detail::CondVarParker>;
using Strategies = testing::Types<BusySpin, SpinThenYield, Park, CondVarPark>;
TYPED_TEST_SUITE(WaitAllocationTest, Strategies);

TYPED_TEST(WaitAllocationTest, WaitingAndWakingAllocateNothing) {
    constexpr int rounds = 8;  // a Park polls in each of so many waits
    using Wait = ObservedWait<TypeParam>;
    Wait wait;
    std::atomic<int> turn{0};
    const Watchdog watchdog([&](std::FILE* out) { std::fprintf(out, "turn %d\n", turn.load()); });
    std::atomic<bool> isOver{false};
    Crew crew;
    crew.add([&] {
        for (int i = 1; i <= rounds; ++i) {
            wait.wait([&] { return turn.load(std::memory_order_acquire) >= i; });
        }
        isOver.store(true, std::memory_order_release);
    });

    const AllocationCount count;
    auto before = Wait::refusals();
    crew.start();
    for (int i = 1; i <= rounds; ++i) {
        // A Park is asleep after so many refusals, or about to be. The count starts before the
        // wait, because a sleeping Park makes no more refusals.
        awaitThat([&] { return Wait::refusals() >= before + 73; });
        before = Wait::refusals();
        turn.store(i, std::memory_order_release);
        wait.notifyAll();
    }
    awaitThat([&] { return isOver.load(std::memory_order_acquire); });
    const bool inTime =
        wait.waitUntil([] { return false; }, std::chrono::steady_clock::now() + 1ms);
    EXPECT_EQ(count.allocations(), 0U);
    EXPECT_FALSE(inTime);
}

TEST(WaitSetAllocationTest, OnlyAdditionsAllocate) {
    int messages = 0;
    WaitSet set;
    set.add([&] { return messages-- > 0; });
    set.addTimer(
        WaitSet::Clock::now(), [] {}, 1h);
    const AllocationCount count;
    messages = 2;
    set.notify();
    while (set.waitFor(1ms)) {
    }
    EXPECT_EQ(count.allocations(), 0U);
}

TEST(PacingAllocationTest, PacingAllocatesNothing) {
    const AllocationCount count;
    const BatchPacing pacing;
    pacing.polled(0);
    pacing.polled(1);
    pacing.polled(100000);
    pacing.full();
    EXPECT_EQ(count.allocations(), 0U);
}

}  // namespace
}  // namespace sluice::test
