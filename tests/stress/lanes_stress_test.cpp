#include "stress/queue_stress.hpp"
#include "support/counted_memory.hpp"
#include "support/crew.hpp"
#include "support/jitter_platform.hpp"
#include "support/queue_shapes.hpp"
#include "support/scale.hpp"
#include "support/stamp.hpp"

#include <sluice/queue/mpmc_lanes.hpp>
#include <sluice/queue/mpsc_lanes.hpp>

#include "support/testing.hpp"

namespace sluice::test {
namespace {

constexpr std::size_t roomOfHandle = 4;

/// The work of thread `self`: `count` producers, one after the other, push up to 5 messages each.
template <class Queue>
void useHandles(Queue& queue, std::size_t self, std::size_t count,
                std::vector<std::uint64_t>& accepted, Progress& progress) {
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t handle = self * count + i;
        auto producer = queue.producer();
        std::uint64_t& pushed = accepted[handle];
        while (pushed < i % (roomOfHandle + 2) &&
               producer.tryPush(Stamp::of(handle, pushed)) == SendResult::ok) {
            ++pushed;
        }
        progress.accepted.at(self).store(i, std::memory_order_relaxed);
    }
}

/// Thousands of producers, one after the other in each of three threads, while the consumer
/// harvests.
template <class Platform>
void comeAndGo(std::size_t handlesEach) {
    using Queue = MpscLanes<Stamp, TestTraits<Platform>>;
    constexpr std::size_t threads = 3;
    CountedMemory memory;
    Queue queue(roomOfHandle, &memory);
    Progress progress;
    RoundWatch<Queue> watch(progress);
    watch.watch(&queue);
    // Each handle counts as a producer of its own.
    Ledger ledger(threads * handlesEach);
    std::vector<std::uint64_t> accepted(threads * handlesEach, 0);
    std::atomic<std::size_t> running{threads};
    {
        Crew crew;
        for (std::size_t self = 0; self < threads; ++self) {
            crew.add([&, self] {
                useHandles(queue, self, handlesEach, accepted, progress);
                running.fetch_sub(1, std::memory_order_release);
            });
        }
        crew.start();
        const auto enter = [&](Stamp& stamp) { ledger.enter(stamp); };
        const auto keyOf = [](const Stamp& stamp) { return stamp.sequence; };
        for (std::size_t turn = 0;; ++turn) {
            const bool last = running.load(std::memory_order_acquire) == 0;
            const std::size_t count = turn % 3 == 0   ? queue.consumeOrdered(keyOf, enter)
                                      : turn % 3 == 1 ? queue.consume(enter, 5)
                                                      : queue.consume(enter);
            progress.delivered.store(ledger.received(), std::memory_order_relaxed);
            if (last && count == 0 && queue.laneCount() == 0) {
                break;
            }
            if (count == 0) {
                std::this_thread::yield();
            }
        }
    }
    ledger.expectExactly(accepted);
    EXPECT_EQ(queue.sizeApprox(), 0U);
    EXPECT_EQ(memory.bytesInUse(), 0U) << "every lane was given back while the queue lives";
    EXPECT_GE(memory.allocations(), threads * handlesEach);
}

TEST(MpscLanesStressTest, ProducersComeAndGo) {
    comeAndGo<StdPlatform>(scaled(4000));
    comeAndGo<JitterPlatform>(scaled(600));
}

/// The same with two consumers. Each message is handled once, after the one before it: the counters
/// are plain, because a lane has one consumer at a time.
template <class Platform>
void comeAndGoBetweenTwoConsumers(std::size_t handlesEach) {
    using Queue = MpmcLanes<Stamp, TestTraits<Platform>>;
    constexpr std::size_t threads = 2;
    CountedMemory memory;
    Queue queue(roomOfHandle, &memory);
    Progress progress;
    RoundWatch<Queue> watch(progress);
    watch.watch(&queue);
    std::vector<std::uint64_t> accepted(threads * handlesEach, 0);
    std::vector<std::uint64_t> handled(threads * handlesEach, 0);
    std::atomic<std::size_t> running{threads};
    std::atomic<std::uint64_t> misplaced{0};
    const auto consume = [&](Stamp& stamp) {
        std::uint64_t& next = handled.at(static_cast<std::size_t>(stamp.producer));
        misplaced.fetch_add(next != stamp.sequence, std::memory_order_relaxed);
        ++next;
    };
    {
        Crew crew;
        for (std::size_t self = 0; self < threads; ++self) {
            crew.add([&, self] {
                useHandles(queue, self, handlesEach, accepted, progress);
                running.fetch_sub(1, std::memory_order_release);
            });
            crew.add([&, self] {
                while (running.load(std::memory_order_acquire) != 0 || queue.laneCount() != 0) {
                    if (queue.consume(consume, self == 0 ? 2 : unlimited) == 0) {
                        std::this_thread::yield();
                    }
                }
            });
        }
    }
    EXPECT_EQ(misplaced.load(), 0U);
    EXPECT_EQ(handled, accepted);
    EXPECT_EQ(memory.bytesInUse(), 0U) << "every lane was given back while the queue lives";
}

TEST(MpmcLanesStressTest, ProducersComeAndGoBetweenTwoConsumers) {
    comeAndGoBetweenTwoConsumers<StdPlatform>(scaled(4000));
    comeAndGoBetweenTwoConsumers<JitterPlatform>(scaled(600));
}

/// The queue dies at any moment while its producers push on through their handles.
template <class Platform>
void outliveTheQueue(std::size_t rounds) {
    using Queue = MpscLanes<Stamp, TestTraits<Platform>>;
    constexpr std::size_t threads = 2;
    CountedMemory memory;
    Progress progress;
    RoundWatch<Queue> watch(progress);
    for (std::size_t round = 0; round < rounds; ++round) {
        progress.round.store(round, std::memory_order_relaxed);
        std::optional<Queue> queue(std::in_place, std::size_t{4}, &memory);
        Ledger ledger(threads);
        std::vector<std::uint64_t> accepted(threads, 0);
        {
            Crew crew;
            for (std::size_t self = 0; self < threads; ++self) {
                crew.add([&, self, producer = queue->producer()]() mutable {
                    accepted[self] = pushUntilClosed(producer, self, progress);
                    EXPECT_EQ(producer.tryPush(Stamp{}), SendResult::closed);
                });
            }
            crew.start();
            while (ledger.received() < round % 8) {
                queue->consume([&](Stamp& stamp) { ledger.enter(stamp); });
            }
            queue.reset();
        }
        for (std::size_t self = 0; self < threads; ++self) {
            EXPECT_LE(ledger.receivedFrom(self), accepted[self]);
            // The queue has destroyed the messages in its lanes. A lane has room for four.
            EXPECT_LE(accepted[self], ledger.receivedFrom(self) + 4);
        }
        ASSERT_EQ(memory.bytesInUse(), 0U) << "round " << round;
    }
}

TEST(MpscLanesStressTest, ProducersOutliveTheQueue) {
    outliveTheQueue<StdPlatform>(scaled(800));
    outliveTheQueue<JitterPlatform>(scaled(1000));
}

}  // namespace
}  // namespace sluice::test
