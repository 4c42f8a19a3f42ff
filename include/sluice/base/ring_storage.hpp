#pragma once

#include <sluice/base/assert.hpp>
#include <sluice/base/send_result.hpp>
#include <sluice/base/setup_error.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <memory_resource>
#include <new>
#include <type_traits>
#include <utility>

namespace sluice {

/// The Capacity argument of rings whose constructor receives the capacity.
inline constexpr std::size_t dynamicCapacity = std::numeric_limits<std::size_t>::max();

constexpr std::size_t roundUpToPowerOfTwo(std::size_t n) noexcept {
    std::size_t power = 1;
    while (power < n) {
        power *= 2;
    }
    return power;
}

/// Arithmetic of ring positions: even numbers that increase by 2 per message and may wrap around.
/// The lowest bit of a stored position is a mark, such as "closed" or "filled".
template <class Index>
struct RingPositions {
    static_assert(std::is_unsigned_v<Index>, "the Index of the traits must be an unsigned integer");

    static constexpr Index one = 2;
    static constexpr Index mark = 1;

    static constexpr std::size_t maxCapacity = static_cast<std::size_t>(
        std::min<std::uint64_t>(std::uint64_t{std::numeric_limits<Index>::max() / 4} + 1,
                                std::numeric_limits<std::size_t>::max() / 4));

    static constexpr Index unmarked(Index word) noexcept {
        return static_cast<Index>(word & static_cast<Index>(~mark));
    }
    static constexpr bool isMarked(Index word) noexcept { return (word & mark) != 0; }
    static constexpr Index next(Index position) noexcept {
        return static_cast<Index>(position + one);
    }

    static constexpr Index advance(Index position, std::size_t count) noexcept {
        return static_cast<Index>(position + static_cast<Index>(count * one));
    }

    static constexpr std::size_t distance(Index head, Index tail) noexcept {
        return static_cast<std::size_t>(static_cast<Index>(tail - head) / one);
    }

    /// The exact number of messages at some moment during the call. The second load of `head`
    /// cannot be reordered before the acquire load of `tail`.
    template <class Atomic>
    static std::size_t exactDistance(const Atomic& head, const Atomic& tail) noexcept {
        for (;;) {
            const Index first = head.load(std::memory_order_acquire);
            const Index last = unmarked(tail.load(std::memory_order_acquire));
            if (head.load(std::memory_order_relaxed) == first) {  // value only
                return distance(first, last);
            }
        }
    }

    /// The mask for at(). `slots` must be a power of two.
    static constexpr std::size_t maskFor(std::size_t slots) noexcept { return (slots - 1) * one; }

    /// If possible, divides the constant slot size by `one` instead of the position.
    template <class Slot>
    static Slot& at(Slot* slots, Index position, std::size_t mask) noexcept {
        if constexpr (sizeof(Slot) % one == 0) {
            using Byte = std::conditional_t<std::is_const_v<Slot>, const std::byte, std::byte>;
            const auto offset = static_cast<std::size_t>(position & mask) * (sizeof(Slot) / one);
            return *reinterpret_cast<Slot*>(reinterpret_cast<Byte*>(slots) + offset);
        } else {
            return slots[(position & mask) / one];
        }
    }
};

namespace detail {

/// The slots of a ring whose capacity is a constant. The number of slots is a power of two, so that
/// a mask maps positions to slots.
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

/// The slots of a ring that are allocated from a memory resource.
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

/// The `count` slots, from `position`, that a push claimed. `count` is 0 unless `result` is `ok`.
template <class Index>
struct SlotClaim {
    SendResult result;
    Index position;
    std::size_t count;
};

/// Consecutive slots owned by a producer, which fills and commits the slots one by one. The
/// destructor marks uncommitted slots as skipped.
template <class Ring, class T, class Traits>
class RingReservation {
    using Index = typename Traits::Index;
    using Positions = RingPositions<Index>;

public:
    RingReservation(const RingReservation&) = delete;
    RingReservation& operator=(const RingReservation&) = delete;
    ~RingReservation() {
        if (message_ != nullptr) {
            ring_.cellAt(position_).destroy();
        }
        for (; remaining_ != 0; --remaining_, position_ = Positions::next(position_)) {
            ring_.giveUp(position_);
        }
    }

    explicit operator bool() const noexcept { return remaining_ != 0; }
    /// The result of tryReserve(); stays `ok` after the last commit.
    [[nodiscard]] SendResult result() const noexcept { return result_; }
    [[nodiscard]] std::size_t size() const noexcept { return remaining_; }

    /// The number of ring slots that were pushed or skipped before the current slot.
    [[nodiscard]] Index number() const noexcept {
        constexpr auto first = static_cast<Index>(Traits::firstPosition);
        return static_cast<Index>(static_cast<Index>(position_ - first) / Positions::one);
    }

    /// Constructs the message of the current slot. Ends the program, also in release builds, if no
    /// slot is left or the slot already has a message.
    template <class... Args>
    T& emplace(Args&&... args) {
        if (SLUICE_UNLIKELY(remaining_ == 0 || message_ != nullptr)) {
            misused("emplace needs a reservation that succeeded, is not committed and "
                    "holds no message yet");
        }
        message_ = std::addressof(ring_.cellAt(position_).construct(std::forward<Args>(args)...));
        return *message_;
    }

    T& operator*() const noexcept { return *message_; }
    T* operator->() const noexcept { return message_; }

    /// Publishes the message and moves to the next slot, if any. Ends the program if there is no
    /// message.
    void commit() noexcept {
        if (SLUICE_UNLIKELY(message_ == nullptr)) {
            misused("commit without a message: call emplace first, commit once");
        }
        message_ = nullptr;
        ring_.publish(position_);
        position_ = Positions::next(position_);
        --remaining_;
    }

private:
    friend Ring;
    RingReservation(Ring& ring, const SlotClaim<Index>& claimed) noexcept
        : ring_(ring),
          position_(claimed.position),
          remaining_(claimed.count),
          result_(claimed.result) {}

    [[noreturn, gnu::cold, gnu::noinline]] static void misused(const char* rule) noexcept {
        failAssertion({"reservation", rule, __FILE__, __LINE__});
    }

    Ring& ring_;
    Index position_;  // of the current slot
    std::size_t remaining_;
    SendResult result_;
    T* message_ = nullptr;
};

}  // namespace detail
}  // namespace sluice
