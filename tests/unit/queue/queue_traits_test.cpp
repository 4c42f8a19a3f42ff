#include <sluice/queue/mpmc_ring.hpp>
#include <sluice/queue/mpsc_lanes.hpp>
#include <sluice/queue/mpsc_ring.hpp>
#include <sluice/queue/queue_traits.hpp>
#include <sluice/queue/segment_queue.hpp>
#include <sluice/queue/spsc_ring.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace sluice {
namespace {

static_assert(std::is_same_v<QueueTraits::Platform, StdPlatform>);
static_assert(std::is_unsigned_v<QueueTraits::Index>);
static_assert(std::atomic<QueueTraits::Index>::is_always_lock_free);
static_assert(!std::atomic<std::uint64_t>::is_always_lock_free || sizeof(QueueTraits::Index) == 8);
static_assert(QueueTraits::firstPosition == 0);
static_assert(QueueTraits::cacheLineSize == cacheLineSize);

// No capacity and no limit that anybody could mean.
static_assert(dynamicCapacity == std::numeric_limits<std::size_t>::max());
static_assert(unlimited == std::numeric_limits<std::size_t>::max());

struct Changed : QueueTraits {
    static constexpr std::uint64_t firstPosition = 6;
};

TEST(QueueTraitsTest, ADerivedStructChangesWhatItRedeclaresOnly) {
    EXPECT_EQ(Changed::firstPosition, 6U);
    EXPECT_EQ(Changed::cacheLineSize, QueueTraits::cacheLineSize);
    EXPECT_TRUE((std::is_same_v<Changed::Index, QueueTraits::Index>));
    EXPECT_TRUE((std::is_same_v<Changed::Platform, QueueTraits::Platform>));
}

// No member may ask for less alignment than its type has, even if distance does not pay: clang
// refuses that.
struct CompactTraits : SegmentQueueTraits {
    static constexpr std::size_t cacheLineSize = 4;
};

}  // namespace

template class SpscRing<int, 4, CompactTraits>;
template class SpscRing<double, dynamicCapacity, CompactTraits>;
template class MpscRing<double, 4, CompactTraits>;
template class MpmcRing<double, 4, CompactTraits>;
template class MpscLanes<double, CompactTraits>;
template class SegmentQueue<double, CompactTraits>;

}  // namespace sluice
