#pragma once

#include "conformance/concurrent_suite.hpp"
#include "support/crew.hpp"
#include "support/queue_shapes.hpp"
#include "support/scale.hpp"
#include "support/shared_ledger.hpp"
#include "support/stamp.hpp"
#include "support/watchdog.hpp"

#include "support/testing.hpp"
#include <numeric>

namespace sluice::test {

/// Several consuming threads, for the queues that allow them.
template <class Shape>
class QueueConsumers : public testing::Test {};
TYPED_TEST_SUITE_P(QueueConsumers);

/// Takes messages out until the queue says that it is drained, in turns one and several. Calls
/// enter(stamp, whether a handler of the queue called it).
template <class Queue, class Enter>
void takeUntilDrained(Queue& queue, std::atomic<std::uint64_t>& consumed, Enter enter) {
    const auto handle = [&](Stamp& stamp) {
        enter(stamp, true);
        consumed.fetch_add(1, std::memory_order_relaxed);
    };
    while (!queue.isDrained()) {
        if (const auto popped = queue.tryPop()) {
            enter(*popped, false);
            consumed.fetch_add(1, std::memory_order_relaxed);
        }
        consumePatiently(queue, handle, 3);
    }
}

template <class Shape, std::size_t Capacity, class Traits>
void shareWork(std::size_t producers, std::size_t consumers, std::uint64_t each) {
    TestQueue<Shape, Stamp, Capacity, Traits> queue;
    std::atomic<std::uint64_t> consumed{0};
    const Watchdog watchdog(stateOf(queue, consumed));
    SharedLedger ledger(consumers, producers);
    // Plain: with a lane for each producer, its handlers run one after the other.
    std::vector<std::uint64_t> next(producers, 0);
    std::atomic<std::uint64_t> misplaced{0};
    std::atomic<std::size_t> producing{producers};
    {
        Crew crew;
        for (std::size_t self = 0; self < producers; ++self) {
            crew.add([&, self, producer = queue.producer()]() mutable {
                for (std::uint64_t i = 0; i < each; ++i) {
                    ASSERT_TRUE(pushPatiently(producer, Stamp::of(self, i)));
                }
                if (producing.fetch_sub(1, std::memory_order_acq_rel) == 1) {
                    queue.close();
                }
            });
        }
        for (std::size_t self = 0; self < consumers; ++self) {
            crew.add([&, self] {
                takeUntilDrained(queue, consumed, [&](const Stamp& stamp, bool inHandler) {
                    ledger.enter(self, stamp);
                    if (Shape::hasHandles && inHandler) {
                        std::uint64_t& least = next.at(static_cast<std::size_t>(stamp.producer));
                        misplaced.fetch_add(stamp.sequence < least, std::memory_order_relaxed);
                        least = stamp.sequence + 1;
                    }
                });
            });
        }
    }
    ledger.expectExactly(std::vector<std::uint64_t>(producers, each));
    EXPECT_EQ(misplaced.load(), 0U);
    EXPECT_EQ(queue.sizeApprox(), 0U);
}

TYPED_TEST_P(QueueConsumers, CrossTheWrapOfThePositions) {
    shareWork<TypeParam, 1, WrappingTraits>(2, 2, 600);
    shareWork<TypeParam, 5, WrappingTraits>(2, 2, 1000);
}

// The contract: drained means that every handler has returned, whichever consumer runs it.
TYPED_TEST_P(QueueConsumers, SeeTheEndWhenAllHandlersHaveReturned) {
    const std::size_t rounds = scaled(400);
    for (std::size_t round = 0; round < rounds; ++round) {
        constexpr std::size_t consumers = 2;
        constexpr std::size_t messages = 4;
        TestQueue<TypeParam, std::size_t, messages> queue;
        std::atomic<std::uint64_t> consumed{0};
        const Watchdog watchdog(stateOf(queue, consumed));
        auto producer = queue.producer();
        for (std::size_t i = 0; i < messages; ++i) {
            ASSERT_EQ(producer.tryPush(i), SendResult::ok);
        }
        std::vector<int> handled(messages, 0);  // plain: ordered by the queue or not at all
        std::vector<int> seen(consumers, 0);
        {
            Crew crew;
            for (std::size_t self = 0; self < consumers; ++self) {
                crew.add([&, self] {
                    while (!queue.isDrained()) {
                        consumePatiently(
                            queue, [&](std::size_t& i) { handled[i] = 1; }, 1);
                    }
                    seen[self] = std::accumulate(handled.begin(), handled.end(), 0);
                });
            }
            crew.start();
            queue.close();
        }
        ASSERT_EQ(seen, std::vector<int>(consumers, static_cast<int>(messages)));
    }
}

REGISTER_TYPED_TEST_SUITE_P(QueueConsumers, CrossTheWrapOfThePositions,
                            SeeTheEndWhenAllHandlersHaveReturned);

}  // namespace sluice::test
