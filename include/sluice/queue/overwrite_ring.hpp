#pragma once

#include <sluice/base/ring_storage.hpp>
#include <sluice/base/role_check.hpp>
#include <sluice/base/send_result.hpp>
#include <sluice/queue/detail/sequence_slot.hpp>
#include <sluice/queue/queue_traits.hpp>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <memory_resource>
#include <optional>
#include <type_traits>
#include <utility>

namespace sluice {

struct OverwriteRingTraits : QueueTraits {
    /// True if several threads may push simultaneously. A single producer's push takes no
    /// read-modify-write unless it drops a message.
    static constexpr bool manyProducers = true;
};

/// A bounded queue of the newest messages: a push into a full ring drops the oldest message.
///
///     sluice::OverwriteRing<Frame, 8> frames;
///     (void)frames.tryPush(frame);                        // any thread; refused only if closed
///     frames.consume([](Frame& frame) { show(frame); });  // each consumer: the last 8 at most
///     report(frames.dropped());
///
/// Use Latest if only the newest message counts, and MpmcRing if no message may be lost.
/// BlockingQueue adds functions that wait.
///
/// Order: messages are taken or dropped in the order of their pushes, unless two pushes overlap.
///
/// Thread safety: any thread may call any member, but without manyProducers only one thread at a
/// time may push. A push waits only while preempted threads occupy all slots; a ring has at least
/// four. A thread preempted while it moves a message occupies a slot. A producer preempted mid-push
/// blocks delivery until capacity() later pushes have dropped its message.
///
/// Errors: as for MpmcRing. The push that drops a message runs the message's destructor.
///
/// Performance: a push takes three read-modify-writes, but none with a single producer. Dropping or
/// consuming a message takes three read-modify-writes. The ring has one slot more than an MpscRing.
template <class T, std::size_t Capacity, class Traits = OverwriteRingTraits>
class OverwriteRing {
    using Platform = typename Traits::Platform;
    template <class U>
    using Atomic = typename Platform::template Atomic<U>;
    using Index = typename Traits::Index;
    using Positions = RingPositions<Index>;
    using Slot = detail::SequenceSlot<T, Platform, Index>;
    using Storage =
        detail::RingStorage<Slot, Capacity == dynamicCapacity ? dynamicCapacity : Capacity + 1,
                            Index, 4>;
    static constexpr bool many = Traits::manyProducers;
    using RoleCheck = std::conditional_t<many, detail::AnyNumber, sluice::RoleCheck<Platform>>;

    static_assert(Capacity != 0, "the capacity of a ring must be at least 1");
    static_assert(Capacity == dynamicCapacity || Capacity < Positions::maxCapacity / 2,
                  "the capacity of an OverwriteRing must be below an eighth of its Index's range");
    static_assert(std::is_nothrow_move_constructible_v<T> && std::is_nothrow_destructible_v<T>,
                  "OverwriteRing moves each message out: declare its move constructor noexcept");

public:
    using value_type = T;
    static constexpr bool manyConsumers = true;

    template <std::size_t C = Capacity, std::enable_if_t<C != dynamicCapacity, int> = 0>
    OverwriteRing() noexcept {
        initialise();
    }

    /// Calls setupError() if the capacity is 0 or too large.
    template <std::size_t C = Capacity, std::enable_if_t<C == dynamicCapacity, int> = 0>
    explicit OverwriteRing(std::size_t capacity,
                           std::pmr::memory_resource* memory = std::pmr::get_default_resource())
        : slots_(Storage::checkedCapacity(capacity) + 1, memory) {
        detail::requireAtMost("capacity of a ring is too large", capacity,
                              Positions::maxCapacity / 2 - 1);
        initialise();
    }

    ~OverwriteRing() {
        close();  // so that a message's destructor cannot push a message
        consume([](T&) noexcept {});
    }

    // ---- Producers

    SendResult tryPush(const T& value) { return tryEmplace(value); }
    SendResult tryPush(T&& value) { return tryEmplace(std::move(value)); }
    template <class U, detail::IfConverts<U, T> = 0>
    SendResult tryPush(U&& value) {
        return tryEmplace(std::forward<U>(value));
    }

    /// Constructs a T in the ring. Returns `ok` or `closed`. Nested pushes from constructors of T
    /// wait forever if the pushes occupy all slots of the ring.
    template <class... Args>
    SendResult tryEmplace(Args&&... args) {
        const typename RoleCheck::Scope producer(producerRole_, oneProducer);
        for (Index position{}; claim(position);) {
            Push push{*this, position, decide(position, true)};
            if (push.isInside) {
                slots_.at(position).cell.construct(std::forward<Args>(args)...);
                push.isBuilt = true;
                return SendResult::ok;
            }
        }
        return SendResult::closed;
    }

    // ---- Consumers

    /// Removes and returns the oldest message, if any.
    [[nodiscard]] std::optional<T> tryPop() noexcept {
        std::optional<T> value;
        (void)tryPop(value);
        return value;
    }
    /// Like tryPop(), but fills the empty optional `value`. Returns false if the queue is empty.
    bool tryPop(std::optional<T>& value) noexcept {
        return consume([&value](T& message) { value.emplace(std::move(message)); }, 1) != 0;
    }

    /// Like MpmcRing::consume(), but moves each message out, so a slow handler occupies no slot.
    template <class Handler>
    std::size_t consume(Handler&& handler, std::size_t max = unlimited) {
        const std::size_t limit = std::min(max, capacity());
        std::size_t count = 0;
        for (std::optional<T> message; count < limit && take(message);) {
            ++count;
            const Handling handling{*this, message};
            handler(*message);
        }
        return count;
    }

    // ---- Any thread

    /// Refuses later pushes; idempotent. A push during the call is either refused or accepted.
    void close() noexcept {
        if constexpr (many) {
            tail_.fetch_or(Positions::mark, std::memory_order_release);  // E3 close
        } else {
            closed_.store(true, std::memory_order_release);  // E3 close
        }
    }

    [[nodiscard]] bool isClosed() const noexcept {
        return many ? Positions::isMarked(tail_.load(std::memory_order_acquire))
                    : closed_.load(std::memory_order_acquire);
    }

    /// Returns true once the queue is closed and empty and no push or handler is running.
    [[nodiscard]] bool isDrained() const noexcept {
        if (drained_.load(std::memory_order_acquire)) {  // E5 end
            return true;
        }
        if (!isClosed()) {
            return false;
        }
        if constexpr (!many) {
            Platform::Fence::heavy();  // E3 close
        }
        const Index end = done() | (many ? Positions::mark : Index{0});
        const bool drained = tail_.load(std::memory_order_acquire) == end;
        if (drained) {
            // drained_ keeps the result, because refused pushes change tail_.
            drained_.store(true, std::memory_order_release);  // E5 end
        }
        return drained;
    }

    /// The number of dropped messages, modulo half the range of Index. While no push is running,
    /// the number of accepted messages equals consumed + dropped + queued.
    [[nodiscard]] Index dropped() const noexcept {
        return static_cast<Index>(dropped_.load(std::memory_order_acquire) / Positions::one);
    }

    /// The approximate number of messages queued, being pushed or handled; at most capacity().
    [[nodiscard]] std::size_t sizeApprox() const noexcept {
        // Calls done() before loading tail_, so that tail - done cannot become negative.
        const Index done = this->done();
        // Relaxed: acquired before.
        const Index tail = Positions::unmarked(tail_.load(std::memory_order_relaxed));
        return std::min(Positions::distance(done, tail), capacity());
    }

    [[nodiscard]] std::size_t capacity() const noexcept { return slots_.capacity() - 1; }

private:
    // Happens-before edges (proof: docs/algorithms/rings.md):
    //   E1 publish: push -> consume/push.
    //   E2 reuse: consume/push -> push.
    //   E3 close: push <-> isDrained.
    //   E4 done: consume/push -> isDrained.
    //   E5 end: isDrained -> isDrained.
    //   E6 order: consume -> consume.
    // Invariant: taken + dropped + skipped <= tail.

    static constexpr std::size_t line = Traits::cacheLineSize;
    static constexpr Index firstPosition = static_cast<Index>(Traits::firstPosition);
    static_assert(!Positions::isMarked(firstPosition), "firstPosition of the traits must be even");

    /// A slot's sequence is the sum of a position and a state. A single producer needs no state
    /// `filling`, because no other thread changes an empty slot.
    enum State : unsigned char { empty, busy, filling, filled };
    static constexpr Index with(Index p, State state) noexcept {
        return static_cast<Index>(p + state);
    }
    static constexpr bool isDecided(Index sequence, Index p) noexcept {
        const auto ahead = static_cast<Index>(sequence - p);
        return ahead <= busy || (ahead > filled && ahead <= std::numeric_limits<Index>::max() / 2);
    }

    /// A push in progress. The destructor publishes the message if isBuilt, or skips `position`.
    struct Push {
        OverwriteRing& ring;
        Index position;
        bool isInside;
        bool isBuilt = false;
        ~Push() { ring.end(*this); }
    };

    struct Handling {
        OverwriteRing& ring;
        std::optional<T>& message;
        ~Handling() {
            message.reset();
            ring.count(ring.taken_);
        }
    };

    void initialise() noexcept {
        detail::initialiseSequences(slots_, before(firstPosition, slots_.count()));
    }
    static constexpr Index before(Index p, std::size_t count) noexcept {
        return static_cast<Index>(p - Positions::advance(0, count));
    }

    /// Returns false if the ring is closed.
    bool claim(Index& position) noexcept {
        position = tail_.load(std::memory_order_relaxed);  // own variable, or value only
        if constexpr (many) {
            while (!Positions::isMarked(position)) {
                // Relaxed: value only.
                if (tail_.compare_exchange_weak(position, Positions::next(position),
                                                std::memory_order_relaxed,
                                                std::memory_order_relaxed)) {
                    return true;
                }
            }
            return false;
        } else {
            tail_.store(position | Positions::mark, std::memory_order_relaxed);  // by E3
            Platform::Fence::light();                                            // E3 close
            const bool isOpen = !closed_.load(std::memory_order_relaxed);        // by E3
            if (!isOpen) {
                tail_.store(position, std::memory_order_release);  // E3 close
            }
            return isOpen;
        }
    }

    /// If `isOwner`, the caller has claimed `p`: drops the slot's earlier message and occupies the
    /// slot. Otherwise, drops the message of `p`, or cancels the unfinished push of `p`. Returns
    /// false if another thread uses the slot, or if `p` is already taken, dropped or skipped.
    bool decide(Index p, bool isOwner) noexcept {
        Slot& slot = slots_.at(p);
        for (;;) {
            Index seen = slot.sequence.load(std::memory_order_acquire);  // E1, E2
            if (isDecided(seen, p)) {
                return false;
            }
            const auto state = static_cast<State>(static_cast<Index>(seen - p) % 4);
            const bool isFree = state == empty || state == filled;
            if (!many && isOwner && isFree) {
                return true;
            }
            const State next = isOwner && isFree ? filling : state == empty ? empty : busy;
            // Relaxed: retried.
            if (slot.sequence.compare_exchange_weak(seen, with(p, next), std::memory_order_relaxed,
                                                    std::memory_order_relaxed)) {
                if (state == filled) {
                    drop(slot);
                    if (!isOwner) {
                        leave(slot);
                    }
                }
                return isFree;
            }
        }
    }

    void end(const Push& push) noexcept {
        const Index p = push.position;
        Slot& slot = slots_.at(p);
        if (p % (std::numeric_limits<Index>::max() / 4 + 1) == 0) {
            // head_ must follow tail_ even without consumers; four stores per Index range suffice.
            head_.store(before(p, capacity()), std::memory_order_release);  // E6 order
        }
        // Drops an old message before publishing, because other threads may drain and destroy the
        // ring as soon as the push is published.
        (void)decide(before(p, capacity()), false);
        const Index result = with(p, push.isBuilt ? filled : empty);
        if constexpr (!many) {
            if (push.isInside) {
                slot.sequence.store(result, std::memory_order_release);  // E1 publish
            }
            tail_.store(Positions::next(p), std::memory_order_release);  // E3 close
        } else if (Index seen = with(p, filling);
                   push.isInside && !slot.sequence.compare_exchange_strong(
                                        seen, result, std::memory_order_release,  // E1 publish
                                        std::memory_order_relaxed)) {
            // Relaxed: value only.
            if (push.isBuilt) {
                slot.cell.destroy();
            }
            leave(slot);
            if (push.isBuilt) {
                count(dropped_);
            }
        }
        if (!push.isBuilt) {
            count(skipped_);
        }
    }

    void drop(Slot& slot) noexcept {
        slot.cell.destroy();
        count(dropped_);
    }
    void count(Atomic<Index>& counter) noexcept {
        counter.fetch_add(Positions::one, std::memory_order_release);  // E4 done
    }
    /// Subtracts, because storing `empty` could overwrite another thread's change of the position.
    void leave(Slot& slot) noexcept {
        slot.sequence.fetch_sub(busy, std::memory_order_release);  // E2 reuse
    }

    /// Moves the oldest message into the empty `value`. Returns false if the ring is empty or the
    /// oldest message is still being pushed.
    bool take(std::optional<T>& value) noexcept {
        Index p = head_.load(std::memory_order_acquire);  // E6 order
        for (;;) {
            // Relaxed: value only.
            const Index tail = Positions::unmarked(tail_.load(std::memory_order_relaxed));
            if (Positions::distance(p, tail) > capacity()) {
                p = before(tail, capacity());
            }
            if (p == tail) {
                return false;
            }
            Slot& slot = slots_.at(p);
            Index seen = slot.sequence.load(std::memory_order_acquire);  // E6 order
            if (isDecided(seen, p)) {
                p = Positions::next(p);
            } else if (seen != with(p, filled)) {
                return false;
            } else if (slot.sequence.compare_exchange_strong(seen, with(p, busy),
                                                             std::memory_order_release,  // E6
                                                             std::memory_order_relaxed)) {
                // Relaxed: retried.
                head_.store(Positions::next(p), std::memory_order_release);  // E6 order
                value.emplace(std::move(slot.cell.get()));
                slot.cell.destroyAndOwnLines();
                leave(slot);
                return true;
            }
        }
    }

    /// The position up to which all messages are taken, dropped or skipped.
    [[nodiscard]] Index done() const noexcept {
        return static_cast<Index>(taken_.load(std::memory_order_acquire) +
                                  dropped_.load(std::memory_order_acquire) +
                                  skipped_.load(std::memory_order_acquire));  // E4 done
    }

    // closed_ and drained_ are written once; closed_ is used only with a single producer.
    Atomic<bool> closed_{false};
    mutable Atomic<bool> drained_{false};

    // Written by producers.
    alignas(line) alignas(Atomic<Index>) Atomic<Index> tail_{firstPosition};
    Atomic<Index> dropped_{0};
    Atomic<Index> skipped_{0};
    RoleCheck producerRole_;

    // Written by consumers.
    alignas(line) alignas(Atomic<Index>) Atomic<Index> head_{firstPosition};
    Atomic<Index> taken_{firstPosition};

    alignas(line) alignas(Storage) Storage slots_;
};

}  // namespace sluice
