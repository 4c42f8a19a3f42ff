#pragma once

#include <sluice/base/asymmetric_fence.hpp>
#include <sluice/base/cache_line.hpp>
#include <sluice/base/counter.hpp>
#include <sluice/base/ring_positions.hpp>
#include <sluice/base/spin_lock.hpp>
#include <sluice/log/detail/lanes/lane_parts.hpp>
#include <sluice/log/detail/lanes/record.hpp>
#include <sluice/log/detail/lanes/stamp_clock.hpp>
#include <sluice/log/detail/lanes/thread_liveness.hpp>
#include <sluice/wait/event_count.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace sluice::log::detail {

/// A ring of bytes that carries the records of one thread to the back end.
///
/// One thread, the owner, writes records with ascending stamps. The back end reads them. The word
/// of the lane tells whether the owner is stamping a record.
///
/// Threads: the owner calls the members under "Owner". One thread at a time calls the members under
/// "Back end". Any thread may call the others. The owner uses the lane between enter() and leave().
/// A signal handler that interrupts the owner gets false from enter(), and uses another lane.
///
/// Progress: a post is wait-free while there is room. An owner that is stopped between announcing
/// and publishing delays records with later stamps, and nothing else, because in between it takes
/// no lock. While one side evicts or copies a few records, the other side waits for the eviction
/// lock.
///
/// Capacity: `messages` records and `bytes` bytes, both exact. The constructor allocates twice the
/// bytes, because a record near the end of the ring must lie in one piece. When the lane is empty,
/// the next record may begin at the beginning of the ring, so a thread that logs little touches
/// little memory. A record larger than `bytes` has a block of its own. The lane holds at most one
/// such record.
///
/// Invariants: released <= read <= published, in records and in bytes. published - released is at
/// most the limit, in both. Stamps ascend, except when the clock starts again. word = published <<
/// 1 | announced.
///
/// Edges: E1 announce: the exchange of the word -> a thread that reads the clock after it has seen
/// the word unchanged; docs/algorithms/ordered-log.md has the proof. E2 publish: record written ->
/// word release .. word acquire -> record read. E3 reuse: record read -> released release ..
/// released acquire -> record overwritten. E4 eviction: records copied or evicted -> lock release
/// .. lock acquire -> records evicted or copied. E5 leave: last use by the owner -> left release ..
/// left acquire -> first use by the next owner.
///
/// Tests: tests/model/log_queue_model_test.cpp, tests/stress/log_order_stress_test.cpp, and those
/// of RecordQueue.
template <class Traits>
class RecordLane {
    using Platform = typename Traits::Platform;
    using Clock = typename Traits::Clock;
    template <class T>
    using Atomic = typename Platform::template Atomic<T>;

public:
    static constexpr std::uint64_t announced = 1;

    /// The owner checks once in this many bytes whether the lane is empty.
    static constexpr std::size_t step = 8192;

    explicit RecordLane(const LaneLimits& limits)
        : limits_(limits),
          mask_(roundUpToPowerOfTwo(limits.bytes) - 1),
          ring_(new std::byte[mask_ + 1 + limits.bytes]) {}
    RecordLane(const RecordLane&) = delete;
    RecordLane& operator=(const RecordLane&) = delete;

    struct UnlockEviction {
        void operator()(RecordLane* lane) const noexcept {
            lane->evictionLock_.store(EvictionState::free, std::memory_order_release);  // E4
        }
    };
    /// The right to release the lane's oldest records. Null: the other side has the right.
    using EvictionGuard = std::unique_ptr<RecordLane, UnlockEviction>;

    /// While it runs, no thread uses the lane.
    ~RecordLane() { dropRecords(); }

    // ---- Owner

    /// False if the thread uses the lane already: then the caller is a signal handler or a
    /// callback. After true, leave() must follow.
    bool enter() noexcept {
        // Relaxed, with compiler barriers: only this thread and its signal handlers read it.
        if (__builtin_expect(entered_.load(std::memory_order_relaxed) != 0, 0)) {
            return false;
        }
        entered_.store(1, std::memory_order_relaxed);
        MembarrierFence::light();
        return true;
    }
    void leave() noexcept {
        MembarrierFence::light();
        entered_.store(0, std::memory_order_relaxed);
    }

    /// Returns room for the next record of `footprint` bytes. Null if there is no room.
    std::byte* reserve(std::size_t footprint) noexcept {
        // Relaxed: the owner reads its own writes.
        const std::uint64_t tail = tail_.load(std::memory_order_relaxed);
        const std::uint64_t count = word_.load(std::memory_order_relaxed) >> 1U;
        if (__builtin_expect(tail + footprint > tailLimit_ || count == countLimit_, 0)) {
            return reserveBeyond(footprint);
        }
        return ring_.get() + (tail & mask_);
    }

    /// The same, also for records with a block of their own.
    std::byte* reserve(const RecordSize& size) noexcept {
        noteReleased();
        const bool tooManyLarge = size.isLarge && largeBefore_ + limits_.messages > countLimit_;
        return tooManyLarge ? nullptr : reserve(size.footprint);
    }

    /// Stamps and publishes a record. The owner has written the whole record, except the stamp, to
    /// the address from reserve(). Returns the stamp. If the queue was closed, it publishes nothing
    /// and returns endOfTime.
    Stamp publish(std::byte* record, const Atomic<bool>& closed) noexcept {
        // Relaxed: the owner reads its own writes.
        const std::uint64_t word = word_.load(std::memory_order_relaxed);
        const std::uint64_t tail = tail_.load(std::memory_order_relaxed);
        auto& frame = const_cast<RecordFrame&>(frameAt(record));
        recordAt_ = tail;

        const Stamp stamp = Clock::announceThenNow(word_, word | announced);  // E1
        if (__builtin_expect(closed.load(std::memory_order_seq_cst), 0)) {
            word_.store(word, std::memory_order_relaxed);  // relaxed: nothing was published
            return endOfTime;
        }
        frame.stamp = stamp;
        // Relaxed: the release of E2 publishes it.
        tail_.store(tail + frame.footprint(), std::memory_order_relaxed);
        word_.store(word + 2, std::memory_order_release);  // E2
        return stamp;
    }

    /// Called after publish() of a record with a block of its own.
    void notePublishedLarge() noexcept { largeBefore_ = published(); }

    /// Evicts the oldest records until there is room. False if the back end is reading records in
    /// the lane. From the first call on the back end copies records before it uses them.
    bool evictFor(const RecordSize& size) noexcept {
        // Relaxed: the lock protects the records. The back end reads this before it locks again.
        copies_.store(1, std::memory_order_relaxed);
        const EvictionGuard guard = lockEviction(EvictionState::evicting);
        if (guard == nullptr) {
            return false;
        }
        std::uint64_t evicted = 0;
        while (reserve(size) == nullptr) {
            const std::byte* const oldest = at(releasedBytes());
            freeBlockOf(oldest, limits_.headSize);
            release(guard, releasedBytes() + frameAt(oldest).footprint(), releasedCount() + 1);
            ++evicted;
        }
        dropped_.add(evicted);
        return true;
    }

    /// Sleeps until half of the lane is free and the record fits, or until `closed`. To wake the
    /// thread for each free record would cost more than the record.
    void awaitRoom(const RecordSize& size, const Atomic<bool>& closed) noexcept {
        // Relaxed: no other data depends on it, and the event count reads it again after close().
        const auto ready = [&]() noexcept {
            return closed.load(std::memory_order_relaxed) ||
                   (reserve(size) != nullptr && isHalfFree(releasedCount(), releasedBytes()));
        };
        BasicBackoff<Platform> backoff;
        while (!backoff.isLong()) {
            if (ready()) {
                return;
            }
            backoff.wait();
        }
        room_.await(ready);
    }

    /// Sleeps until half of the lane is free, or until `closed`. For the shared lane.
    void awaitHalfFree(const Atomic<bool>& closed) noexcept {
        room_.await([&]() noexcept {
            return closed.load(std::memory_order_relaxed) ||  // relaxed: see awaitRoom()
                   isHalfFree(releasedCount(), releasedBytes());
        });
    }

    void countRejected() noexcept { rejected_.add(1); }

    /// Called by the new owner.
    void begin(const ThreadInfo& info) noexcept {
        info_ = info;
        liveness_.begin();
    }

    /// Called by the owner at its end. The announced record of a cancelled thread is lost.
    void end() noexcept {
        giveUpPost();
        liveness_.end();
        left_.store(1, std::memory_order_release);  // E5
    }

    // ---- Back end

    /// Reads the word. Earlier loads of the caller are over, and later loads have not begun.
    [[nodiscard]] std::uint64_t look() const noexcept {
        return word_.load(std::memory_order_seq_cst);  // E2
    }

    /// Waits for the right to release records. Returns null if the back end is reading records in
    /// the lane.
    EvictionGuard lockEviction(EvictionState wanted) noexcept {
        BasicBackoff<Platform> backoff;
        EvictionState found = EvictionState::free;
        while (!evictionLock_.compare_exchange_weak(found, wanted, std::memory_order_acquire,
                                                    std::memory_order_relaxed)) {  // E4
            if (found == EvictionState::inPlace) {
                return nullptr;
            }
            if (found != EvictionState::free) {
                backoff.wait();
            }
            found = EvictionState::free;
        }
        return EvictionGuard(this);
    }
    /// Lets the back end read records in the lane until endInPlace(). The owner cannot evict
    /// meanwhile.
    void beginInPlace(EvictionGuard guard) noexcept {
        // Relaxed: the owner only compares the value, and endInPlace() releases.
        guard.release()->evictionLock_.store(EvictionState::inPlace, std::memory_order_relaxed);
    }
    void endInPlace(std::uint64_t bytes, std::uint64_t count) noexcept {
        release(EvictionGuard(this), bytes, count);
    }

    /// Whether the owner may evict records. If so, the back end copies records before it uses them.
    [[nodiscard]] bool mayEvict() const noexcept {
        return copies_.load(std::memory_order_relaxed) != 0;  // relaxed: see evictFor()
    }

    [[nodiscard]] const std::byte* at(std::uint64_t position) const noexcept {
        return ring_.get() + (position & mask_);
    }
    // Relaxed: the caller has the eviction lock, or only shows the number.
    [[nodiscard]] std::uint64_t releasedBytes() const noexcept {
        return releasedBytes_.load(std::memory_order_relaxed);
    }
    [[nodiscard]] std::uint64_t releasedCount() const noexcept {
        return releasedCount_.load(std::memory_order_relaxed);
    }

    /// Frees the room of the records before this position.
    void release(const EvictionGuard& /*guard*/, std::uint64_t bytes,
                 std::uint64_t count) noexcept {
        releasedBytes_.store(bytes, std::memory_order_release);  // E3
        releasedCount_.store(count, std::memory_order_release);  // E3
    }

    /// Called after release(), without the eviction lock. Wakes the owner if half of the lane is
    /// free.
    void tellRoom() noexcept {
        if (isHalfFree(releasedCount(), releasedBytes())) {
            room_.notifyAll();
        }
    }
    void wakeOwner() noexcept { room_.notifyAll(); }

    [[nodiscard]] bool hasLeft() const noexcept {
        return left_.load(std::memory_order_acquire) != 0;  // E5
    }

    /// Ends the lane for an owner that died without end(). False if the owner lives, or has called
    /// end().
    bool endIfDead() noexcept {
        if (hasLeft() || !liveness_.hasDied()) {
            return false;
        }
        giveUpPost();
        left_.store(1, std::memory_order_relaxed);  // relaxed: read by the same thread
        return true;
    }

    [[nodiscard]] LaneHighWater<Platform>& marks() noexcept { return marks_; }

    // ---- Between two owners, or after the last post of the owner

    /// Makes the empty lane ready for another owner.
    void reset() noexcept {
        left_.store(0, std::memory_order_relaxed);  // relaxed: the registry's lock orders it
        copies_.store(0, std::memory_order_relaxed);
        marks_.reset();
    }

    /// Called in the child of a fork. Empties the lane, because the parent writes the records. A
    /// record that another thread was writing is lost. Counts begin at 0.
    void resetInChild(bool isOwn, bool isShared) noexcept {
        reset();
        liveness_.resetInChild();
        if (isOwn) {
            liveness_.begin();
        } else {
            giveUpPost();
            left_.store(isShared ? 0 : 1, std::memory_order_relaxed);  // relaxed: as in reset()
        }
        const bool isAnnounced = (word_.load(std::memory_order_relaxed) & announced) != 0;
        release(EvictionGuard(this), isAnnounced ? recordAt_ : tail(), published());
        tailLimit_ = 0;  // so that the next record reads the released position again
    }

    /// Destroys the records and frees the memory. The owner writes no record afterwards.
    void freeRing() noexcept {
        dropRecords();
        ring_.reset();
    }

    /// Destroys the records. Meanwhile no other thread uses the lane.
    void dropRecords() noexcept {
        std::uint64_t position = releasedBytes();
        const std::uint64_t count = published();
        for (std::uint64_t i = releasedCount(); i != count; ++i) {
            freeBlockOf(at(position), limits_.headSize);
            position += frameAt(at(position)).footprint();
        }
        release(EvictionGuard(this), position, count);
    }

    // ---- Any thread: numbers, each as of some moment during the call

    [[nodiscard]] const ThreadInfo& info() const noexcept { return info_; }
    [[nodiscard]] const LaneHighWater<Platform>& marks() const noexcept { return marks_; }
    [[nodiscard]] const LaneLimits& limits() const noexcept { return limits_; }
    /// The sums over all owners of the lane.
    [[nodiscard]] LaneCounts counts() const noexcept {
        return {published(), rejected_.get(), dropped_.get(), lost_.get()};
    }
    // Relaxed, both: no other data depends on a number.
    [[nodiscard]] std::uint64_t published() const noexcept {
        return word_.load(std::memory_order_relaxed) >> 1U;
    }
    [[nodiscard]] Occupancy occupancy() const noexcept {
        // The released position first: both only grow, so no difference is negative.
        const std::uint64_t count = releasedCount_.load(std::memory_order_acquire);  // E3
        const std::uint64_t bytes = releasedBytes_.load(std::memory_order_acquire);  // E3
        return {static_cast<std::size_t>(published() - count),
                std::min(static_cast<std::size_t>(tail() - bytes), limits_.bytes)};
    }
    [[nodiscard]] std::uint64_t tail() const noexcept {
        return tail_.load(std::memory_order_relaxed);
    }

private:
    void noteReleased() noexcept {
        tailLimit_ = releasedBytes_.load(std::memory_order_acquire) + limits_.bytes;      // E3
        countLimit_ = releasedCount_.load(std::memory_order_acquire) + limits_.messages;  // E3
    }

    /// The same as reserve(), after reading the released position. Until the owner has used the
    /// whole ring, reserve() calls it once in `step` bytes, so that the lane may begin again at the
    /// beginning of the ring.
    [[gnu::cold, gnu::noinline]] std::byte* reserveBeyond(std::size_t footprint) noexcept {
        restartIfEmpty();
        noteReleased();
        const std::uint64_t tail = this->tail();
        if (tail + footprint > tailLimit_ || published() == countLimit_) {
            return nullptr;
        }
        used_ = std::max(used_, tail & mask_);
        if (used_ + step <= mask_) {
            tailLimit_ = std::min(tailLimit_, tail + std::max(footprint, step));
        }
        return ring_.get() + (tail & mask_);
    }

    /// If the lane is empty, lets the next record begin at the beginning of the ring. It does not
    /// wait for the eviction lock.
    void restartIfEmpty() noexcept {
        EvictionState found = EvictionState::free;
        if ((tail() & mask_) < step ||
            !evictionLock_.compare_exchange_strong(found, EvictionState::evicting,
                                                   std::memory_order_acquire,
                                                   std::memory_order_relaxed)) {  // E4
            return;
        }
        const EvictionGuard guard(this);
        if (releasedCount() == published()) {
            const std::uint64_t next = (tail() | mask_) + 1;
            // Relaxed: E3 publishes it to threads that read the numbers.
            tail_.store(next, std::memory_order_relaxed);
            release(guard, next, published());
        }
    }

    /// Whether half of both limits is free, for this released position.
    [[nodiscard]] bool isHalfFree(std::uint64_t count, std::uint64_t bytes) const noexcept {
        return published() - count <= limits_.messages - limits_.messages / 2 &&
               tail() - bytes <= limits_.bytes - limits_.bytes / 2;
    }

    /// Takes back the announcement of a post that its thread cannot finish.
    void giveUpPost() noexcept {
        const std::uint64_t word = word_.load(std::memory_order_relaxed);
        if ((word & announced) != 0) {
            tail_.store(recordAt_, std::memory_order_relaxed);
            word_.store(word & ~announced, std::memory_order_release);
            lost_.add(1);
        }
        leave();
    }

    // The owner writes these with each record. The back end reads word_ and tail_. Positions are
    // counts of bytes since the lane was made.
    alignas(cacheLineSize) Atomic<std::uint64_t> word_{0};
    Atomic<std::uint64_t> tail_{0};  ///< position of the next record
    std::uint64_t tailLimit_ = 0;  ///< position; a record that ends beyond it calls reserveBeyond()
    std::uint64_t countLimit_ = 0;   ///< published() at which reserve() calls reserveBeyond()
    std::uint64_t recordAt_ = 0;     ///< position of the announced record
    std::uint64_t largeBefore_ = 0;  ///< published() after the last record with a block of its own
    Atomic<unsigned char> entered_{0};  ///< whether the owner is between enter() and leave()

    // Seldom written.
    alignas(cacheLineSize) const LaneLimits limits_;
    const std::uint64_t mask_;
    std::unique_ptr<std::byte[]> ring_;
    Atomic<unsigned char> copies_{0};  ///< whether the owner evicts; written by the owner
    Atomic<unsigned char> left_{0};    ///< whether the owner has ended
    ThreadInfo info_;

    // The back end writes these in each harvest. The owner reads them when the lane looks full.
    alignas(cacheLineSize) Atomic<std::uint64_t> releasedBytes_{0};
    Atomic<std::uint64_t> releasedCount_{0};
    Atomic<EvictionState> evictionLock_{EvictionState::free};
    LaneHighWater<Platform> marks_;

    // The owner writes these in rare cases.
    alignas(cacheLineSize) SingleWriterCounter<Platform> rejected_;
    SingleWriterCounter<Platform> dropped_;
    SingleWriterCounter<Platform> lost_;
    std::uint64_t used_ = 0;  ///< the highest offset in the ring that was written to
    BasicEventCount<Platform, typename Traits::Parker> room_;  ///< the owner waits here for room
    ThreadLiveness liveness_;
};

}  // namespace sluice::log::detail
