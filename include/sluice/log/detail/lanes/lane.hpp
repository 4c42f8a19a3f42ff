#pragma once

#include <sluice/base/counter.hpp>
#include <sluice/base/platform.hpp>
#include <sluice/base/ring_storage.hpp>
#include <sluice/base/spin_lock.hpp>
#include <sluice/log/detail/lanes/stamp_clock.hpp>
#include <sluice/log/statistics.hpp>
#include <sluice/wait/park.hpp>

#include <algorithm>
#include <atomic>
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

/// The thread whose records a lane carries, for statistics.
struct ThreadInfo {
    std::uint64_t threadId = 0;  ///< the operating system's thread id
    char threadName[16] = {};    ///< the thread's name when it first logged
};

inline ThreadInfo thisThread() noexcept {
    ThreadInfo info;
#if defined(__linux__)
    info.threadId = static_cast<std::uint64_t>(::syscall(SYS_gettid));
    (void)::pthread_getname_np(::pthread_self(), info.threadName, sizeof info.threadName);
#elif defined(_WIN32)
    info.threadId = ::GetCurrentThreadId();
#else
    info.threadId = std::hash<std::thread::id>{}(std::this_thread::get_id());
#endif
    return info;
}

/// The header of a record in a lane. The user's head follows the RecordFrame, and the payload or
/// the address of a LargePayload follows the head. Frame, head and payload are 8-byte aligned.
struct RecordFrame {
    static constexpr std::uint32_t large = 1;  ///< the payload is a LargePayload

    Stamp stamp;
    std::uint32_t payloadSize;       ///< 0 if large
    std::uint32_t footprintAndFlag;  ///< the record's bytes, a multiple of 8, plus the flag `large`

    [[nodiscard]] std::uint32_t footprint() const noexcept { return footprintAndFlag & ~large; }
    [[nodiscard]] bool isLarge() const noexcept { return (footprintAndFlag & large) != 0; }
};

/// The header of an allocated payload, for a record that is larger than a lane.
struct alignas(8) LargePayload {
    std::size_t size;
    LargePayload* next = nullptr;  ///< next in the back end's list of payloads to free

    /// Returns a payload of `size` bytes, or null if no memory is available.
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

/// A record that RecordQueue::emitBefore() passes to emit(). Valid until emitBefore() returns.
template <class Head>
struct Record {
    Stamp stamp;
    const Head& head;
    const std::byte* payload;  ///< aligned to 8 bytes
    std::size_t size;
};

constexpr std::size_t roundUpTo8(std::size_t size) noexcept {
    return (size + 7) & ~std::size_t{7};
}

inline const RecordFrame& frameAt(const std::byte* record) noexcept {
    return *std::launder(reinterpret_cast<const RecordFrame*>(record));
}

inline LargePayload* largePayloadAt(const std::byte* record, std::size_t headSize) noexcept {
    return *std::launder(reinterpret_cast<LargePayload* const*>(record + sizeof(RecordFrame) +
                                                                roundUpTo8(headSize)));
}

inline void freeBlockOf(const std::byte* record, std::size_t headSize) noexcept {
    if (frameAt(record).isLarge()) {
        LargePayload::free(largePayloadAt(record, headSize));
    }
}

// ---- Limits and counts of a lane

struct LaneLimits {
    std::size_t messages;
    std::size_t bytes;     ///< a multiple of 8
    std::size_t headSize;  ///< bytes of the user's head
};

struct RecordSize {
    std::size_t footprint;  ///< bytes in the lane, including the RecordFrame
    bool isLarge;           ///< the payload is a LargePayload
};

struct Occupancy {
    std::size_t messages;
    std::size_t bytes;
};

struct LaneCounts {
    std::uint64_t logged = 0;    ///< accepted
    std::uint64_t rejected = 0;  ///< refused: lane full or memory exhausted
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

/// The high-water marks of one lane or of all lanes. The back end updates the marks.
template <class Platform>
class LaneHighWater {
    using Number = SingleWriterNumber<Platform>;

public:
    void note(const Occupancy& found) noexcept {
        raise(messages_, found.messages);
        raise(bytes_, found.bytes);
    }
    void noteStall() noexcept { stalls_.set(stalls_.get() + 1); }
    void reset() noexcept {
        for (Number* const number : {&messages_, &bytes_, &stalls_}) {
            number->set(0);
        }
    }

    void copyTo(lane_statistics& to) const noexcept {
        to.high_water_messages = static_cast<std::size_t>(messages_.get());
        to.high_water_bytes = static_cast<std::size_t>(bytes_.get());
        to.stalls = stalls_.get();
    }

private:
    static void raise(Number& mark, std::uint64_t value) noexcept {
        if (value > mark.get()) {
            mark.set(value);
        }
    }

    Number messages_;  ///< most records that a poll found in a lane
    Number bytes_;     ///< most bytes that a poll found in a lane
    Number stalls_;    ///< posts that two successive polls found unfinished
};

/// The state of the eviction lock, which protects the oldest records of a lane.
enum class EvictionState : unsigned char {
    free,
    brief,   ///< the owner evicts a few records, or the back end copies a few
    inPlace  ///< the back end reads records directly from the lane; evictions fail
};

// ---- The lane

/// A byte ring that carries one thread's records to the back end in stamp order. A post announces,
/// stamps and publishes its record.
///
/// Thread safety: only the owning thread may call the members under "Owner", one thread at a time
/// those under "Back end", and any thread those under "Any thread". A post is wait-free if the lane
/// has space. Threads hold the eviction lock briefly, to evict or copy at most a few records.
///
/// Capacity: exactly `messages` records and `bytes` bytes. The ring's size is at least 2 * `bytes`,
/// because no record wraps. An empty lane restarts at the ring's beginning, so a thread that logs
/// little touches little memory. The lane holds at most one record with a LargePayload.
template <class Traits>
class RecordLane {
    using Platform = typename Traits::Platform;
    using Clock = typename Traits::Clock;
    using TimePoint = typename Platform::Clock::time_point;
    template <class T>
    using Atomic = typename Platform::template Atomic<T>;

public:
    static constexpr std::uint64_t announced = 1;

    /// The number of bytes between two attempts to restart at the ring's beginning.
    static constexpr std::size_t step = 8192;

    RecordLane(const LaneLimits& limits, const ThreadInfo& info)
        : limits_(limits),
          info_(info),
          mask_(roundUpToPowerOfTwo(limits.bytes) - 1),
          ring_(new std::byte[mask_ + 1 + limits.bytes]) {}

    struct UnlockEviction {
        void operator()(RecordLane* lane) const noexcept {
            lane->evictionLock_.store(EvictionState::free, std::memory_order_release);  // E4 evict
        }
    };
    /// Holds the eviction lock. Null if the back end reads records directly from the lane.
    using EvictionGuard = std::unique_ptr<RecordLane, UnlockEviction>;

    ~RecordLane() { dropRecords(); }

    // ---- Owner

    /// Returns true during a post, so that a nested log call can detect the outer call.
    [[nodiscard]] bool isInUse() const noexcept { return isInUse_; }
    void setInUse(bool isInUse) noexcept { isInUse_ = isInUse; }

    /// Returns the place of a record with `footprint` bytes, or null if the lane is full.
    std::byte* reserve(std::size_t footprint) noexcept {
        const std::uint64_t tail = tail_.load(std::memory_order_relaxed);         // own variable
        const std::uint64_t count = word_.load(std::memory_order_relaxed) >> 1U;  // own variable
        if (SLUICE_UNLIKELY(tail + footprint > tailLimit_ || count == countLimit_)) {
            return reserveBeyond(footprint);
        }
        return ring_.get() + (tail & mask_);
    }

    /// Like reserve(footprint), but allows only one record with a LargePayload in the lane.
    std::byte* reserve(const RecordSize& size) noexcept {
        noteReleased();
        const bool tooManyLarge = size.isLarge && largeBefore_ + limits_.messages > countLimit_;
        return tooManyLarge ? nullptr : reserve(size.footprint);
    }

    /// Stamps and publishes a filled record, and returns the stamp. If `closed` is true, returns
    /// endOfTime without publishing the record.
    Stamp publish(std::byte* record, const Atomic<bool>& closed) noexcept {
        const std::uint64_t word = word_.load(std::memory_order_relaxed);  // own variable
        const std::uint64_t tail = tail_.load(std::memory_order_relaxed);  // own variable
        auto& frame = const_cast<RecordFrame&>(frameAt(record));

        const Stamp stamp = Clock::announceThenNow(word_, word | announced);  // E1 announce
        if (SLUICE_UNLIKELY(closed.load(std::memory_order_seq_cst))) {        // E6 close
            word_.store(word, std::memory_order_relaxed);                     // value only
            return endOfTime;
        }
        frame.stamp = stamp;
        tail_.store(tail + frame.footprint(), std::memory_order_relaxed);  // by E2
        word_.store(word + 2, std::memory_order_release);                  // E2 publish
        return stamp;
    }

    /// Call notePublishedLarge() after publish() of a large record.
    void notePublishedLarge() noexcept { largeBefore_ = published(); }

    /// Evicts the oldest records until a record of `size` fits. Returns false if evict(record)
    /// returns false, or if the back end reads records directly from the lane.
    template <class Evict>
    bool evictFor(const RecordSize& size, Evict&& evict) noexcept {
        const EvictionGuard guard = lockEviction();
        bool mayEvict = guard != nullptr;
        while (mayEvict && reserve(size) == nullptr) {
            const std::byte* const oldest = at(releasedBytes());
            mayEvict = evict(oldest);
            if (mayEvict) {
                freeBlockOf(oldest, limits_.headSize);
                release(guard, releasedBytes() + frameAt(oldest).footprint(), releasedCount() + 1);
                dropped_.add(1);
            }
        }
        return mayEvict;
    }

    /// Waits until fits() is true and half of the lane is free, until `closed` is set, or until the
    /// time `until`. Waits for half, because a wake-up per record would cost more than the record.
    template <class Fits>
    void awaitRoom(const Atomic<bool>& closed, TimePoint until, Fits&& fits) noexcept {
        const auto ready = [&]() noexcept {
            return closed.load(std::memory_order_relaxed) ||  // value only
                   (isHalfFree(releasedCount(), releasedBytes()) && fits());
        };
        BasicBackoff<Platform> backoff;
        while (!backoff.isLong()) {
            if (ready()) {
                return;
            }
            backoff.wait();
        }
        static_cast<void>(room_.waitUntil(ready, until));
    }

    /// Cancels the announcement of an interrupted post that will never continue.
    void withdraw() noexcept {
        // Relaxed: own variable.
        word_.store(word_.load(std::memory_order_relaxed) & ~announced, std::memory_order_relaxed);
    }

    void countRejected() noexcept { rejected_.add(1); }

    void end() noexcept { left_.store(1, std::memory_order_release); }  // E5 leave

    // ---- Back end

    /// Reads word_ after all earlier loads of the caller and before all later loads.
    [[nodiscard]] std::uint64_t word() const noexcept {
        return word_.load(std::memory_order_seq_cst);  // E1, E2, E6
    }

    /// Waits for the eviction lock. Returns null if the back end reads records in the lane itself.
    EvictionGuard lockEviction() noexcept {
        BasicBackoff<Platform> backoff;
        EvictionState found = EvictionState::free;
        while (!evictionLock_.compare_exchange_weak(found, EvictionState::brief,
                                                    std::memory_order_acquire,     // E4 evict
                                                    std::memory_order_relaxed)) {  // retried
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
    /// Makes evictions fail until endInPlace(), so that the back end can read records in the lane.
    void beginInPlace(EvictionGuard guard) noexcept {
        // Relaxed: value only.
        guard.release()->evictionLock_.store(EvictionState::inPlace, std::memory_order_relaxed);
    }
    void endInPlace(std::uint64_t bytes, std::uint64_t count) noexcept {
        release(EvictionGuard(this), bytes, count);
    }

    [[nodiscard]] const std::byte* at(std::uint64_t position) const noexcept {
        return ring_.get() + (position & mask_);
    }
    [[nodiscard]] std::uint64_t releasedBytes() const noexcept {
        return releasedBytes_.load(std::memory_order_relaxed);  // eviction lock held, or value only
    }
    [[nodiscard]] std::uint64_t releasedCount() const noexcept {
        return releasedCount_.load(std::memory_order_relaxed);  // eviction lock held, or value only
    }

    void release(const EvictionGuard& /*guard*/, std::uint64_t bytes,
                 std::uint64_t count) noexcept {
        releasedBytes_.store(bytes, std::memory_order_release);  // E3 reuse
        releasedCount_.store(count, std::memory_order_release);  // E3 reuse
    }

    /// Wakes an owner in awaitRoom() if half of the lane is free. Call without an EvictionGuard.
    void notifyOfRoom() noexcept {
        if (isHalfFree(releasedCount(), releasedBytes())) {
            room_.notifyAll();
        }
    }
    void wakeOwner() noexcept { room_.notifyAll(); }

    [[nodiscard]] bool hasLeft() const noexcept {
        return left_.load(std::memory_order_acquire) != 0;  // E5 leave
    }

    [[nodiscard]] LaneHighWater<Platform>& marks() noexcept { return marks_; }

    // ---- When no thread uses the lane

    /// Empties the lane in a forked child, because the parent writes all records, even an announced
    /// record. `isOthers`: the owner does not exist in the child.
    void resetInChild(bool isOthers) noexcept {
        marks_.reset();
        left_.store(isOthers ? 1 : 0, std::memory_order_relaxed);  // not shared yet
        withdraw();
        release(EvictionGuard(this), tail(), published());
        tailLimit_ = 0;  // makes the next post call reserveBeyond()
    }

    void freeRing() noexcept {
        dropRecords();
        ring_.reset();
    }

    // ---- Any thread

    [[nodiscard]] const ThreadInfo& info() const noexcept { return info_; }
    [[nodiscard]] const LaneHighWater<Platform>& marks() const noexcept { return marks_; }
    [[nodiscard]] const LaneLimits& limits() const noexcept { return limits_; }
    [[nodiscard]] LaneCounts counts() const noexcept {
        return {published(), rejected_.get(), dropped_.get()};
    }
    [[nodiscard]] std::uint64_t published() const noexcept {
        return word_.load(std::memory_order_relaxed) >> 1U;  // value only
    }
    [[nodiscard]] Occupancy occupancy() const noexcept {
        // Released counts are read first: all counts only grow, so no difference is negative.
        const std::uint64_t count = releasedCount_.load(std::memory_order_acquire);  // E3 reuse
        const std::uint64_t bytes = releasedBytes_.load(std::memory_order_acquire);  // E3 reuse
        return {static_cast<std::size_t>(published() - count),
                std::min(static_cast<std::size_t>(tail() - bytes), limits_.bytes)};
    }
    [[nodiscard]] std::uint64_t tail() const noexcept {
        return tail_.load(std::memory_order_relaxed);  // value only
    }

private:
    // Happens-before edges (proof: docs/algorithms/ordered-log.md):
    //   E1 announce: publish <-> word.
    //   E2 publish: publish -> word.
    //   E3 reuse: release -> reserve.
    //   E4 evict: UnlockEviction -> lockEviction.
    //   E5 leave: end -> hasLeft.
    // Invariant: released <= read <= published <= released + limit, in records and in bytes.

    void noteReleased() noexcept {
        tailLimit_ = releasedBytes_.load(std::memory_order_acquire) + limits_.bytes;  // E3 reuse
        countLimit_ = releasedCount_.load(std::memory_order_acquire) + limits_.messages;  // E3
    }

    /// Reads the released position and reserves space. Until the whole ring was used, reserve()
    /// calls reserveBeyond() every `step` bytes, so that an empty lane restarts at the beginning.
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

    /// Moves an empty lane to the ring's beginning, unless the eviction lock is taken.
    void restartIfEmpty() noexcept {
        EvictionState found = EvictionState::free;
        if ((tail() & mask_) < step || !evictionLock_.compare_exchange_strong(
                                           found, EvictionState::brief, std::memory_order_acquire,
                                           std::memory_order_relaxed)) {  // E4 evict
            return;
        }
        const EvictionGuard guard(this);
        if (releasedCount() == published()) {
            const std::uint64_t next = (tail() | mask_) + 1;
            tail_.store(next, std::memory_order_relaxed);  // by E3
            release(guard, next, published());
        }
    }

    [[nodiscard]] bool isHalfFree(std::uint64_t count, std::uint64_t bytes) const noexcept {
        return published() - count <= limits_.messages - limits_.messages / 2 &&
               tail() - bytes <= limits_.bytes - limits_.bytes / 2;
    }

    void dropRecords() noexcept {
        std::uint64_t position = releasedBytes();
        const std::uint64_t count = published();
        for (std::uint64_t i = releasedCount(); i != count; ++i) {
            freeBlockOf(at(position), limits_.headSize);
            position += frameAt(at(position)).footprint();
        }
        release(EvictionGuard(this), position, count);
    }

    // The owner writes these fields with each record. Positions count bytes since the lane began.
    alignas(cacheLineSize) Atomic<std::uint64_t> word_{0};  ///< published() << 1 | announced
    Atomic<std::uint64_t> tail_{0};                         ///< position of the next record
    std::uint64_t tailLimit_ = 0;    ///< reserve() calls reserveBeyond() above this position
    std::uint64_t countLimit_ = 0;   ///< reserve() calls reserveBeyond() at this record count
    std::uint64_t largeBefore_ = 0;  ///< published() after the last large record
    bool isInUse_ = false;           ///< the owner is in a post

    // Rarely written.
    alignas(cacheLineSize) const LaneLimits limits_;
    const ThreadInfo info_;
    const std::uint64_t mask_;
    std::unique_ptr<std::byte[]> ring_;
    Atomic<unsigned char> left_{0};  ///< 1: the owner has ended

    // The back end writes these fields in each batch; the owner reads them if the lane is full.
    alignas(cacheLineSize) Atomic<std::uint64_t> releasedBytes_{0};
    Atomic<std::uint64_t> releasedCount_{0};
    Atomic<EvictionState> evictionLock_{EvictionState::free};
    LaneHighWater<Platform> marks_;

    // Only the owner writes the fields below, and rarely.
    alignas(cacheLineSize) SingleWriterCounter<Platform> rejected_;
    SingleWriterCounter<Platform> dropped_;
    std::uint64_t used_ = 0;  ///< the highest ring offset of any record so far
    BasicPark<Platform, typename Traits::Parker> room_{{0, 0}};  ///< the owner waits here for space
};

}  // namespace sluice::log::detail
