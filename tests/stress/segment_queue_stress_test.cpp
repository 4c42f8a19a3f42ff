#include "stress/queue_stress.hpp"
#include "support/counted_memory.hpp"
#include "support/crew.hpp"
#include "support/jitter_platform.hpp"
#include "support/queue_shapes.hpp"
#include "support/scale.hpp"
#include "support/stamp.hpp"

#include <sluice/queue/segment_queue.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <utility>
#include <vector>

namespace sluice::test {
namespace {

TEST(SegmentQueueStressTest, DeliversWhatOneProducerPushes) {
    stressAtAllCapacities<SegmentQueueShape>(1);
}

TEST(SegmentQueueStressTest, DeliversWhatTwoProducersPush) {
    stressAtAllCapacities<SegmentQueueShape>(2);
}

TEST(SegmentQueueStressTest, DeliversWhatFourProducersPush) {
    stressAtAllCapacities<SegmentQueueShape>(4);
}

/// As shipped: large segments, no limit.
struct UnlimitedShape : SegmentQueueShape {
    template <class Q>
    static Q make(std::size_t) {
        return Q();
    }
};

TEST(SegmentQueueStressTest, DeliversWhatFourProducersPushWithoutALimit) {
    stress<UnlimitedShape, 0, SegmentQueueTraits>(4, scaled(60000));
}

/// Batches are taken from the queue by one thread and emptied by another, while producers push and
/// the unused segments are given back.
template <class Platform>
void handOver(std::size_t producers, std::uint64_t each) {
    using Queue = SegmentQueue<Stamp, TestTraits<Platform>>;
    CountedMemory memory;
    Progress progress;
    RoundWatch<Queue> watch(progress);
    {
        Queue queue(unlimited, &memory);
        watch.watch(&queue);
        Ledger ledger(producers);
        // A mailbox with room for one batch between the thread that takes and the one that empties.
        typename Queue::Batch mailbox;
        std::atomic<bool> isFull{false};
        std::atomic<bool> isOver{false};
        Crew crew;
        for (std::size_t self = 0; self < producers; ++self) {
            crew.add([&, self] {
                for (std::uint64_t i = 0; i < each; ++i) {
                    EXPECT_EQ(queue.tryPush(Stamp::of(self, i)), SendResult::ok);
                    progress.accepted.at(self).store(i + 1, std::memory_order_relaxed);
                    if (i % 64 == self) {
                        std::this_thread::yield();
                    }
                }
            });
        }
        crew.add([&] {
            while (!isOver.load(std::memory_order_acquire)) {
                if (!isFull.load(std::memory_order_acquire)) {
                    std::this_thread::yield();
                    continue;
                }
                typename Queue::Batch batch = std::move(mailbox);
                isFull.store(false, std::memory_order_release);
                while (batch.consume([&](Stamp& stamp) { ledger.enter(stamp); }, 3) != 0) {
                }
                progress.delivered.store(ledger.received(), std::memory_order_release);
                queue.trim();
            }
        });
        crew.start();
        const auto delivered = [&] { return progress.delivered.load(std::memory_order_acquire); };
        while (delivered() < producers * each) {
            typename Queue::Batch batch = queue.takeAll();
            awaitThat([&] { return !isFull.load(std::memory_order_acquire); });
            if (batch.size() != 0) {
                mailbox = std::move(batch);
                isFull.store(true, std::memory_order_release);
            }
        }
        isOver.store(true, std::memory_order_release);
        crew.join();
        ledger.expectExactly(std::vector<std::uint64_t>(producers, each));
        watch.watch(nullptr);
    }
    EXPECT_EQ(memory.bytesInUse(), 0U);
}

TEST(SegmentQueueStressTest, BatchesAreHandedOver) {
    handOver<StdPlatform>(2, scaled(60000));
}

TEST(SegmentQueueStressTest, BatchesAreHandedOverWithJitter) {
    handOver<JitterPlatform>(3, scaled(10000));
}

/// The consumer takes single messages and whole batches in turns, and several batches are alive at
/// once.
TEST(SegmentQueueStressTest, BatchesAndSingleMessagesKeepTheOrder) {
    using Queue = SegmentQueue<Stamp, TestTraits<JitterPlatform>>;
    constexpr std::size_t producers = 2;
    const std::uint64_t each = scaled(16000);
    CountedMemory memory;
    {
        Queue queue(5, &memory);
        Progress progress;
        RoundWatch<Queue> watch(progress);
        watch.watch(&queue);
        Ledger ledger(producers);
        const auto enter = [&](Stamp& stamp) { ledger.enter(stamp); };
        Crew crew;
        for (std::size_t self = 0; self < producers; ++self) {
            crew.add([&, self] {
                for (std::uint64_t i = 0; i < each;) {
                    if (queue.tryPush(Stamp::of(self, i)) == SendResult::ok) {
                        progress.accepted.at(self).store(++i, std::memory_order_relaxed);
                    } else {
                        std::this_thread::yield();
                    }
                }
            });
        }
        crew.start();
        for (std::size_t turn = 0; ledger.received() < producers * each; ++turn) {
            typename Queue::Batch first = queue.takeAll();
            typename Queue::Batch second = queue.takeAll();
            first.consume(enter, turn % 5);
            first.consume(enter);
            second.consume(enter);
            queue.consume(enter, turn % 7);
            progress.delivered.store(ledger.received(), std::memory_order_relaxed);
            std::this_thread::yield();
        }
        crew.join();
        ledger.expectExactly(std::vector<std::uint64_t>(producers, each));
    }
    EXPECT_EQ(memory.bytesInUse(), 0U);
}

}  // namespace
}  // namespace sluice::test
