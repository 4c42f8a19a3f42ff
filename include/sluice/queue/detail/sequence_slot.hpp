#pragma once

#include <sluice/base/assert.hpp>
#include <sluice/base/ring_positions.hpp>
#include <sluice/base/send_result.hpp>

#include <cstddef>
#include <memory>
#include <utility>

namespace sluice::detail {

/// A ring slot of MpscRing and MpmcRing: a message, and a sequence that says which position it
/// belongs to. Sequences are even, except filled(p).
template <class T, class Platform, class Index>
struct SequenceSlot {
    using Sequence = typename Platform::template Atomic<Index>;
    using Cell = typename Platform::template Cell<T>;

    Sequence sequence;
    Cell cell;

    /// The slot holds the message of position `p`.
    static constexpr Index filled(Index p) noexcept {
        return static_cast<Index>(p | RingPositions<Index>::mark);
    }
    /// The producer of position `p` gave up, for example because a constructor threw.
    static constexpr Index skipped(Index p) noexcept { return RingPositions<Index>::next(p); }
    /// One comparison is enough, because skipped(p) is filled(p) + 1.
    static constexpr bool isFilledOrSkipped(Index sequence, Index p) noexcept {
        return static_cast<Index>(sequence - filled(p)) <= Index{1};
    }

    /// Publishes a sequence when it goes out of scope, even if the message's constructor throws.
    struct PublishGuard {
        Sequence& word;
        Index sequence;
        ~PublishGuard() { word.store(sequence, std::memory_order_release); }  // E1 publish
    };
};

/// The positions that a push owns: `count` of them from `position` on; none unless `ok`.
template <class Index>
struct SlotClaim {
    SendResult result;
    Index position;
    std::size_t count;
};

/// Consecutive slots owned by a producer, which fills and commits them one by one. When it is
/// destroyed, the slots left are skipped.
template <class T, class Storage, class Traits>
class SlotReservation {
    using Index = typename Traits::Index;
    using Positions = RingPositions<Index>;
    using Slot = SequenceSlot<T, typename Traits::Platform, Index>;

public:
    SlotReservation(Storage& slots, const SlotClaim<Index>& claimed) noexcept
        : slots_(slots),
          position_(claimed.position),
          remaining_(claimed.count),
          result_(claimed.result) {}
    SlotReservation(const SlotReservation&) = delete;
    SlotReservation& operator=(const SlotReservation&) = delete;
    ~SlotReservation() {
        if (message_ != nullptr) {
            slot().cell.destroy();
        }
        while (remaining_ != 0) {
            publish(Slot::skipped(position_));
        }
    }

    /// Returns true while a slot is left to commit.
    explicit operator bool() const noexcept { return remaining_ != 0; }
    /// The result of tryReserve(); stays `ok` after the last commit.
    [[nodiscard]] SendResult result() const noexcept { return result_; }
    /// The number of slots left to commit.
    [[nodiscard]] std::size_t size() const noexcept { return remaining_; }

    /// The number of pushes before that of the current slot, skipped ones included.
    [[nodiscard]] Index number() const noexcept {
        constexpr auto first = static_cast<Index>(Traits::firstPosition);
        return static_cast<Index>(static_cast<Index>(position_ - first) / Positions::one);
    }

    /// Constructs the message of the current slot. Call it once per slot.
    template <class... Args>
    T& emplace(Args&&... args) {
        SLUICE_ASSERT(remaining_ != 0 && message_ == nullptr,
                      "emplace needs a reservation that succeeded, is not committed and holds no "
                      "message yet");
        message_ = std::addressof(slot().cell.construct(std::forward<Args>(args)...));
        return *message_;
    }

    T& operator*() const noexcept { return *message_; }
    T* operator->() const noexcept { return message_; }

    /// Publishes the message and moves on to the next slot, if any.
    void commit() noexcept {
        SLUICE_ASSERT(remaining_ != 0 && message_ != nullptr,
                      "commit without a message: call emplace first, commit once");
        message_ = nullptr;
        publish(Slot::filled(position_));
    }

private:
    Slot& slot() const noexcept { return slots_.at(position_); }
    void publish(Index sequence) noexcept {
        slot().sequence.store(sequence, std::memory_order_release);  // E1 publish
        position_ = Positions::next(position_);
        --remaining_;
    }

    Storage& slots_;
    Index position_;  // of the current slot
    std::size_t remaining_;
    SendResult result_;
    T* message_ = nullptr;
};

}  // namespace sluice::detail
