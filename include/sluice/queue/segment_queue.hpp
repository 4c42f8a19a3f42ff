#pragma once

#include <sluice/base/ring_positions.hpp>
#include <sluice/base/role_check.hpp>
#include <sluice/base/send_result.hpp>
#include <sluice/base/setup_error.hpp>
#include <sluice/base/spin_lock.hpp>
#include <sluice/queue/detail/segment_chain.hpp>
#include <sluice/queue/queue_traits.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <memory_resource>
#include <mutex>
#include <optional>
#include <utility>

namespace sluice {

struct SegmentQueueTraits : QueueTraits {
    /// The bytes of a segment's slots, unless minSegmentSlots slots need more.
    static constexpr std::size_t segmentBytes = 16384;
    static constexpr std::size_t minSegmentSlots = 1;
    /// The bytes of unused segments that the consumer keeps for later messages. It keeps at least
    /// one segment, and returns the others to the memory resource.
    static constexpr std::size_t keptBytes = 1048576;
};

/// Carries messages from any number of producers to one consumer, without a bound, in one order for
/// all. It hands over all its messages in constant time.
///
///     sluice::SegmentQueue<std::string> queue;
///     (void)queue.tryPush("hello");                     // any thread
///     auto batch = queue.takeAll();                     // the consumer
///     batch.consume([](const std::string& text) { ... });
///
/// Use it if no bound can be given, or if bursts must never be refused. Use MpscRing or MpscLanes
/// if there is a bound: they allocate nothing later, and refuse messages when they are full. With a
/// limit it refuses messages like a ring.
///
/// Threads: any thread pushes, also a handler. The consumer calls tryPop, consume, front, popFront
/// and takeAll. Any thread calls the other members. One thread at a time is the consumer, and may
/// pass the role on by a synchronised hand-over. Debug builds notice overlapping calls of
/// consumers. Any thread may consume a Batch, one thread at a time.
///
/// Progress: producers claim one after the other under a lock, for a few
/// instructions each. A producer that is stopped there stops the others. User code never runs under
/// the lock. Constructors run after the claim, so a producer that is stopped in one delays only the
/// delivery of later messages. The consumer takes the lock once for each segment and each
/// takeAll().
///
/// Memory promise: the handler of a message sees the writes of its producer before the push.
///
/// Order: linearizable, in the order of the claims.
///
/// Capacity: unlimited, or the limit given to the constructor. The limit is exact. It counts
/// messages that are queued or being pushed, and not those that were handed over. Segments come
/// from a memory resource and are reused. There are at most as many as the largest backlog needs,
/// plus one, plus one for each producer that found no free segment at the same moment. The consumer
/// keeps at most keptBytes of unused segments, and returns the others to the resource. trim()
/// returns all unused segments. So several threads may call the resource at the same time.
///
/// Exceptions: if a constructor of T throws, its slot is skipped, and counts until the consumer
/// passes it. A throwing handler has consumed exactly its message. If the memory resource throws,
/// nothing has changed. Shutdown: after close() pushes are refused. Accepted messages stay until
/// they are consumed, or until the queue is destroyed.
///
/// Origin: a linked list of arrays, as in libstdc++'s deque and folly's UnboundedQueue.
///
/// Invariants, on unbounded positions: head <= tail; with a limit, tail <= head + limit. Each
/// position below tail belongs to exactly one push, which alone writes its slot. The chain from the
/// consumer's segment to the producers' one holds exactly the positions from head to tail. A
/// segment is reused only when all its slots have been read and the reader has stepped on to the
/// next one. So the last segment of the chain is never reused.
///
/// Edges: E1 publish: message written -> state release .. state acquire -> message read. E2 reuse:
/// message destroyed -> passed acq_rel .. lock of the free list .. lock of the claim -> slot
/// written. E3 close: closed is written and read under the lock. E4 link: segment set up -> next
/// release .. next acquire -> read.
///
/// Tests: tests/unit/queue/segment_queue_test.cpp, tests/conformance, tests/stress.
template <class T, class Traits = SegmentQueueTraits>
class SegmentQueue {
    using Platform = typename Traits::Platform;
    using Index = typename Traits::Index;
    using Positions = sluice::RingPositions<Index>;
    using RoleCheck = sluice::RoleCheck<Platform>;
    using Lock = BasicSpinLock<Platform>;
    using Guard = std::lock_guard<Lock>;
    using Segment = detail::Segment<T, Traits>;
    using Slot = typename Segment::Slot;
    using Cursor = detail::SegmentCursor<T, Traits>;

    template <class U>
    using Atomic = typename Platform::template Atomic<U>;

public:
    using value_type = T;
    class Batch;

    /// Allocates the first segment. Refuses (see setupError) a limit of 0.
    explicit SegmentQueue(std::size_t limit = unlimited,
                          std::pmr::memory_resource* memory = std::pmr::get_default_resource())
        : limit_(checkedLimit(limit)),
          memory_(memory),
          tailSegment_(Segment::create(memory)),
          reader_(tailSegment_) {}

    SegmentQueue(const SegmentQueue&) = delete;
    SegmentQueue& operator=(const SegmentQueue&) = delete;

    ~SegmentQueue() {
        SLUICE_ASSERT(batches_.load(std::memory_order_acquire) == 0,
                      "a Batch outlives its SegmentQueue: destroy or consume it before the queue");
        close();  // so no destructor of a message adds one
        consume([](T&) noexcept {});
        Segment::destroy(reader_.segment(), memory_);
        trim();
    }

    // ---- Producers

    SendResult tryPush(const T& value) { return tryEmplace(value); }
    SendResult tryPush(T&& value) { return tryEmplace(std::move(value)); }

    /// Constructs the message in its slot.
    template <class... Args>
    SendResult tryEmplace(Args&&... args) {
        Claim claim;
        const SendResult admission = admit(claim);
        if (admission == SendResult::ok) {
            Publication publication{claim.slot->state, claim.skipped};
            claim.slot->cell.construct(std::forward<Args>(args)...);
            publication.state = claim.filled;
        }
        return admission;
    }

    // ---- Consumer

    /// Takes the oldest message out. The result is empty if there is none.
    [[nodiscard]] std::optional<T> tryPop() {
        const typename RoleCheck::Scope consumer(consumerRole_, oneConsumer);
        std::optional<T> value;
        if (T* const oldest = oldestOrNull()) {
            value.emplace(std::move(*oldest));  // if it throws, the message stays
            dropOldest();
        }
        return value;
    }

    /// Hands the queued messages, at most `max`, to handler(T&), oldest first. A message is
    /// destroyed when its handler returns or throws. Returns the number of messages.
    template <class Handler>
    std::size_t consume(Handler&& handler, std::size_t max = unlimited) {
        const typename RoleCheck::Scope consumer(consumerRole_, oneConsumer);
        // Relaxed: only this thread writes head. Acquire: the segments of all positions below tail
        // are linked. The state of each slot tells whether the slot is filled.
        Index head = head_.load(std::memory_order_relaxed);
        std::size_t positions = Positions::distance(head, tail_.load(std::memory_order_acquire));
        std::size_t count = 0;
        for (; positions != 0 && count < max; --positions, head = Positions::next(head)) {
            Slot& slot = reader_.slot(recycler());
            const unsigned char state = slot.state.load(std::memory_order_acquire);  // E1 publish
            if (reader_.isFilled(state)) {
                ++count;
                const Passed passed{reader_, &slot.cell, &head_, Positions::next(head)};
                handler(slot.cell.get());
            } else if (reader_.isSkipped(state)) {
                const Passed passed{reader_, nullptr, &head_, Positions::next(head)};
            } else {
                break;
            }
        }
        return count;
    }

    /// The oldest message; nullptr if there is none. The caller may read it or move from it.
    [[nodiscard]] T* front() noexcept {
        const typename RoleCheck::Scope consumer(consumerRole_, oneConsumer);
        return oldestOrNull();
    }

    /// Destroys the message that front() returned.
    void popFront() noexcept {
        const typename RoleCheck::Scope consumer(consumerRole_, oneConsumer);
        dropOldest();
    }

    /// Takes all queued messages, in constant time.
    [[nodiscard]] Batch takeAll() {
        const typename RoleCheck::Scope consumer(consumerRole_, oneConsumer);
        const Guard guard(lock_);
        const Index tail = tail_.load(std::memory_order_relaxed);
        const std::size_t positions =
            Positions::distance(head_.load(std::memory_order_relaxed), tail);
        return positions == 0 ? Batch() : handOver(guard, positions, tail);
    }

    // ---- Anybody

    /// Refuses later pushes. A push that runs at the same time is either refused, or accepted and
    /// delivered. May be called repeatedly.
    void close() noexcept {
        const Guard guard(lock_);
        closed_.store(true, std::memory_order_release);  // E3 close
    }

    [[nodiscard]] bool isClosed() const noexcept { return closed_.load(std::memory_order_acquire); }

    /// Whether the queue is closed, nothing is in it, and no push is under way. Once true, it stays
    /// true. Messages that were handed over do not count.
    [[nodiscard]] bool isDrained() const noexcept {
        // A claim and close() take the same lock, so no claim follows the closed flag.
        return isClosed() &&
               tail_.load(std::memory_order_acquire) == head_.load(std::memory_order_acquire);
    }

    /// The number of messages that were queued or being pushed, approximately at some moment during
    /// the call. It is never more than capacity().
    [[nodiscard]] std::size_t sizeApprox() const noexcept {
        // Acquire: a thread that counts a message as removed also sees its handler's writes. Head
        // comes first: if tail moves on in between, the difference only becomes larger. The limit
        // bounds it.
        const Index head = head_.load(std::memory_order_acquire);
        const Index tail = tail_.load(std::memory_order_acquire);
        return std::min(Positions::distance(head, tail), limit_);
    }

    /// The limit. Without a limit, the largest number of messages that the positions can count.
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
    static constexpr Index first = static_cast<Index>(Traits::firstPosition);
    static_assert(!Positions::isMarked(first), "firstPosition of the traits must be even");

    static constexpr std::size_t keptSegments =
        std::max<std::size_t>(Traits::keptBytes / sizeof(Segment), 1);

    struct Claim {
        Slot* slot = nullptr;
        unsigned char filled = 0;
        unsigned char skipped = 0;
    };

    /// Tells the consumer about a claimed slot, also when the constructor throws.
    struct Publication {
        Atomic<unsigned char>& word;
        unsigned char state;
        ~Publication() { word.store(state, std::memory_order_release); }  // E1 publish
    };

    /// The oldest slot while it is handled. The end destroys the message and passes the slot.
    struct Passed {
        Cursor& reader;
        typename Segment::Cell* cell;
        Atomic<Index>* head;
        Index after;
        ~Passed() {
            if (cell != nullptr) {
                cell->destroyAndOwnLines();
            }
            reader.advance();
            head->store(after, std::memory_order_release);
        }
    };

    static std::size_t checkedLimit(std::size_t limit) {
        detail::requireAtLeast("limit of a SegmentQueue is too small", limit, 1);
        return std::min(limit, Positions::maxCapacity);
    }

    SendResult admit(Claim& claim) {
        for (;;) {
            {
                const Guard guard(lock_);
                // Relaxed, both: written under the lock.
                if (closed_.load(std::memory_order_relaxed)) {
                    return SendResult::closed;
                }
                const Index tail = tail_.load(std::memory_order_relaxed);
                if (!hasRoom(guard, tail)) {
                    return SendResult::full;
                }
                if (tailIndex_ != Segment::slotCount || linkFreeSegment(guard)) {
                    claim = Claim{&tailSegment_->slots[tailIndex_++], tailSegment_->filled(),
                                  tailSegment_->skipped()};
                    tail_.store(Positions::next(tail), std::memory_order_release);
                    return SendResult::ok;
                }
            }
            // The memory resource is user code, so it is called without the lock. If several
            // producers get here at once, later claims use the other segments.
            Segment* const spare = Segment::create(memory_);
            const Guard guard(lock_);
            addFree(guard, spare);
        }
    }

    bool hasRoom(const Guard& /*guard*/, Index tail) noexcept {
        if (Positions::distance(headCopy_, tail) >= limit_) {
            // Relaxed: only the number matters. E2 orders the reuse of slots.
            headCopy_ = head_.load(std::memory_order_relaxed);
        }
        return Positions::distance(headCopy_, tail) < limit_;
    }

    bool linkFreeSegment(const Guard& /*guard*/) noexcept {
        Segment* const segment = free_;
        if (segment == nullptr) {
            return false;
        }
        free_ = segment->nextFree;
        --freeCount_;
        segment->next.store(nullptr, std::memory_order_relaxed);  // relaxed, both: published by E4
        segment->passed.store(0, std::memory_order_relaxed);
        segment->lap ^= 1U;
        tailSegment_->next.store(segment, std::memory_order_release);  // E4 link
        tailSegment_ = segment;
        tailIndex_ = 0;
        return true;
    }

    T* oldestOrNull() noexcept {
        Index head = head_.load(std::memory_order_relaxed);  // own variable
        const Index tail = tail_.load(std::memory_order_acquire);
        for (; head != tail; head = Positions::next(head)) {
            Slot& slot = reader_.slot(recycler());
            const unsigned char state = slot.state.load(std::memory_order_acquire);  // E1 publish
            if (!reader_.isSkipped(state)) {
                return reader_.isFilled(state) ? std::addressof(slot.cell.get()) : nullptr;
            }
            const Passed nothing{reader_, nullptr, &head_, Positions::next(head)};
        }
        return nullptr;
    }
    void dropOldest() noexcept {
        const Index head = head_.load(std::memory_order_relaxed);  // own variable
        Slot& slot = reader_.slot(recycler());
        const Passed oldest{reader_, &slot.cell, &head_, Positions::next(head)};
    }

    void addFree(const Guard& /*guard*/, Segment* segment) noexcept {
        segment->nextFree = std::exchange(free_, segment);
        ++freeCount_;
    }

    /// Keeps a segment that has been read to its end. If enough are kept, returns it instead.
    void recycle(Segment* segment) noexcept {
        {
            const Guard guard(lock_);
            if (freeCount_ < keptSegments) {
                addFree(guard, segment);
                return;
            }
        }
        Segment::destroy(segment, memory_);
    }

    auto recycler() noexcept {
        return [this](Segment* segment) noexcept { recycle(segment); };
    }

    Batch handOver(const Guard& /*guard*/, std::size_t positions, Index tail) noexcept {
        // The batch begins at the reader's position. The reader goes on where the batch ends.
        Batch batch(*this, reader_, positions);
        reader_ = Cursor(tailSegment_, tailIndex_);
        head_.store(tail, std::memory_order_release);
        return batch;
    }

    // Written under the lock.
    alignas(Traits::cacheLineSize) alignas(Lock) mutable Lock lock_;
    Atomic<bool> closed_{false};
    Atomic<Index> tail_{first};
    Index headCopy_{first};
    std::size_t limit_;
    std::pmr::memory_resource* memory_;
    Segment* tailSegment_;
    std::size_t tailIndex_ = 0;
    Segment* free_ = nullptr;    // segments that hold nothing, linked by nextFree
    std::size_t freeCount_ = 0;  // the number of free segments

    // Written by the consumer.
    alignas(Traits::cacheLineSize) alignas(Cursor) Atomic<Index> head_{first};
    Cursor reader_;
    RoleCheck consumerRole_;
    Atomic<std::size_t> batches_{0};
};

}  // namespace sluice

#include <sluice/queue/detail/segment_batch.hpp>
