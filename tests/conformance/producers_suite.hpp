#pragma once

#include "conformance/concurrent_suite.hpp"
#include "support/crew.hpp"
#include "support/queue_shapes.hpp"
#include "support/scale.hpp"
#include "support/stamp.hpp"
#include "support/watchdog.hpp"

#include "support/testing.hpp"

namespace sluice::test {

/// Several producing threads, for the queues that allow them.
template <class Shape>
class QueueProducers : public testing::Test {};
TYPED_TEST_SUITE_P(QueueProducers);

template <class Shape, std::size_t Capacity, class Traits>
void streamFrom(std::size_t producers, std::uint64_t each) {
    TestQueue<Shape, Stamp, Capacity, Traits> queue;
    std::atomic<std::uint64_t> consumed{0};
    const Watchdog watchdog(stateOf(queue, consumed));
    Ledger ledger(producers);
    Crew crew;
    for (std::size_t self = 0; self < producers; ++self) {
        crew.add([&, self, producer = queue.producer()]() mutable {
            for (std::uint64_t i = 0; i < each; ++i) {
                ASSERT_TRUE(pushPatiently(producer, Stamp::of(self, i)));
            }
        });
    }
    crew.start();
    while (ledger.received() < producers * each) {
        consumePatiently(queue, [&](Stamp& stamp) { ledger.enter(stamp); });
        consumed.store(ledger.received(), std::memory_order_relaxed);
    }
    crew.join();
    EXPECT_FALSE(queue.tryPop().has_value());
    ledger.expectExactly(std::vector<std::uint64_t>(producers, each));
}

TYPED_TEST_P(QueueProducers, CrossTheWrapOfThePositions) {
    streamFrom<TypeParam, 1, WrappingTraits>(3, 600);
    streamFrom<TypeParam, 5, WrappingTraits>(3, 1000);
}

TYPED_TEST_P(QueueProducers, AreNeverToldFullWhileThereIsRoom) {
    // Each producer has at most one message out, so there always is room for it.
    constexpr std::size_t producers = 4;
    const std::uint64_t rounds = scaled(10000);
    TestQueue<TypeParam, std::size_t, producers> queue;
    std::atomic<std::uint64_t> consumed{0};
    const Watchdog watchdog(stateOf(queue, consumed));
    std::array<std::atomic<std::uint64_t>, producers> acknowledged{};
    std::atomic<std::uint64_t> refusals{0};
    Crew crew;
    for (std::size_t self = 0; self < producers; ++self) {
        crew.add([&, self, producer = queue.producer()]() mutable {
            for (std::uint64_t i = 0; i < rounds; ++i) {
                while (producer.tryPush(self) != SendResult::ok) {
                    refusals.fetch_add(1, std::memory_order_relaxed);
                }
                awaitThat([&] { return acknowledged[self].load(std::memory_order_acquire) > i; });
            }
        });
    }
    crew.start();
    for (std::uint64_t count = 0; count < producers * rounds;) {
        if (const auto self = queue.tryPop()) {
            acknowledged.at(*self).fetch_add(1, std::memory_order_release);
            consumed.store(++count, std::memory_order_relaxed);
        } else {
            std::this_thread::yield();
        }
    }
    crew.join();
    EXPECT_EQ(refusals.load(), 0U);
}

TYPED_TEST_P(QueueProducers, AgreeOnAnOrderWhenOnePushFollowsAnother) {
    // Of two pushes, one begun after the other returned, the earlier one comes first. With a lane
    // for each producer that holds per producer only.
    if constexpr (!TypeParam::hasHandles) {
        constexpr std::size_t producers = 3;
        const std::uint64_t messages = scaled(6000) + producers;
        TestQueue<TypeParam, std::uint64_t, 4> queue;
        std::atomic<std::uint64_t> consumed{0};
        const Watchdog watchdog(stateOf(queue, consumed));
        std::atomic<std::uint64_t> next{0};
        Crew crew;
        for (std::size_t self = 0; self < producers; ++self) {
            crew.add([&, self, producer = queue.producer()]() mutable {
                for (std::uint64_t mine = self; mine < messages; mine += producers) {
                    awaitThat([&] { return next.load(std::memory_order_acquire) == mine; });
                    ASSERT_TRUE(pushPatiently(producer, mine));
                    next.store(mine + 1, std::memory_order_release);
                }
            });
        }
        crew.start();
        std::uint64_t misplaced = 0;
        std::uint64_t count = 0;
        while (count < messages) {
            consumePatiently(queue,
                             [&](std::uint64_t& value) { misplaced += value == count++ ? 0 : 1; });
            consumed.store(count, std::memory_order_relaxed);
        }
        EXPECT_EQ(misplaced, 0U);
    }
}

REGISTER_TYPED_TEST_SUITE_P(QueueProducers, CrossTheWrapOfThePositions,
                            AreNeverToldFullWhileThereIsRoom,
                            AgreeOnAnOrderWhenOnePushFollowsAnother);

}  // namespace sluice::test
