#include "support/allocation_count.hpp"
#include "support/queue_shapes.hpp"
#include "support/stamp.hpp"

#include <sluice/queue/latest.hpp>
#include <sluice/queue/mpmc_ring.hpp>
#include <sluice/queue/mpsc_lanes.hpp>
#include <sluice/queue/mpsc_ring.hpp>
#include <sluice/queue/overwrite_ring.hpp>
#include <sluice/queue/segment_queue.hpp>
#include <sluice/queue/spsc_ring.hpp>

#include "support/testing.hpp"
#include <cinttypes>

namespace sluice::test {
namespace {

/// Every queue, after it has been set up.
template <class Shape>
class QueueAllocationTest : public testing::Test {};

using Shapes =
    testing::Types<SpscRingShape, DynamicSpscRingShape, MpscRingShape, MpmcRingShape,
                   DynamicMpmcRingShape, OverwriteRingShape<false>, OverwriteRingShape<true>,
                   MpscLanesShape, MpmcLanesShape, SegmentQueueShape, BlockingShape<MpmcRingShape>,
                   BlockingShape<MpscLanesShape>, BlockingShape<MpmcLanesShape>,
                   BlockingShape<SegmentQueueShape>>;
TYPED_TEST_SUITE(QueueAllocationTest, Shapes, ShapeNames);

constexpr std::size_t room = 8;

/// Fills the queue to the brim with its oldest message in every possible place: a SegmentQueue then
/// has all the segments that it will ever need. Returns how many messages were accepted.
template <class Queue, class Producer>
std::size_t passThroughEveryPlace(Queue& queue, Producer& producer) {
    std::size_t accepted = 0;
    for (std::uint64_t i = 0; i < 4 * room; ++i) {
        while (producer.tryPush(Stamp::of(0, i)) == SendResult::ok) {
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
    const SendResult afterClose = producer.tryPush(Stamp{});
    const bool isDrained = queue.isDrained();
    EXPECT_EQ(count.allocations(), 0U);
    EXPECT_EQ(count.deallocations(), 0U);
    EXPECT_EQ(accepted, room + 4 * room - 1);
    EXPECT_EQ(afterClose, SendResult::closed);
    EXPECT_TRUE(isDrained);
}

TEST(QueueSetUpAllocationTest, CapacityInTheTypeNeverAllocates) {
    const AllocationCount count;
    SpscRing<Stamp, room> spsc;
    MpscRing<Stamp, room> mpsc;
    (void)spsc.tryPush(Stamp{});
    (void)mpsc.tryPush(Stamp{});
    MpmcRing<Stamp, room> mpmc;
    (void)mpmc.tryPush(Stamp{});
    auto reservation = spsc.tryReserve();
    reservation.emplace();
    reservation.commit();
    EXPECT_EQ(count.allocations(), 0U);
    EXPECT_EQ(spsc.sizeApprox(), 2U);
}

TEST(QueueSetUpAllocationTest, SetUpIsWhatAllocates) {
    const AllocationCount count;
    const SpscRing<Stamp, dynamicCapacity> spsc(room);
    EXPECT_EQ(count.allocations(), 1U);
    const MpscRing<Stamp, dynamicCapacity> mpsc(room);
    EXPECT_EQ(count.allocations(), 2U);
    MpscLanes<Stamp> lanes(room);
    EXPECT_EQ(count.allocations(), 2U) << "without a producer there is no lane";
    const auto first = lanes.producer();
    EXPECT_LE(count.allocations(), 5U) << "a lane, its slots, and the list of announced lanes";
    const std::size_t beforeSecond = count.allocations();
    const auto second = lanes.producer();
    EXPECT_LE(count.allocations(), beforeSecond + 2) << "a lane and its slots";
    const std::size_t before = count.allocations();
    const SegmentQueue<Stamp> segments;
    EXPECT_EQ(count.allocations(), before + 1) << "the first segment";
}

TEST(QueueSetUpAllocationTest, OverwriteRingAllocatesNothing) {
    const AllocationCount count;
    OverwriteRing<Stamp, 2> ring;
    for (std::uint64_t i = 0; i < 100; ++i) {
        (void)ring.tryPush(Stamp::of(0, i));
    }
    EXPECT_EQ(count.allocations(), 0U);
    EXPECT_EQ(ring.dropped(), 98U);
    const OverwriteRing<Stamp, dynamicCapacity> dynamic(room);
    EXPECT_EQ(count.allocations(), 1U);
}

TEST(QueueSetUpAllocationTest, LatestAllocatesNothing) {
    std::uint64_t sum = 0;

    const AllocationCount count;
    Latest<Stamp, 2> latest;
    for (std::uint64_t i = 0; i < 100; ++i) {
        (void)latest.set(Stamp::of(0, 2 * i));
        (void)latest.set(Stamp::of(0, 2 * i + 1));
        sum += latest.update()->sequence;
    }
    EXPECT_EQ(count.allocations(), 0U);
    EXPECT_EQ(sum, 10000U);
}

}  // namespace
}  // namespace sluice::test
