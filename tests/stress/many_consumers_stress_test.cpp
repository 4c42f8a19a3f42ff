#include "stress/queue_stress.hpp"
#include "support/crew.hpp"
#include "support/dice.hpp"
#include "support/jitter_platform.hpp"
#include "support/queue_shapes.hpp"
#include "support/scale.hpp"
#include "support/shared_ledger.hpp"
#include "support/stamp.hpp"

#include "support/testing.hpp"
#include <thread>

// Several consumers. Each accepted message is delivered once, at whatever moment the queue is
// closed.

namespace sluice::test {
namespace {

/// Takes several messages in one claim, from a ring that has a function for it.
template <class Queue, class Enter>
bool popSeveral(Queue& /*queue*/, const Enter& /*enter*/) {
    return false;
}
template <std::size_t Capacity, class Traits, class Enter>
bool popSeveral(MpmcRing<Stamp, Capacity, Traits>& ring, const Enter& enter) {
    std::array<Stamp, 8> stamps{};
    const std::size_t count = ring.tryPopAll(stamps.begin(), stamps.size());
    std::for_each_n(stamps.begin(), count, enter);
    return count != 0;
}

/// Takes messages out in changing ways until the queue says that it is drained.
template <class Queue>
void takeUntilDrained(Queue& queue, std::size_t self, SharedLedger& ledger, Progress& progress,
                      std::uint32_t seed) {
    Dice dice(seed);
    const auto enter = [&](Stamp& stamp) {
        ledger.enter(self, stamp);
        progress.delivered.fetch_add(1, std::memory_order_relaxed);
    };
    while (!queue.isDrained()) {
        const std::uint32_t way = dice() % 8;
        if (way < 2) {
            if (auto popped = queue.tryPop()) {
                enter(*popped);
            }
        } else if (way == 2 && popSeveral(queue.native(), enter)) {
            continue;
        } else if (queue.consume(enter, way < 5 ? way : unlimited) == 0) {
            std::this_thread::yield();
        }
    }
}

template <class Queue>
void closeWhileSharing(std::size_t producers, std::size_t consumers, std::uint64_t closeAfter,
                       std::uint32_t seed, Progress& progress, RoundWatch<Queue>& watch) {
    const auto queue = std::make_unique<Queue>();
    watch.watch(queue.get());
    SharedLedger ledger(consumers, producers);
    std::vector<std::uint64_t> accepted(producers, 0);
    {
        Crew crew;
        for (std::size_t self = 0; self < producers; ++self) {
            crew.add([&, self, producer = queue->producer()]() mutable {
                accepted[self] = pushUntilClosed(producer, self, progress);
            });
        }
        for (std::size_t self = 0; self < consumers; ++self) {
            crew.add([&, self] {
                takeUntilDrained(*queue, self, ledger, progress,
                                 seed + static_cast<std::uint32_t>(self));
            });
        }
        crew.start();
        awaitThat([&] { return progress.delivered.load(std::memory_order_relaxed) >= closeAfter; });
        queue->close();
    }
    ledger.expectExactly(accepted);
    watch.watch(nullptr);
}

/// Many short rounds, closed anywhere within the first laps, and one long one.
template <class Shape, std::size_t Capacity, class Traits>
void share(std::size_t producers, std::size_t consumers, std::uint64_t messages) {
    using Queue = TestQueue<Shape, Stamp, Capacity, Traits>;
    Progress progress;
    RoundWatch<Queue> watch(progress);
    Dice dice(static_cast<std::uint32_t>(producers + 7 * consumers));
    const std::uint64_t shortRounds = messages / 512 + 1;
    for (std::uint64_t round = 0; round <= shortRounds; ++round) {
        progress.round.store(round, std::memory_order_relaxed);
        progress.delivered.store(0, std::memory_order_relaxed);
        const std::uint64_t closeAfter = round < shortRounds ? dice() % 96 : messages;
        closeWhileSharing(producers, consumers, closeAfter, dice(), progress, watch);
        ASSERT_FALSE(testing::Test::HasFailure()) << "in round " << round;
    }
}

template <class Shape>
void shareAtAllCapacities(std::size_t producers, std::size_t consumers) {
    using Plain = TestTraits<>;
    using Jitter = TestTraits<JitterPlatform>;
    share<Shape, 1, Plain>(producers, consumers, scaled(10000));
    share<Shape, 5, Plain>(producers, consumers, scaled(20000));
    share<Shape, 1024, Plain>(producers, consumers, scaled(100000));
    share<Shape, 1, Jitter>(producers, consumers, scaled(5000));
    share<Shape, 3, Jitter>(producers, consumers, scaled(10000));
    share<Shape, 64, Jitter>(producers, consumers, scaled(20000));
}

template <class Shape>
class ManyConsumersStressTest : public testing::Test {};
using Shapes = testing::Types<MpmcRingShape, MpmcLanesShape, BlockingShape<MpmcLanesShape>>;
TYPED_TEST_SUITE(ManyConsumersStressTest, Shapes, ShapeNames);

TYPED_TEST(ManyConsumersStressTest, OneProducerAndThreeConsumers) {
    shareAtAllCapacities<TypeParam>(1, 3);
}

TYPED_TEST(ManyConsumersStressTest, TwoProducersAndTwoConsumers) {
    shareAtAllCapacities<TypeParam>(2, 2);
}

TYPED_TEST(ManyConsumersStressTest, FourProducersAndThreeConsumers) {
    shareAtAllCapacities<TypeParam>(4, 3);
}

}  // namespace
}  // namespace sluice::test
