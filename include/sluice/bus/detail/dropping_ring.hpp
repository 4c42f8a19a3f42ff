#pragma once

#include <sluice/base/assert.hpp>
#include <sluice/base/slot_stack.hpp>
#include <sluice/queue/mpmc_ring.hpp>
#include <sluice/queue/push_result.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace sluice::detail {

/// The ring of a priority whose publishers make room by dropping the oldest message.
///
/// It has the interface of MpscRing, as far as the bus uses it, and dropOldest(). Messages lie in
/// slots, and an MpmcRing holds the numbers of the slots in the order of publication. So a slot
/// comes back on its own: publishers can drop messages behind the one that a handler holds, for as
/// long as that handler runs.
///
/// Who may call what: publishing and dropOldest() by any thread; consuming by one thread.
///
/// Progress: as MpmcRing. A publisher that is stopped in the middle of a message delays later
/// messages of this ring. A thread that is stopped while it takes the oldest message out may make
/// publishers see `full`.
///
/// Invariants: a slot belongs to the stack, to the queue, or to one thread. `used` counts the slots
/// that do not belong to the stack, and at times one more.
///
/// Edges: those of MpmcRing and SlotStack. E1 close: used raised, light fence, closed read --
/// against -- closed written, heavy fence, used read: either the publisher gives its slot back, or
/// isDrained() waits for it. E2 gone: handler returned -> used release .. used acquire -> a thread
/// that sees the message gone. E3 end: the first isDrained() that is true -> drained release ..
/// drained acquire.
///
/// Tests: tests/unit/bus/dropping_ring_test.cpp, tests/model/bus_model_test.cpp.
template <class T, std::size_t Room, class Traits>
class DroppingRing {
    using Platform = typename Traits::Platform;
    template <class U>
    using Atomic = typename Platform::template Atomic<U>;
    using Stack = SlotStack<Platform, Room>;
    using Slot = typename Stack::Slot;
    /// The number of a slot, twice; and one more if it has a message, whose constructor has not
    /// thrown.
    using Entry = std::uint32_t;
    static_assert(Room <= std::numeric_limits<Entry>::max() / 2, "the room is too large");
    /// Twice the room, so that an entry that is being taken out is seldom an obstacle.
    using Queue = MpmcRing<Entry, 2 * Room, Traits>;

public:
    class Reservation;

    DroppingRing() = default;
    DroppingRing(const DroppingRing&) = delete;
    DroppingRing& operator=(const DroppingRing&) = delete;

    // ---- Publishers

    [[nodiscard]] Reservation tryReserve() { return Reservation(*this); }

    /// Takes the oldest message out, hands it to drop(T&), and frees its slot. False when there is
    /// none that could go, because all are being published or handled.
    template <class Drop>
    bool dropOldest(Drop&& drop) {
        const auto oldest = queue_.tryPop();
        if (oldest) {
            const Held held{*this, *oldest};
            if (hasMessage(*oldest)) {
                drop(slots_[slotOf(*oldest)].get());
            }
        }
        return oldest.has_value();
    }

    // ---- The consumer

    /// As MpscRing::consumeWhile().
    template <class Handler, class GoOn>
    std::size_t consumeWhile(Handler&& handler, std::size_t max, GoOn&& goOn) {
        const std::size_t most = std::min(max, Room);
        std::size_t count = 0;
        for (bool isMore = true; isMore && count < most;) {
            const auto oldest = queue_.tryPop();
            if (!oldest) {
                break;
            }
            {
                const Held held{*this, *oldest};
                if (!hasMessage(*oldest)) {
                    continue;
                }
                ++count;
                handler(slots_[slotOf(*oldest)].get());
            }
            isMore = goOn();
        }
        return count;
    }

    [[nodiscard]] bool hasArrival() const noexcept { return queue_.hasArrival(); }
    /// As MpscRing::hasSecond(), also where there is just one that the consumer has not taken.
    [[nodiscard]] bool hasSecond() const noexcept { return queue_.hasArrival(); }
    /// As MpscRing::arrival().
    [[nodiscard]] auto arrival() const noexcept {
        return [&queue = queue_]() noexcept { return queue.hasArrival(); };
    }

    // ---- Anybody

    void close() noexcept { isClosed_.store(true, std::memory_order_release); }
    [[nodiscard]] bool isClosed() const noexcept {
        return isClosed_.load(std::memory_order_acquire);
    }

    [[nodiscard]] bool isDrained() const noexcept {
        if (isDrained_.load(std::memory_order_acquire)) {  // E3 end
            return true;
        }
        if (!isClosed()) {
            return false;
        }
        Platform::Fence::heavy();                                        // E1 close
        const bool isOver = used_.load(std::memory_order_acquire) == 0;  // E2 gone
        if (isOver) {
            // Kept: a later publisher, refused as it will be, has a slot for a moment.
            isDrained_.store(true, std::memory_order_release);  // E3 end
        }
        return isOver;
    }

    [[nodiscard]] std::size_t sizeAtOnce() const noexcept {
        return std::min(used_.load(std::memory_order_acquire), Room);  // E2 gone
    }

private:
    static constexpr std::size_t line = Traits::cacheLineSize;

    /// A slot whose message has been taken out of the queue.
    struct Held {
        DroppingRing& ring;
        Entry entry;
        ~Held() {
            if (hasMessage(entry)) {
                ring.slots_[slotOf(entry)].destroy();
            }
            ring.free(slotOf(entry));
        }
    };

    static constexpr Slot slotOf(Entry entry) noexcept { return static_cast<Slot>(entry / 2); }
    static constexpr bool hasMessage(Entry entry) noexcept { return entry % 2 != 0; }

    PushResult take(Slot& slot) noexcept {
        // Relaxed: asked again below. Publishers of a closed bus leave the slots alone.
        if (isClosed_.load(std::memory_order_relaxed)) {
            return PushResult::closed;
        }
        if (!stack_.tryTake(slot)) {
            return PushResult::full;
        }
        // Relaxed: E1's fence orders it.
        used_.fetch_add(1, std::memory_order_relaxed);
        Platform::Fence::light();  // E1 close
        if (isClosed_.load(std::memory_order_relaxed)) {
            free(slot);
            return PushResult::closed;
        }
        return PushResult::ok;
    }

    void free(Slot slot) noexcept {
        stack_.giveBack(slot);
        used_.fetch_sub(1, std::memory_order_release);  // E2 gone
    }

    alignas(line) alignas(Atomic<std::size_t>) Atomic<std::size_t> used_{0};
    Atomic<bool> isClosed_{false};
    mutable Atomic<bool> isDrained_{false};
    Stack stack_;
    Queue queue_;
    std::array<typename Platform::template Cell<T>, Room> slots_;
};

/// A slot held by a publisher, from tryReserve() to commit(). Without a commit() the slot comes
/// back when the consumer finds it.
template <class T, std::size_t Room, class Traits>
class DroppingRing<T, Room, Traits>::Reservation {
public:
    Reservation(const Reservation&) = delete;
    Reservation& operator=(const Reservation&) = delete;
    ~Reservation() {
        if (message_ != nullptr) {
            ring_.slots_[slot_].destroy();
        }
        if (isOpen_) {
            end(false);
        }
    }

    explicit operator bool() const noexcept { return isOpen_; }
    [[nodiscard]] PushResult result() const noexcept {
        return taken_ == PushResult::ok ? place_.result() : taken_;
    }
    /// How many slots were reserved before this one.
    [[nodiscard]] typename Traits::Index number() const noexcept { return place_.number(); }

    T& emplace() {
        message_ = &ring_.slots_[slot_].construct();
        return *message_;
    }

    void commit() noexcept {
        SLUICE_ASSERT(message_ != nullptr,
                      "commit without a message: call emplace first, commit once");
        message_ = nullptr;
        end(true);
    }

private:
    friend class DroppingRing;
    explicit Reservation(DroppingRing& ring) noexcept
        : ring_(ring),
          taken_(ring.take(slot_)),
          place_(ring.queue_.tryReserve(taken_ == PushResult::ok ? 1 : 0)),
          isOpen_(taken_ == PushResult::ok && place_) {
        if (taken_ == PushResult::ok && !isOpen_) {
            ring.free(slot_);
        }
    }

    void end(bool isBuilt) noexcept {
        isOpen_ = false;
        place_.emplace(static_cast<Entry>(slot_ * Entry{2} + (isBuilt ? 1 : 0)));
        place_.commit();
    }

    DroppingRing& ring_;
    Slot slot_ = 0;
    PushResult taken_;
    typename Queue::Reservation place_;
    bool isOpen_;
    T* message_ = nullptr;
};

}  // namespace sluice::detail
