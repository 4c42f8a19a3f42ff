#include "stress/queue_stress.hpp"
#include "support/crew.hpp"
#include "support/dice.hpp"
#include "support/queue_shapes.hpp"
#include "support/scale.hpp"

#include <sluice/base/platform.hpp>

#include "support/testing.hpp"

namespace sluice::test {
namespace {

template <class Shape>
class QueueStressTest : public testing::Test {};
using Shapes =
    testing::Types<SpscRingShape, DynamicSpscRingShape, MpscRingShape, DynamicMpscRingShape,
                   MpmcRingShape, DynamicMpmcRingShape, MpscLanesShape, SegmentQueueShape>;
TYPED_TEST_SUITE(QueueStressTest, Shapes, ShapeNames);

TYPED_TEST(QueueStressTest, DeliversWhatItAccepts) {
    stressAtAllCapacities<TypeParam>(TypeParam::manyProducers ? 4 : 1);
}

/// As shipped: large segments, no limit.
struct UnlimitedShape : SegmentQueueShape {
    template <class Q>
    static Q make(std::size_t) {
        return Q();
    }
};

TEST(SegmentQueueStressTest, DeliversWhatItAcceptsWithoutALimit) {
    stress<UnlimitedShape, 0, SegmentQueueTraits>(4, scaled(60000));
}

/// A message whose constructor takes long, so that close() often overtakes its push.
struct Slow {
    explicit Slow(std::uint64_t number) noexcept : value(number) {
        for (int i = 0; i < 20; ++i) {
            StdPlatform::pause();
        }
    }
    std::uint64_t value;
};

/// isDrained() is true only when each accepted message has been consumed, also if the push began
/// before close() and ends after it.
template <class Shape>
void drainBehindSlowConstructors(std::uint64_t rounds) {
    using Queue = TestQueue<Shape, Slow, 64>;
    std::atomic<Queue*> current{nullptr};
    std::atomic<std::uint64_t> round{0};
    std::atomic<std::uint64_t> done{0};
    std::uint64_t accepted = 0;  // published by `done`
    Crew crew;
    crew.add([&] {
        for (std::uint64_t r = 1; r <= rounds; ++r) {
            awaitThat([&] { return round.load(std::memory_order_acquire) >= r; });
            auto producer = current.load(std::memory_order_relaxed)->producer();
            accepted = 0;
            for (auto result = SendResult::ok; result != SendResult::closed;) {
                result = producer.tryEmplace(accepted);
                accepted += result == SendResult::ok ? 1 : 0;
            }
            done.store(r, std::memory_order_release);
        }
    });
    crew.start();
    Dice dice(7);
    for (std::uint64_t r = 1; r <= rounds; ++r) {
        const auto queue = std::make_unique<Queue>();
        current.store(queue.get(), std::memory_order_relaxed);
        round.store(r, std::memory_order_release);
        std::uint64_t consumed = 0;
        const auto consume = [&] { consumed += queue->consume([](Slow&) {}); };
        for (std::uint32_t polls = dice() % 97; polls != 0; --polls) {
            consume();
        }
        queue->close();
        while (!queue->isDrained()) {
            consume();
        }
        const std::uint64_t atEnd = consumed;
        awaitThat([&] { return done.load(std::memory_order_acquire) >= r; });
        consume();
        EXPECT_EQ(consumed, atEnd) << "round " << r;
        EXPECT_EQ(atEnd, accepted) << "round " << r;
    }
}

TEST(SpscRingStressTest, IsNotDrainedWhileASlowConstructorRuns) {
    drainBehindSlowConstructors<SpscRingShape>(scaled(20000));
}

TEST(MpscLanesStressTest, AreNotDrainedWhileASlowConstructorRuns) {
    drainBehindSlowConstructors<MpscLanesShape>(scaled(5000));
}

}  // namespace
}  // namespace sluice::test
