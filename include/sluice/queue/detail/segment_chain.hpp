#pragma once

#include <sluice/queue/queue_traits.hpp>

#include <algorithm>
#include <cstddef>
#include <memory_resource>
#include <new>

namespace sluice::detail {

/// A fixed number of slots. Segments form a chain.
///
/// Each reuse begins another lap, and one bit tells two laps apart. So a slot's state is from this
/// lap (filled or skipped) or from the lap before, and a reuse need not clear it.
template <class T, class Traits>
struct Segment {
    using Platform = typename Traits::Platform;
    using Cell = typename Platform::template Cell<T>;
    template <class U>
    using Atomic = typename Platform::template Atomic<U>;

    struct Slot {
        /// filled() or skipped(), written by the producer. Other values are of the lap before.
        Atomic<unsigned char> state;
        Cell cell;  ///< the message, if the slot is filled; written by the producer
    };

    static constexpr std::size_t slotCount =
        std::max<std::size_t>(Traits::segmentBytes / sizeof(Slot), Traits::minSegmentSlots);
    static_assert(slotCount > 0, "a segment needs at least one slot");

    Segment() noexcept {
        for (Slot& slot : slots) {
            slot.state.store(0, std::memory_order_relaxed);  // relaxed: not shared yet
        }
    }

    unsigned char filled() const noexcept { return static_cast<unsigned char>(2 * lap + 1); }
    unsigned char skipped() const noexcept { return static_cast<unsigned char>(2 * lap + 2); }

    /// The next segment of the chain. Written by the producer that appends that segment.
    Atomic<Segment*> next{nullptr};
    Segment* nextFree = nullptr;  ///< the next one in the free list; guarded by the queue's lock
    /// Slots read in this lap, plus 1 after a reader has stepped to the next segment. Written by
    /// the readers, and set to 0 by the producer that reuses the segment.
    Atomic<std::size_t> passed{0};
    unsigned char lap = 0;  ///< 0 or 1; changed by the producer that reuses the segment
    alignas(Traits::cacheLineSize) alignas(Slot) Slot slots[slotCount];

    static Segment* create(std::pmr::memory_resource* memory) {
        return ::new (memory->allocate(sizeof(Segment), alignof(Segment))) Segment;
    }
    static void destroy(Segment* segment, std::pmr::memory_resource* memory) noexcept {
        segment->~Segment();
        memory->deallocate(segment, sizeof(Segment), alignof(Segment));
    }
};

/// A reader's position in the chain. Several readers may share a chain. Each begins where the
/// reader before it ends, so exactly one reader steps from a segment to the next. The last reader
/// of a segment gives it to `recycle`: all its slots are passed, and the step has been made.
template <class T, class Traits>
class SegmentCursor {
    using Segment = detail::Segment<T, Traits>;

public:
    using Slot = typename Segment::Slot;

    explicit SegmentCursor(Segment* segment = nullptr, std::size_t index = 0) noexcept
        : segment_(segment), index_(index), from_(index) {}

    /// The slot at this position. A producer has claimed it, so its segment is linked.
    template <class Recycle>
    Slot& slot(Recycle recycle) noexcept {
        if (index_ == Segment::slotCount) {
            Segment* const next = segment_->next.load(std::memory_order_acquire);  // E4 link
            account(index_ - from_ + 1, recycle);
            *this = SegmentCursor(next);
        }
        return segment_->slots[index_];
    }

    /// If the state is neither filled nor skipped, the message is still under construction.
    bool isFilled(unsigned char state) const noexcept { return state == segment_->filled(); }
    bool isSkipped(unsigned char state) const noexcept { return state == segment_->skipped(); }

    void advance() noexcept { ++index_; }

    /// Ends this reader. Another reader goes on from here.
    template <class Recycle>
    void end(Recycle recycle) noexcept {
        account(index_ - from_, recycle);
    }

    Segment* segment() const noexcept { return segment_; }

private:
    template <class Recycle>
    void account(std::size_t steps, Recycle recycle) noexcept {
        // Acquire and release: the last reader gives slots to reuse that other readers have read.
        if (steps != 0 && segment_->passed.fetch_add(steps, std::memory_order_acq_rel) + steps ==
                              Segment::slotCount + 1) {  // E2 reuse
            recycle(segment_);
        }
    }

    Segment* segment_;
    std::size_t index_;
    std::size_t from_;  // the first slot of the segment that this reader passed
};

}  // namespace sluice::detail
