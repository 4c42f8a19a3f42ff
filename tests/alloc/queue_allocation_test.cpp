#include "support/allocation_count.hpp"
#include "support/crew.hpp"
#include "support/queue_shapes.hpp"
#include "support/scale.hpp"
#include "support/stamp.hpp"
#include "support/watchdog.hpp"

#include <sluice/queue/mpsc_lanes.hpp>
#include <sluice/queue/mpsc_ring.hpp>
#include <sluice/queue/segment_queue.hpp>
#include <sluice/queue/spsc_ring.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <thread>
#include <type_traits>

namespace sluice::test {
namespace {

/// Every queue, after it has been set up.
template <class Shape>
class QueueAllocationTest : public testing::Test {};

using Shapes =
    testing::Types<SpscRingShape, DynamicSpscRingShape, MpscRingShape, DynamicMpscRingShape,
                   MpscLanesShape, SegmentQueueShape, BlockingShape<SpscRingShape>,
                   BlockingShape<MpscRingShape>, BlockingShape<MpscLanesShape>,
                   BlockingShape<SegmentQueueShape>>;
TYPED_TEST_SUITE(QueueAllocationTest, Shapes, ShapeNames);

constexpr std::size_t room = 8;

/// Fills the queue to the brim with its oldest message in every possible place: a SegmentQueue then has
/// all the segments that it will ever need. Returns how many messages were accepted.
template <class Queue, class Producer>
std::size_t passThroughEveryPlace(Queue& queue, Producer& producer) {
    std::size_t accepted = 0;
    for (std::uint64_t i = 0; i < 4 * room; ++i) {
        while (producer.tryPush(Stamp::of(0, i)) == PushResult::ok) {
            ++accepted;
        }
        (void)queue.tryPop();
    }
    queue.consume([](Stamp&) {});
    return accepted;
}

TYPED_TEST(QueueAllocationTest, PushAndPopAllocateNothing) {
    TestQueue<TypeParam, Stamp, room> queue;
    auto producer = queue.producer();
    passThroughEveryPlace(queue, producer);

    const AllocationCount count;
    const std::size_t accepted = passThroughEveryPlace(queue, producer);
    (void)queue.sizeApprox();
    queue.close();
    const PushResult afterClose = producer.tryPush(Stamp{});
    const bool isDrained = queue.isDrained();
    EXPECT_EQ(count.allocations(), 0U);
    EXPECT_EQ(count.deallocations(), 0U);
    EXPECT_EQ(accepted, room + 4 * room - 1);
    EXPECT_EQ(afterClose, PushResult::closed);
    EXPECT_TRUE(isDrained);
}

TYPED_TEST(QueueAllocationTest, TrafficBetweenThreadsAllocatesNothing) {
    constexpr std::size_t producers = TypeParam::manyProducers ? 2 : 1;
    const std::uint64_t each = scaled(50000);
    TestQueue<TypeParam, Stamp, room> queue;
    std::atomic<std::uint64_t> received{0};
    const Watchdog watchdog([&](std::FILE* out) {
        std::fprintf(out, "size %zu, received %llu\n", queue.sizeApprox(),
                     static_cast<unsigned long long>(received.load()));
    });
    Crew crew;
    for (std::size_t self = 0; self < producers; ++self) {
        crew.add([&, self, producer = queue.producer()]() mutable {
            if (self == 0) {
                passThroughEveryPlace(queue, producer);
            }
            for (std::uint64_t i = 0; i < each;) {
                if (producer.tryPush(Stamp::of(self, i)) == PushResult::ok) {
                    ++i;
                } else {
                    std::this_thread::yield();
                }
            }
        });
    }
    crew.start();
}

}  // namespace
}  // namespace sluice::test
