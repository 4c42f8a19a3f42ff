#pragma once

#include <sluice/base/ring_storage.hpp>
#include <sluice/base/role_check.hpp>
#include <sluice/base/send_result.hpp>
#include <sluice/base/setup_error.hpp>
#include <sluice/base/spin_lock.hpp>
#include <sluice/queue/queue_traits.hpp>

#include <algorithm>
#include <cstddef>
#include <memory_resource>
#include <mutex>
#include <new>
#include <optional>
#include <utility>

namespace sluice {

struct SegmentQueueTraits : QueueTraits {
    /// The size of a segment in bytes, unless minSegmentSlots slots need more.
    static constexpr std::size_t segmentBytes = 16384;
    static constexpr std::size_t minSegmentSlots = 1;
    /// Bytes of unused segments kept for later messages; the queue keeps at least one segment.
    static constexpr std::size_t keptBytes = 1048576;
};

/// An unbounded multi-producer, single-consumer queue with one order for all messages.
///
///     sluice::SegmentQueue<std::string> queue;
///     (void)queue.tryPush("hello");                        // any thread
///     queue.consume([](const std::string& text) { ... });  // the consumer
///
/// Use SegmentQueue for unbounded backlogs or for bursts that must never be refused. Use MpscRing
/// or MpscLanes if pushes must not allocate memory. A push into a queue with a limit may return
/// `full`.
///
/// Thread safety: any thread may call any member, including from a handler. Only one thread at a
/// time may call the consumer's members. A producer preempted under the lock (a few instructions)
/// blocks other producers. A producer preempted in a constructor of T delays later messages.
///
/// Errors: if a constructor of T throws, the slot counts as used until the consumer skips it. If
/// the memory resource throws, the queue is unchanged. The limit is exact, and counts messages that
/// are queued, being pushed or being handled.
///
/// Performance: each push takes the lock once, and the consumer takes the lock once per segment.
/// Segments are reused. The memory resource must support calls from several threads.
template <class T, class Traits = SegmentQueueTraits>
class SegmentQueue {
public:
    using Platform = typename Traits::Platform;

private:
    template <class U>
    using Atomic = typename Platform::template Atomic<U>;
    using Index = typename Traits::Index;
    using Positions = RingPositions<Index>;
    using RoleCheck = sluice::RoleCheck<Platform>;
    using Lock = BasicSpinLock<Platform>;
    using Guard = std::lock_guard<Lock>;
    using Cell = typename Platform::template Cell<T>;
    struct Slot;
    struct Segment;

public:
    using value_type = T;

    /// Allocates the first segment. Calls setupError() if the limit is 0.
    explicit SegmentQueue(std::size_t limit = unlimited,
                          std::pmr::memory_resource* memory = std::pmr::get_default_resource())
        : limit_(checkedLimit(limit)),
          memory_(memory),
          tailSegment_(Segment::create(memory)),
          readSegment_(tailSegment_) {}

    ~SegmentQueue() {
        close();  // so that a message's destructor cannot push a message
        consume([](T&) noexcept {});
        Segment::destroy(readSegment_, memory_);
        trim();
    }

    // ---- Producers

    SendResult tryPush(const T& value) { return tryEmplace(value); }
    SendResult tryPush(T&& value) { return tryEmplace(std::move(value)); }
    template <class U, detail::IfConverts<U, T> = 0>
    SendResult tryPush(U&& value) {
        return tryEmplace(std::forward<U>(value));
    }

    /// Constructs a T in a free slot. A refused push leaves the arguments unchanged.
    template <class... Args>
    SendResult tryEmplace(Args&&... args) {
        Claim claimed;
        const SendResult result = claim(claimed);
        if (result == SendResult::ok) {
            PublishGuard guard{claimed.slot->state, claimed.skipped};
            claimed.slot->cell.construct(std::forward<Args>(args)...);
            guard.state = claimed.filled;
        }
        return result;
    }

    // ---- Consumer

    /// Removes and returns the oldest message, if any. The message stays queued if its move throws.
    [[nodiscard]] std::optional<T> tryPop() {
        std::optional<T> value;
        (void)tryPop(value);
        return value;
    }
    /// Like tryPop(), but fills the empty optional `value`. Returns false if the queue is empty.
    bool tryPop(std::optional<T>& value) {
        const typename RoleCheck::Scope consumer(consumerRole_, oneConsumer);
        Index head = head_.load(std::memory_order_relaxed);        // own variable
        const Index tail = tail_.load(std::memory_order_acquire);  // E4 link
        for (; head != tail; head = Positions::next(head)) {
            Slot& slot = oldest();
            const unsigned char state = slot.state.load(std::memory_order_acquire);  // E1 publish
            if (state == readSegment_->filled()) {
                value.emplace(std::move(slot.cell.get()));
                const ReleaseGuard guard{*this, Positions::next(head), &slot.cell};
                return true;
            }
            if (state != readSegment_->skipped()) {
                return false;
            }
            const ReleaseGuard guard{*this, Positions::next(head), nullptr};
        }
        return false;
    }

    /// Calls handler(T&) for up to `max` messages queued at the call, oldest first. A message is
    /// destroyed when its handler returns or throws. Returns the number of messages.
    template <class Handler>
    std::size_t consume(Handler&& handler, std::size_t max = unlimited) {
        const typename RoleCheck::Scope consumer(consumerRole_, oneConsumer);
        Index head = head_.load(std::memory_order_relaxed);  // own variable
        // Acquire: E4 link.
        std::size_t positions = Positions::distance(head, tail_.load(std::memory_order_acquire));
        std::size_t count = 0;
        for (; positions != 0 && count < max; --positions, head = Positions::next(head)) {
            Slot& slot = oldest();
            const unsigned char state = slot.state.load(std::memory_order_acquire);  // E1 publish
            if (state == readSegment_->filled()) {
                ++count;
                const ReleaseGuard guard{*this, Positions::next(head), &slot.cell};
                handler(slot.cell.get());
            } else if (state == readSegment_->skipped()) {
                const ReleaseGuard guard{*this, Positions::next(head), nullptr};
            } else {
                break;
            }
        }
        return count;
    }

    // ---- Any thread

    /// Refuses later pushes; idempotent. A push during the call is either refused or delivered.
    void close() noexcept {
        const Guard guard(lock_);
        closed_.store(true, std::memory_order_release);  // E3 close
    }

    [[nodiscard]] bool isClosed() const noexcept { return closed_.load(std::memory_order_acquire); }

    /// Returns true once the queue is closed and empty and no push or handler is running.
    [[nodiscard]] bool isDrained() const noexcept {
        // tryPush() and close() take the same lock, so no push is accepted after close().
        return isClosed() &&
               tail_.load(std::memory_order_acquire) == head_.load(std::memory_order_acquire);
    }

    /// The approximate number of messages queued, being pushed or handled; at most capacity().
    [[nodiscard]] std::size_t sizeApprox() const noexcept {
        // Loads head_ before tail_, so that tail - head cannot become negative.
        const Index head = head_.load(std::memory_order_acquire);  // E5 passed
        const Index tail = tail_.load(std::memory_order_acquire);
        return std::min(Positions::distance(head, tail), limit_);
    }

    /// The limit or, without a limit, the largest number of messages that positions can count.
    [[nodiscard]] std::size_t capacity() const noexcept { return limit_; }

    /// Returns the unused segments to the memory resource.
    void trim() noexcept {
        Segment* unused = nullptr;
        {
            const Guard guard(lock_);
            unused = std::exchange(free_, nullptr);
            freeCount_ = 0;
        }
        while (unused != nullptr) {
            Segment::destroy(std::exchange(unused, unused->nextFree), memory_);
        }
    }

private:
    // Happens-before edges (proof: docs/algorithms/rings.md):
    //   E1 publish: push -> consume.
    //   E2 reuse: consume -> push.
    //   E3 close: close -> push.
    //   E4 link: push -> consume.
    //   E5 passed: consume -> sizeApprox.
    // Invariant: head <= tail <= head + limit.

    static constexpr Index firstPosition = static_cast<Index>(Traits::firstPosition);
    static_assert(!Positions::isMarked(firstPosition), "firstPosition of the traits must be even");

    struct Claim {
        Slot* slot = nullptr;
        unsigned char filled = 0;
        unsigned char skipped = 0;
    };

    struct PublishGuard {
        Atomic<unsigned char>& word;
        unsigned char state;
        ~PublishGuard() { word.store(state, std::memory_order_release); }  // E1 publish
    };

    struct ReleaseGuard {
        SegmentQueue& queue;
        Index next;
        Cell* cell;
        ~ReleaseGuard() {
            if (cell != nullptr) {
                cell->destroyAndOwnLines();
            }
            ++queue.readIndex_;
            queue.head_.store(next, std::memory_order_release);  // E5 passed
        }
    };

    static std::size_t checkedLimit(std::size_t limit) {
        detail::requireAtLeast("limit of a SegmentQueue is too small", limit, 1);
        return std::min(limit, Positions::maxCapacity);
    }

    SendResult claim(Claim& claimed) {
        for (;;) {
            {
                const Guard guard(lock_);                       // E2 reuse, E3 close
                if (closed_.load(std::memory_order_relaxed)) {  // under the lock
                    return SendResult::closed;
                }
                const Index tail = tail_.load(std::memory_order_relaxed);  // under the lock
                if (!hasRoom(guard, tail)) {
                    return SendResult::full;
                }
                if (tailIndex_ != Segment::slotCount || linkFreeSegment(guard)) {
                    claimed = Claim{&tailSegment_->slots[tailIndex_++], tailSegment_->filled(),
                                    tailSegment_->skipped()};
                    tail_.store(Positions::next(tail), std::memory_order_release);  // E4 link
                    return SendResult::ok;
                }
            }
            // The queue allocates without the lock, because the memory resource is user code.
            Segment* const spare = Segment::create(memory_);
            const Guard guard(lock_);
            addFree(guard, spare);
        }
    }

    bool hasRoom(const Guard& /*guard*/, Index tail) noexcept {
        if (Positions::distance(cachedHead_, tail) >= limit_) {
            cachedHead_ = head_.load(std::memory_order_relaxed);  // value only
        }
        return Positions::distance(cachedHead_, tail) < limit_;
    }

    bool linkFreeSegment(const Guard& /*guard*/) noexcept {
        Segment* const segment = free_;
        if (segment == nullptr) {
            return false;
        }
        free_ = segment->nextFree;
        --freeCount_;
        segment->next.store(nullptr, std::memory_order_relaxed);  // not shared
        segment->lap ^= 1U;
        tailSegment_->next.store(segment, std::memory_order_release);  // E4 link
        tailSegment_ = segment;
        tailIndex_ = 0;
        return true;
    }

    /// Call oldest() only if head < tail.
    Slot& oldest() noexcept {
        if (readIndex_ == Segment::slotCount) {
            Segment* const next = readSegment_->next.load(std::memory_order_acquire);  // E4 link
            recycle(std::exchange(readSegment_, next));
            readIndex_ = 0;
        }
        return readSegment_->slots[readIndex_];
    }

    void addFree(const Guard& /*guard*/, Segment* segment) noexcept {
        segment->nextFree = std::exchange(free_, segment);
        ++freeCount_;
    }

    void recycle(Segment* segment) noexcept {
        constexpr std::size_t kept = std::max<std::size_t>(Traits::keptBytes / sizeof(Segment), 1);
        {
            const Guard guard(lock_);  // E2 reuse
            if (freeCount_ < kept) {
                addFree(guard, segment);
                return;
            }
        }
        Segment::destroy(segment, memory_);
    }

    // lock_ guards the writes of all members up to freeCount_.
    alignas(Traits::cacheLineSize) alignas(Lock) mutable Lock lock_;
    Atomic<bool> closed_{false};
    Atomic<Index> tail_{firstPosition};
    Index cachedHead_{firstPosition};  // lower bound of head_
    std::size_t limit_;
    std::pmr::memory_resource* memory_;
    Segment* tailSegment_;
    std::size_t tailIndex_ = 0;
    Segment* free_ = nullptr;  // unused segments, linked by nextFree
    std::size_t freeCount_ = 0;

    // Written by the consumer.
    alignas(Traits::cacheLineSize) alignas(Segment*) Atomic<Index> head_{firstPosition};
    Segment* readSegment_;
    std::size_t readIndex_ = 0;
    RoleCheck consumerRole_;
};

template <class T, class Traits>
struct SegmentQueue<T, Traits>::Slot {
    /// Equals the segment's filled() or skipped() value once the slot's push has ended.
    Atomic<unsigned char> state;
    Cell cell;
};

/// A block of slots. filled() and skipped() change with each use of the segment, so that a reused
/// segment needs no clearing.
template <class T, class Traits>
struct SegmentQueue<T, Traits>::Segment {
    static constexpr std::size_t slotCount =
        std::max<std::size_t>(Traits::segmentBytes / sizeof(Slot), Traits::minSegmentSlots);
    static_assert(slotCount > 0, "a segment needs at least one slot");

    Segment() noexcept {
        for (Slot& slot : slots) {
            slot.state.store(0, std::memory_order_relaxed);  // not shared
        }
    }

    static Segment* create(std::pmr::memory_resource* memory) {
        return ::new (memory->allocate(sizeof(Segment), alignof(Segment))) Segment;
    }
    static void destroy(Segment* segment, std::pmr::memory_resource* memory) noexcept {
        segment->~Segment();
        memory->deallocate(segment, sizeof(Segment), alignof(Segment));
    }

    [[nodiscard]] unsigned char filled() const noexcept {
        return static_cast<unsigned char>(2 * lap + 1);
    }
    [[nodiscard]] unsigned char skipped() const noexcept {
        return static_cast<unsigned char>(2 * lap + 2);
    }

    Atomic<Segment*> next{nullptr};  // written by the producer that links the next segment
    Segment* nextFree = nullptr;     // guarded by the queue's lock
    unsigned char lap = 0;           // 0 or 1; changed by the producer that reuses the segment
    alignas(Traits::cacheLineSize) alignas(Slot) Slot slots[slotCount];
};

}  // namespace sluice
