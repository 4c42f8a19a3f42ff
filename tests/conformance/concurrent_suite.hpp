#pragma once

#include "support/crew.hpp"
#include "support/queue_shapes.hpp"
#include "support/scale.hpp"
#include "support/stamp.hpp"
#include "support/watchdog.hpp"

#include "support/testing.hpp"
#include <cinttypes>
#include <thread>

namespace sluice::test {

/// One producing and one consuming thread, and others that look on or take over.
template <class Shape>
class QueueThreads : public testing::Test {};
TYPED_TEST_SUITE_P(QueueThreads);

/// 32-bit positions shortly before their wrap. With several threads not the 8-bit ones: a thread
/// that sleeps through a whole lap of the positions (128 messages of 8 bits) and wakes up at the
/// very same number takes it for the one it saw. That is in the nature of the comparison, and
/// impossible in practice with 2^31 positions or more.
using WrappingTraits = TestTraits<StdPlatform, std::uint32_t, 0xFFFFFFFFU - 999>;

/// The state of a queue. A watchdog prints it if the test hangs.
template <class Queue>
auto stateOf(const Queue& queue, const std::atomic<std::uint64_t>& consumed) {
    return [&queue, &consumed](std::FILE* out) {
        std::fprintf(out, "size %zu of %zu, closed %d, drained %d, consumed %" PRIu64 "\n",
                     queue.sizeApprox(), queue.capacity(), queue.isClosed(), queue.isDrained(),
                     consumed.load(std::memory_order_relaxed));
    };
}

/// Consumes the messages that are there. If there are none, lets another thread go first.
template <class Queue, class Handler>
std::size_t consumePatiently(Queue& queue, Handler&& handler, std::size_t max = unlimited) {
    const std::size_t count = queue.consume(handler, max);
    if (count == 0) {
        std::this_thread::yield();
    }
    return count;
}

/// Pushes until it is accepted; false when the queue is closed.
template <class Producer, class Message>
bool pushPatiently(Producer& producer, const Message& message) {
    SendResult result = producer.tryPush(message);
    while (result == SendResult::full) {
        std::this_thread::yield();
        result = producer.tryPush(message);
    }
    return result == SendResult::ok;
}

template <class Shape, std::size_t Capacity, class Traits>
void streamThrough(std::uint64_t messages) {
    TestQueue<Shape, Stamp, Capacity, Traits> queue;
    std::atomic<std::uint64_t> consumed{0};
    const Watchdog watchdog(stateOf(queue, consumed));
    Ledger ledger(1);
    Crew crew;
    crew.add([&, producer = queue.producer()]() mutable {
        for (std::uint64_t i = 0; i < messages; ++i) {
            ASSERT_TRUE(pushPatiently(producer, Stamp::of(0, i)));
        }
        queue.close();
    });
    crew.start();
    while (!queue.isDrained()) {
        // Both ways of taking messages out, in turns.
        if (const auto popped = queue.tryPop()) {
            ledger.enter(*popped);
        }
        consumePatiently(
            queue, [&](Stamp& stamp) { ledger.enter(stamp); }, 7);
        consumed.store(ledger.received(), std::memory_order_relaxed);
    }
    ledger.expectExactly({messages});
}

TYPED_TEST_P(QueueThreads, CrossTheWrapOfThePositions) {
    streamThrough<TypeParam, 1, WrappingTraits>(2000);
    streamThrough<TypeParam, 5, WrappingTraits>(2000);
}

TYPED_TEST_P(QueueThreads, SeeWhatTheConsumerWroteBeforeItGaveRoom) {
    if constexpr (TypeParam::orderedReuse) {
        const std::size_t rounds = scaled(10000);
        TestQueue<TypeParam, std::size_t, 1> queue;
        std::atomic<std::uint64_t> consumed{0};
        const Watchdog watchdog(stateOf(queue, consumed));
        std::vector<std::size_t> answers(rounds, 0);  // plain, as above
        std::size_t wrong = 0;
        Crew crew;
        crew.add([&, producer = queue.producer()]() mutable {
            for (std::size_t i = 0; i < rounds; ++i) {
                ASSERT_TRUE(pushPatiently(producer, i));
                // With room for one, this push shows that the message before it is gone.
                wrong += i == 0 || answers[i - 1] == i ? 0 : 1;
            }
        });
        crew.start();
        for (std::size_t count = 0; count < rounds;) {
            count += consumePatiently(queue, [&](std::size_t& i) { answers[i] = i + 1; });
            consumed.store(count, std::memory_order_relaxed);
        }
        crew.join();
        EXPECT_EQ(wrong, 0U);
    }
}

TYPED_TEST_P(QueueThreads, HandTheirRolesOver) {
    constexpr std::size_t threads = 3;
    const std::size_t turns = scaled(2000) + threads;
    TestQueue<TypeParam, std::uint64_t, 5> queue;
    auto producer = queue.producer();
    std::atomic<std::uint64_t> turn{0};
    const Watchdog watchdog(stateOf(queue, turn));
    std::uint64_t pushed = 0;  // plain, like the roles: only the thread with the turn uses these
    std::uint64_t popped = 0;
    {
        Crew crew;
        for (std::size_t self = 0; self < threads; ++self) {
            crew.add([&, self] {
                for (std::size_t mine = self; mine < turns; mine += threads) {
                    awaitThat([&] { return turn.load(std::memory_order_acquire) == mine; });
                    for (std::size_t i = 0; i <= mine % 5; ++i) {
                        pushed += producer.tryPush(pushed) == SendResult::ok ? 1 : 0;
                    }
                    for (std::size_t i = 0; i <= mine % 4; ++i) {
                        const std::optional<std::uint64_t> value = queue.tryPop();
                        ASSERT_EQ(value.has_value(), popped != pushed);
                        ASSERT_EQ(value.value_or(popped), popped);
                        popped += value.has_value() ? 1 : 0;
                    }
                    turn.store(mine + 1, std::memory_order_release);
                }
            });
        }
    }
    EXPECT_EQ(pushed - popped, queue.sizeApprox());
    EXPECT_GT(popped, turns);
}

REGISTER_TYPED_TEST_SUITE_P(QueueThreads, CrossTheWrapOfThePositions,
                            SeeWhatTheConsumerWroteBeforeItGaveRoom, HandTheirRolesOver);

}  // namespace sluice::test
