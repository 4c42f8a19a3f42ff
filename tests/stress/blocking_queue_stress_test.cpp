#include "stress/queue_stress.hpp"
#include "support/crew.hpp"
#include "support/dice.hpp"
#include "support/jitter_platform.hpp"
#include "support/queue_shapes.hpp"
#include "support/scale.hpp"
#include "support/shared_ledger.hpp"
#include "support/stamp.hpp"

#include "support/testing.hpp"

// A lost wake-up, or a push that ends in the wrong moment of a close, makes these tests hang; the
// watchdog then tells where.

namespace sluice::test {
namespace {

using namespace std::chrono_literals;

/// Pushes in all ways that wait until the queue is closed; returns how many were accepted.
template <class Producer>
std::uint64_t pushInAllWays(Producer& producer, std::size_t self, Progress& progress) {
    Dice dice(static_cast<std::uint32_t>(self + 3));
    for (std::uint64_t next = 0;;) {
        const Stamp stamp = Stamp::of(self, next);
        const std::uint32_t way = dice() % 8;
        const SendResult result = way == 0   ? producer.tryPush(stamp)
                                  : way == 1 ? producer.pushFor(stamp, 20us)
                                             : producer.push(stamp);
        if (result == SendResult::closed) {
            return next;
        }
        next += result == SendResult::ok ? 1 : 0;
        progress.accepted.at(self).store(next, std::memory_order_relaxed);
    }
}

template <class Queue>
constexpr bool hasBatches = false;
template <class Inner, class Wait, class Pacing>
constexpr bool hasBatches<BlockingQueue<Inner, Wait, Pacing>> =
    !detail::hasProducers<Inner> && !detail::hasManyConsumers<Inner>;

/// Pops in all ways that wait until the queue is drained.
template <class Queue>
void popInAllWays(Queue& queue, Ledger& ledger, Progress& progress, std::uint32_t seed) {
    Dice dice(seed);
    const auto enter = [&](Stamp& stamp) { ledger.enter(stamp); };
    while (!queue.isDrained()) {
        switch (dice() % 5) {
        case 4:
            if constexpr (hasBatches<std::decay_t<decltype(queue.native())>>) {
                const std::size_t minimum = 1 + dice() % std::min<std::size_t>(queue.capacity(), 8);
                const auto limit = dice() % 2 == 0 ? std::chrono::microseconds(20) : 1h;
                queue.native().consumeBatch(minimum, limit, enter);
            }
            break;
        case 0:
            if (const auto popped = queue.native().pop()) {
                ledger.enter(*popped);
            }
            break;
        case 1:
            if (const auto popped = queue.native().popFor(20us)) {
                ledger.enter(*popped);
            }
            break;
        case 2:
            queue.native().consumeFor(20us, enter, 3);
            break;
        default:
            queue.native().consume(enter);
        }
        progress.delivered.store(ledger.received(), std::memory_order_relaxed);
    }
}

template <class Shape, std::size_t Capacity, class Traits>
void waitAndClose(std::size_t producers, std::size_t rounds) {
    using Queue = TestQueue<Shape, Stamp, Capacity, Traits>;
    Progress progress;
    RoundWatch<Queue> watch(progress);
    Dice dice(5);
    for (std::size_t round = 0; round < rounds; ++round) {
        progress.round.store(round, std::memory_order_relaxed);
        progress.delivered.store(0, std::memory_order_relaxed);
        const auto queue = std::make_unique<Queue>();
        watch.watch(queue.get());
        Ledger ledger(producers);
        std::vector<std::uint64_t> accepted(producers, 0);
        const std::uint64_t closeAfter = dice() % 200;
        {
            Crew crew;
            for (std::size_t self = 0; self < producers; ++self) {
                crew.add([&, self, producer = queue->producer()]() mutable {
                    accepted[self] = pushInAllWays(producer, self, progress);
                });
            }
            crew.add([&] {
                awaitThat([&] {
                    return progress.delivered.load(std::memory_order_relaxed) >= closeAfter;
                });
                queue->close();
                queue->native().drain();
                EXPECT_EQ(queue->sizeApprox(), 0U);
            });
            crew.start();
            popInAllWays(*queue, ledger, progress, dice());
            EXPECT_TRUE(queue->isDrained());
        }
        ledger.expectExactly(accepted);
        watch.watch(nullptr);
        ASSERT_FALSE(testing::Test::HasFailure()) << "in round " << round;
    }
}

/// Consumers that leave after their share. What they leave behind has to reach the others, although
/// its wake-up may have come while a lane was held.
template <class Inner>
void leaveAfterAShare(std::size_t producers, std::size_t consumers, std::size_t rounds) {
    using Queue = TestQueue<BlockingShape<Inner>, Stamp, 4, TestTraits<JitterPlatform>>;
    constexpr std::uint64_t share = 5;
    const std::uint64_t each = share * consumers / producers;
    Progress progress;
    RoundWatch<Queue> watch(progress);
    for (std::size_t round = 0; round < rounds; ++round) {
        progress.round.store(round, std::memory_order_relaxed);
        const auto queue = std::make_unique<Queue>();
        watch.watch(queue.get());
        SharedLedger ledger(consumers, producers);
        {
            Crew crew;
            for (std::size_t self = 0; self < producers; ++self) {
                crew.add([&, self, producer = queue->producer()]() mutable {
                    for (std::uint64_t i = 0; i < each; ++i) {
                        ASSERT_EQ(producer.push(Stamp::of(self, i)), SendResult::ok);
                    }
                });
            }
            for (std::size_t self = 0; self < consumers; ++self) {
                crew.add([&, self] {
                    const auto enter = [&](Stamp& stamp) { ledger.enter(self, stamp); };
                    for (std::size_t taken = 0; taken < share;) {
                        taken +=
                            queue->native().consume(enter, std::min<std::size_t>(2, share - taken));
                    }
                });
            }
        }
        ledger.expectExactly(std::vector<std::uint64_t>(producers, each));
        watch.watch(nullptr);
    }
}

TEST(BlockingQueueStressTest, ConsumersThatLeaveWakeTheOthers) {
    leaveAfterAShare<MpmcLanesShape>(1, 3, scaled(400));
    leaveAfterAShare<MpmcLanesShape>(3, 3, scaled(400));
    leaveAfterAShare<MpmcRingShape>(3, 3, scaled(200));
}

template <class Inner>
class BlockingQueueCloseStressTest : public testing::Test {};
using Inners = testing::Types<SpscRingShape, MpscRingShape, MpmcRingShape, MpscLanesShape,
                              MpmcLanesShape, SegmentQueueShape>;
TYPED_TEST_SUITE(BlockingQueueCloseStressTest, Inners, ShapeNames);

TYPED_TEST(BlockingQueueCloseStressTest, WaitsAndCloses) {
    using Shape = BlockingShape<TypeParam>;
    const std::size_t producers = Shape::manyProducers ? 3 : 1;
    waitAndClose<Shape, 1, TestTraits<>>(producers, scaled(160));
    waitAndClose<Shape, 1, TestTraits<JitterPlatform>>(producers, scaled(60));
    waitAndClose<Shape, 16, TestTraits<JitterPlatform>>(producers, scaled(60));
}

}  // namespace
}  // namespace sluice::test
