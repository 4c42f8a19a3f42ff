#pragma once

#include <sluice/base/ring_positions.hpp>
#include <sluice/base/setup_error.hpp>
#include <sluice/queue/queue_traits.hpp>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <memory_resource>
#include <new>
#include <type_traits>

namespace sluice::detail {

/// The slots of a ring: a power of two, at least `MinSlots`, so a mask finds a position's slot.
/// With the capacity in the type, they lie in the object.
template <class Slot, std::size_t Capacity, class Index, std::size_t MinSlots = 1>
class RingStorage {
    using Positions = RingPositions<Index>;
    static_assert(Capacity != 0, "the capacity of a ring must be at least 1");
    static_assert(Capacity <= Positions::maxCapacity,
                  "the capacity of a ring must be at most a quarter of its Index type's range");

public:
    static constexpr std::size_t capacity() noexcept { return Capacity; }
    static constexpr std::size_t count() noexcept { return slotCount; }
    Slot& at(Index position) noexcept { return Positions::at(slots_, position, mask); }
    const Slot& at(Index position) const noexcept { return Positions::at(slots_, position, mask); }

private:
    static constexpr std::size_t slotCount = std::max(roundUpToPowerOfTwo(Capacity), MinSlots);
    static constexpr std::size_t mask = Positions::maskFor(slotCount);
    Slot slots_[slotCount];
};

/// With a capacity chosen at run time, the constructor takes the slots from a memory resource.
template <class Slot, class Index, std::size_t MinSlots>
class RingStorage<Slot, dynamicCapacity, Index, MinSlots> {
    using Positions = RingPositions<Index>;

public:
    RingStorage(std::size_t capacity, std::pmr::memory_resource* memory)
        : capacity_(checkedCapacity(capacity)),
          mask_(Positions::maskFor(std::max(roundUpToPowerOfTwo(capacity), MinSlots))),
          memory_(memory),
          slots_(static_cast<Slot*>(memory->allocate(bytes(), alignof(Slot)))) {
        for (std::size_t i = 0; i < count(); ++i) {
            ::new (static_cast<void*>(slots_ + i)) Slot;
        }
    }
    ~RingStorage() {
        static_assert(std::is_trivially_destructible_v<Slot>);
        memory_->deallocate(slots_, bytes(), alignof(Slot));
    }
    RingStorage(const RingStorage&) = delete;
    RingStorage& operator=(const RingStorage&) = delete;

    std::size_t capacity() const noexcept { return capacity_; }
    std::size_t count() const noexcept {
        return static_cast<std::size_t>(mask_ / Positions::one) + 1;
    }
    Slot& at(Index position) noexcept { return Positions::at(slots_, position, mask_); }
    const Slot& at(Index position) const noexcept { return Positions::at(slots_, position, mask_); }

    static std::size_t checkedCapacity(std::size_t capacity) {
        constexpr std::size_t max = std::min(
            Positions::maxCapacity, std::numeric_limits<std::size_t>::max() / 4 / sizeof(Slot));
        requireAtLeast("capacity of a ring is too small", capacity, 1);
        requireAtMost("capacity of a ring is too large", capacity, max);
        return capacity;
    }

private:
    std::size_t bytes() const noexcept { return count() * sizeof(Slot); }

    std::size_t capacity_;
    std::size_t mask_;
    std::pmr::memory_resource* memory_;
    Slot* slots_;
};

}  // namespace sluice::detail
