#pragma once

#include <sluice/base/cache_line.hpp>
#include <sluice/base/counter.hpp>
#include <sluice/base/ring_positions.hpp>
#include <sluice/base/spin_lock.hpp>
#include <sluice/log/detail/lanes/stamp_clock.hpp>
#include <sluice/log/statistics.hpp>
#include <sluice/wait/event_count.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

#if defined(__linux__)
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>
#else
#include <functional>
#include <thread>
#endif

namespace sluice::log::detail {

// ---- The layout of a record

/// The thread whose records a lane carries.
struct ThreadInfo {
    std::uint64_t threadId = 0;  ///< the system's number of the thread
    char threadName[16] = {};    ///< name of the thread at its first record
};

inline ThreadInfo thisThread() noexcept {
    ThreadInfo info;
#if defined(__linux__)
    info.threadId = static_cast<std::uint64_t>(::syscall(SYS_gettid));
    (void)::pthread_getname_np(::pthread_self(), info.threadName, sizeof info.threadName);
#else
    info.threadId = std::hash<std::thread::id>{}(std::this_thread::get_id());
#endif
    return info;
}

/// The first part of a record. The user's head follows, then ThreadInfo if the record is in the
/// shared lane, then the payload or the address of its block. Each begins at a multiple of 8.
struct RecordFrame {
    static constexpr std::uint32_t large = 1;    ///< the payload is in a block of its own
    static constexpr std::uint32_t foreign = 2;  ///< the record has a ThreadInfo
    static constexpr std::uint32_t flags = 7;

    Stamp stamp;
    std::uint32_t payloadSize;  ///< 0 if the payload has a block of its own
    /// Bytes of the record, a multiple of 8; the flags are in the low bits.
    std::uint32_t footprintAndFlags;

    [[nodiscard]] std::uint32_t footprint() const noexcept { return footprintAndFlags & ~flags; }
    [[nodiscard]] bool isLarge() const noexcept { return (footprintAndFlags & large) != 0; }
    [[nodiscard]] bool isForeign() const noexcept { return (footprintAndFlags & foreign) != 0; }
};

/// The block of a payload that is larger than a lane. The payload follows this header.
struct alignas(8) LargePayload {
    std::size_t size;
    LargePayload* next = nullptr;  ///< the next block that the back end will free

    /// Returns null if there is no memory.
    static LargePayload* make(std::size_t size) noexcept {
        if (size > static_cast<std::size_t>(-1) / 2) {
            return nullptr;
        }
        void* const place = ::operator new(sizeof(LargePayload) + size, std::nothrow);
        return place == nullptr ? nullptr : ::new (place) LargePayload{size};
    }
    static void free(LargePayload* payload) noexcept { ::operator delete(payload); }

    std::byte* bytes() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
};

/// A record as emit() receives it. Its pointers are valid until emitBefore() returns.
template <class Head>
struct Record {
    Stamp stamp;
    const Head& head;
    const std::byte* payload;  ///< at a multiple of 8
    std::size_t size;
    const ThreadInfo& lane;  ///< the thread that posted it
};

constexpr std::size_t roundUpTo8(std::size_t size) noexcept {
    return (size + 7) & ~std::size_t{7};
}

inline const RecordFrame& frameAt(const std::byte* record) noexcept {
    return *std::launder(reinterpret_cast<const RecordFrame*>(record));
}

/// Returns the block of a large record. `headSize` is the size of the user's head.
inline LargePayload* largePayloadAt(const std::byte* record, std::size_t headSize) noexcept {
    const std::size_t info = frameAt(record).isForeign() ? sizeof(ThreadInfo) : 0;
    return *std::launder(reinterpret_cast<LargePayload* const*>(record + sizeof(RecordFrame) +
                                                                roundUpTo8(headSize) + info));
}

/// Frees the block of a record, if the record has one.
inline void freeBlockOf(const std::byte* record, std::size_t headSize) noexcept {
    if (frameAt(record).isLarge()) {
        LargePayload::free(largePayloadAt(record, headSize));
    }
}

// ---- Numbers of a lane

struct LaneLimits {
    std::size_t messages;
    std::size_t bytes;     ///< a multiple of 8
    std::size_t headSize;  ///< bytes of the user's head
};

/// The bytes that a record takes in a lane, with its frame.
struct RecordSize {
    std::size_t footprint;
    bool isLarge;  ///< whether the payload is in a block of its own
};

/// The records in a lane, and their bytes.
struct Occupancy {
    std::size_t messages;
    std::size_t bytes;
};

struct LaneCounts {
    std::uint64_t logged = 0;    ///< accepted
    std::uint64_t rejected = 0;  ///< not accepted because there was no room
    std::uint64_t dropped = 0;   ///< accepted, then evicted by later records

    LaneCounts& operator+=(const LaneCounts& other) noexcept {
        logged += other.logged;
        rejected += other.rejected;
        dropped += other.dropped;
        return *this;
    }
    LaneCounts operator-(const LaneCounts& other) const noexcept {
        return {logged - other.logged, rejected - other.rejected, dropped - other.dropped};
    }
    void copyTo(lane_statistics& to) const noexcept {
        to.logged = logged;
        to.rejected = rejected;
        to.dropped = dropped;
    }
};

/// The maxima of one lane, or of all lanes. The back end writes them, and any thread reads them.
template <class Platform>
class LaneHighWater {
    using Number = SingleWriterNumber<Platform>;

public:
    void note(const Occupancy& found) noexcept {
        raise(messages_, found.messages);
        raise(bytes_, found.bytes);
    }
    /// Counts a stall when it begins.
    void noteStall() noexcept { stalls_.set(stalls_.get() + 1); }
    /// Notes the length of a stall: when it ends, and while it lasts.
    void noteStall(std::chrono::nanoseconds length) noexcept {
        raise(longestStall_, static_cast<std::uint64_t>(length.count()));
    }
    void reset() noexcept {
        for (Number* const number : {&messages_, &bytes_, &stalls_, &longestStall_}) {
            number->set(0);
        }
    }

    void copyTo(lane_statistics& to) const noexcept {
        to.high_water_messages = static_cast<std::size_t>(messages_.get());
        to.high_water_bytes = static_cast<std::size_t>(bytes_.get());
        to.stalls = stalls_.get();
        to.longest_stall = std::chrono::nanoseconds(static_cast<std::int64_t>(longestStall_.get()));
    }

private:
    static void raise(Number& mark, std::uint64_t value) noexcept {
        if (value > mark.get()) {
            mark.set(value);
        }
    }

    Number messages_;      ///< most records that a poll has found in one lane
    Number bytes_;         ///< most bytes that a poll has found in one lane
    Number stalls_;        ///< number of records that two polls in a row found announced
    Number longestStall_;  ///< longest time that a record stayed announced, in nanoseconds
};

/// The side that may use the oldest records of a lane.
enum class EvictionState : unsigned char {
    free,
    evicting,  ///< the owner evicts records
    copying,   ///< the back end copies a few records
    inPlace    ///< the back end reads the records in the lane, until it has emitted them
};

// ---- The lane

/// A ring of bytes that carries the records of one thread, its owner, to the back end. The owner
/// writes records with ascending stamps. The lane's word shows whether it is stamping one.
///
/// Thread safety: the owner calls the members under "Owner", one thread at a time those under "Back
/// end", and any thread the others. A post is wait-free while there is room. While one side evicts
/// or copies a few records, the other side waits for the eviction lock.
///
/// Capacity: `messages` records and `bytes` bytes, both exact. The ring has twice the bytes,
/// because a record near its end must be contiguous. When the lane is empty, the next record may
/// begin at the beginning of the ring, so a thread that logs little touches little memory. A record
/// larger than `bytes` has a block of its own; the lane holds at most one such record.
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

    /// Marks the lane as used, between two calls. A post whose payload logs finds it used.
    [[nodiscard]] bool isInUse() const noexcept { return isInUse_; }
    void setInUse(bool isInUse) noexcept { isInUse_ = isInUse; }

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

    /// Stamps and publishes the record at `record`, which is complete except for its stamp. Returns
    /// the stamp. If the queue was closed, it publishes nothing and returns endOfTime.
    Stamp publish(std::byte* record, const Atomic<bool>& closed) noexcept {
        // Relaxed: the owner reads its own writes.
        const std::uint64_t word = word_.load(std::memory_order_relaxed);
        const std::uint64_t tail = tail_.load(std::memory_order_relaxed);
        auto& frame = const_cast<RecordFrame&>(frameAt(record));

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

    /// Sleeps until half of the lane is free and the record fits, or until `closed`. A wake-up for
    /// each freed record would cost more than the record.
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
    void begin(const ThreadInfo& info) noexcept { info_ = info; }

    /// Called by the owner at its end.
    void end() noexcept { left_.store(1, std::memory_order_release); }  // E5

    // ---- Back end

    /// Reads the word. Earlier loads of the caller are over, and later loads have not begun.
    [[nodiscard]] std::uint64_t word() const noexcept {
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
    /// Keeps the owner from evicting until endInPlace(), so that the back end can read records in
    /// the lane.
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
    void notifyOfRoom() noexcept {
        if (isHalfFree(releasedCount(), releasedBytes())) {
            room_.notifyAll();
        }
    }
    void wakeOwner() noexcept { room_.notifyAll(); }

    [[nodiscard]] bool hasLeft() const noexcept {
        return left_.load(std::memory_order_acquire) != 0;  // E5
    }

    [[nodiscard]] LaneHighWater<Platform>& marks() noexcept { return marks_; }

    // ---- Between two owners, or after the last post of the owner

    /// Makes the empty lane ready for another owner.
    void reset() noexcept {
        left_.store(0, std::memory_order_relaxed);  // relaxed: the registry's lock orders it
        copies_.store(0, std::memory_order_relaxed);
        isInUse_ = false;
        marks_.reset();
    }

    /// Called in the child of a fork. Empties the lane, because the parent writes the records, also
    /// the one that another thread may be announcing. With `isOthers` the owner does not exist
    /// here.
    void resetInChild(bool isOthers) noexcept {
        const bool isInUse = isInUse_ && !isOthers;  // the forking thread may be in a post
        reset();
        isInUse_ = isInUse;
        // Relaxed, all: there is one thread.
        left_.store(isOthers ? 1 : 0, std::memory_order_relaxed);
        word_.store(word_.load(std::memory_order_relaxed) & ~announced, std::memory_order_relaxed);
        release(EvictionGuard(this), tail(), published());
        tailLimit_ = 0;  // so that the next record reads the released position again
    }

    /// Destroys the records and frees the memory. The owner writes no record afterwards.
    void freeRing() noexcept {
        dropRecords();
        ring_.reset();
    }

    // ---- Any thread: numbers, each as of some moment during the call

    [[nodiscard]] const ThreadInfo& info() const noexcept { return info_; }
    [[nodiscard]] const LaneHighWater<Platform>& marks() const noexcept { return marks_; }
    [[nodiscard]] const LaneLimits& limits() const noexcept { return limits_; }
    /// The sums over all owners of the lane.
    [[nodiscard]] LaneCounts counts() const noexcept {
        return {published(), rejected_.get(), dropped_.get()};
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
    // Invariants: released <= read <= published, in records and in bytes. published - released is
    // at most the limit, in both. Stamps ascend, except when the clock starts again. word =
    // published << 1 | announced.
    //
    // Edges: E1 announce: the exchange of the word -> a thread that reads the clock after it has
    // seen the word unchanged; docs/algorithms/ordered-log.md has the proof. E2 publish: record
    // written -> word release .. word acquire -> record read. E3 reuse: record read -> released
    // release .. released acquire -> record overwritten. E4 eviction: records copied or evicted ->
    // lock release .. lock acquire -> records evicted or copied. E5 leave: last use by the owner ->
    // left release .. left acquire -> first use by the next owner.

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

    /// Destroys the records, while no other thread uses the lane.
    void dropRecords() noexcept {
        std::uint64_t position = releasedBytes();
        const std::uint64_t count = published();
        for (std::uint64_t i = releasedCount(); i != count; ++i) {
            freeBlockOf(at(position), limits_.headSize);
            position += frameAt(at(position)).footprint();
        }
        release(EvictionGuard(this), position, count);
    }

    // The owner writes these with each record. The back end reads word_ and tail_. Positions are
    // counts of bytes since the lane was made.
    alignas(cacheLineSize) Atomic<std::uint64_t> word_{0};
    Atomic<std::uint64_t> tail_{0};  ///< position of the next record
    std::uint64_t tailLimit_ = 0;  ///< position; a record that ends beyond it calls reserveBeyond()
    std::uint64_t countLimit_ = 0;   ///< published() at which reserve() calls reserveBeyond()
    std::uint64_t largeBefore_ = 0;  ///< published() after the last record with a block of its own
    bool isInUse_ = false;           ///< whether the owner is in a post

    // Seldom written.
    alignas(cacheLineSize) const LaneLimits limits_;
    const std::uint64_t mask_;
    std::unique_ptr<std::byte[]> ring_;
    Atomic<unsigned char> copies_{0};  ///< whether the owner evicts; written by the owner
    Atomic<unsigned char> left_{0};    ///< whether the owner has ended
    ThreadInfo info_;

    // The back end writes these in each batch. The owner reads them when the lane looks full.
    alignas(cacheLineSize) Atomic<std::uint64_t> releasedBytes_{0};
    Atomic<std::uint64_t> releasedCount_{0};
    Atomic<EvictionState> evictionLock_{EvictionState::free};
    LaneHighWater<Platform> marks_;

    // The owner writes these in rare cases.
    alignas(cacheLineSize) SingleWriterCounter<Platform> rejected_;
    SingleWriterCounter<Platform> dropped_;
    std::uint64_t used_ = 0;  ///< the highest offset in the ring that was written to
    BasicEventCount<Platform, typename Traits::Parker> room_;  ///< the owner waits here for room
};

}  // namespace sluice::log::detail
