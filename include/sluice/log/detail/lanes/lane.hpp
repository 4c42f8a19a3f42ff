#pragma once

#include <sluice/base/asymmetric_fence.hpp>
#include <sluice/base/backoff.hpp>
#include <sluice/base/cache_line.hpp>
#include <sluice/base/napping_backoff.hpp>
#include <sluice/base/ring_positions.hpp>
#include <sluice/log/detail/lanes/lane_parts.hpp>
#include <sluice/log/detail/lanes/record.hpp>
#include <sluice/log/detail/lanes/stamp_clock.hpp>
#include <sluice/log/detail/lanes/thread_life.hpp>
#include <sluice/wait/event_count.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>

namespace sluice::log::detail {

/// The records of one thread on their way to the back end.
///
/// Purpose: a ring of bytes with one writer (the owner) and one reader (the back end), whose
/// records carry stamps in ascending order, and whose word tells whether one is being stamped.
///
/// Who may call what: the members under "Owner" by the owning thread, those under "Back end" by one
/// thread at a time, the rest by anybody. Between enter() and leave() the owner uses the lane; a
/// signal handler that interrupts it finds that out by enter() and goes elsewhere.
///
/// Progress: posting is wait-free while there is room. An owner that is stopped between announcing
/// and publishing (a window without calls, locks or page faults of its own) holds back the records
/// of all lanes that are stamped later, and nothing else. Evicting and copying exclude each other
/// by a claim, held for as long as the copying of a few records takes; one side that is preempted
/// then keeps the other waiting.
///
/// Capacity: `messages` records and `bytes` bytes, both exact. The bytes are allocated by the
/// constructor, half of them for records that begin near the end of the ring: a record lies in one
/// piece wherever it begins. Memory that no record has reached is not touched, and an empty lane
/// begins again at the beginning of the ring, so a thread that logs little uses little of it. A
/// record larger than `bytes` brings a block of its own, at most one of them at a time.
///
/// Invariants: released <= read <= published, in records and in bytes; published - released is at
/// most the limit, in both. Keys ascend, except when the clock starts again. word = published << 1
/// | announced.
///
/// Edges: E1 announce: the exchange of the word -> whoever reads the clock after having seen the
/// word unchanged; the argument about clocks is in docs/algorithms/ordered-log.md. E2 publish:
/// record written -> word release .. word acquire -> record read. E3 reuse: record read -> released
/// release .. released acquire -> record overwritten. E4 claim: records copied or evicted -> claim
/// release .. claim acquire -> records evicted or copied. E5 leave: last use by the owner -> left
/// release .. left acquire -> the lane is somebody else's.
///
/// Tests: tests/model/log_intake_model_test.cpp, tests/stress/log_order_stress_test.cpp, and those
/// of Intake.
template <class Traits>
class Lane {
    using Platform = typename Traits::Platform;
    using Clock = typename Traits::Clock;
    template <class T>
    using Atomic = typename Platform::template Atomic<T>;

public:
    static constexpr std::uint64_t announced = 1;

    /// So many bytes are written before the owner asks whether the lane is empty.
    static constexpr std::size_t step = 8192;

    explicit Lane(const LaneLimits& limits)
        : limits_(limits),
          mask_(roundUpToPowerOfTwo(limits.bytes) - 1),
          ring_(new std::byte[mask_ + 1 + limits.bytes]) {}
    Lane(const Lane&) = delete;
    Lane& operator=(const Lane&) = delete;

    /// Nobody uses it any more.
    ~Lane() { dropRecords(); }

    // ---- Owner

    /// Whether the lane may be used: false while the thread is using it already, that is in a
    /// signal handler or a callback. leave() must follow.
    bool enter() noexcept {
        // Relaxed, and compiler barriers: only the thread itself reads it, in its handlers.
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

    /// Where the next record may be written, or null when it does not fit.
    std::byte* place(std::size_t footprint) noexcept {
        // Relaxed: the owner reads what it has written itself.
        const std::uint64_t tail = tail_.load(std::memory_order_relaxed);
        const std::uint64_t count = word_.load(std::memory_order_relaxed) >> 1U;
        if (__builtin_expect(tail + footprint > tailLimit_ || count == countLimit_, 0)) {
            return placeBeyond(footprint);
        }
        return ring_.get() + (tail & mask_);
    }

    /// The same, also for records with a block of their own.
    std::byte* place(const Room& room) noexcept {
        noteReleased();
        const bool tooManyLarge = room.isLarge && largeBefore_ + limits_.messages > countLimit_;
        return tooManyLarge ? nullptr : place(room.footprint);
    }

    /// Stamps and publishes the record that was written, all but its key, to place(). Returns the
    /// key, or endOfTime if the intake was closed; then nothing has happened.
    Key publish(std::byte* place, const Atomic<bool>& closed) noexcept {
        // Relaxed: the owner reads what it has written itself.
        const std::uint64_t word = word_.load(std::memory_order_relaxed);
        const std::uint64_t tail = tail_.load(std::memory_order_relaxed);
        auto& header = const_cast<RecordHeader&>(headerAt(place));
        recordAt_ = tail;

        const Key key = Clock::announceThenNow(word_, word | announced);  // E1
        if (__builtin_expect(closed.load(std::memory_order_seq_cst), 0)) {
            word_.store(word, std::memory_order_relaxed);  // relaxed: nothing was published
            return endOfTime;
        }
        header.key = key;
        // Relaxed: E2 follows.
        tail_.store(tail + header.footprint(), std::memory_order_relaxed);
        word_.store(word + 2, std::memory_order_release);  // E2
        return key;
    }

    /// To be called after publish() for a record with a block of its own.
    void notePublishedLarge() noexcept { largeBefore_ = published(); }

    /// Drops the oldest records until there is room; false when there is none to be had since the
    /// back end has the oldest in hand. From the first call on the back end takes copies.
    bool evictFor(const Room& room) noexcept {
        // Relaxed: the claim decides; this is for the next time the back end has it.
        copies_.store(1, std::memory_order_relaxed);
        if (!claim(LaneClaim::evicting)) {
            return false;
        }
        std::uint64_t evicted = 0;
        while (place(room) == nullptr) {
            const std::byte* const oldest = at(releasedBytes());
            if (headerAt(oldest).isLarge()) {
                LargePayload::free(largePayloadAt(oldest, limits_.headSize));
            }
            release(releasedBytes() + headerAt(oldest).footprint(), releasedCount() + 1);
            ++evicted;
        }
        reclaim(LaneClaim::none);
        add(overrun_, evicted);
        return true;
    }

    /// Sleeps until half of the lane is free and the record fits, or `closed`. Half of it, since
    /// waking a thread for every record costs more than the record.
    void awaitRoom(const Room& room, const Atomic<bool>& closed) noexcept {
        // Relaxed: no data follows, and the event count looks again after close().
        const auto ready = [&]() noexcept {
            return closed.load(std::memory_order_relaxed) ||
                   (place(room) != nullptr && isHalfFree(releasedCount(), releasedBytes()));
        };
        BasicBackoff<Platform> backoff;
        while (!backoff.isYielding()) {
            if (ready()) {
                return;
            }
            backoff.wait();
        }
        room_.await(ready);
    }

    /// Sleeps until half of the lane is free, or `closed`. For a lane that several threads use.
    void awaitHalfFree(const Atomic<bool>& closed) noexcept {
        room_.await([&]() noexcept {
            return closed.load(std::memory_order_relaxed) ||  // relaxed: see awaitRoom()
                   isHalfFree(releasedCount(), releasedBytes());
        });
    }

    void countDiscarded() noexcept { add(discarded_, 1); }

    /// By the thread that owns the lane from now on.
    void begin(const LaneInfo& info) noexcept {
        info_ = info;
        life_.begin();
    }

    /// By the owner, which is ending. An announced record, of a thread that was cancelled, is lost.
    void end() noexcept {
        giveUpAnnounced();
        life_.end();
        leave();
        left_.store(1, std::memory_order_release);  // E5
    }

    // ---- Back end

    /// The word, seen at a moment after the load before it and before the one after it.
    [[nodiscard]] std::uint64_t look() const noexcept {
        return word_.load(std::memory_order_seq_cst);  // E2
    }

    /// Takes the lane's oldest records in hand. For the owner: false when the back end has them in
    /// place, else true soon. For the back end always true.
    bool claim(LaneClaim wanted) noexcept {
        BasicNappingBackoff<Platform> backoff;
        LaneClaim found = LaneClaim::none;
        while (!claim_.compare_exchange_weak(found, wanted, std::memory_order_acquire,
                                             std::memory_order_relaxed)) {  // E4
            if (found == LaneClaim::inPlace) {
                return false;
            }
            if (found != LaneClaim::none) {
                backoff.wait();
            }
            found = LaneClaim::none;
        }
        return true;
    }
    void reclaim(LaneClaim claim) noexcept {
        claim_.store(claim, std::memory_order_release);
    }  // E4

    /// Whether records may be evicted, so that they must be copied before they are used.
    [[nodiscard]] bool mayEvict() const noexcept {
        return copies_.load(std::memory_order_relaxed) != 0;  // relaxed: see evictFor()
    }

    [[nodiscard]] const std::byte* at(std::uint64_t position) const noexcept {
        return ring_.get() + (position & mask_);
    }
    // Relaxed: whoever asks has the claim, or wants a number.
    [[nodiscard]] std::uint64_t releasedBytes() const noexcept {
        return releasedBytes_.load(std::memory_order_relaxed);
    }
    [[nodiscard]] std::uint64_t releasedCount() const noexcept {
        return releasedCount_.load(std::memory_order_relaxed);
    }

    /// Everything up to here is no longer used. Under the claim.
    void release(std::uint64_t bytes, std::uint64_t count) noexcept {
        releasedBytes_.store(bytes, std::memory_order_release);  // E3
        releasedCount_.store(count, std::memory_order_release);  // E3
    }

    /// To be called after release(), without the claim.
    void tellRoom() noexcept {
        if (isHalfFree(releasedCount(), releasedBytes())) {
            room_.notifyAll();
        }
    }
    void wakeOwner() noexcept { room_.notifyAll(); }

    [[nodiscard]] bool hasLeft() const noexcept {
        return left_.load(std::memory_order_acquire) != 0;  // E5
    }

    /// Whether the owner has gone without a word. Then the lane is as after end().
    bool buryIfDead() noexcept {
        if (hasLeft() || !life_.isOver()) {
            return false;
        }
        giveUpAnnounced();
        leave();
        left_.store(1, std::memory_order_relaxed);  // relaxed: read by the same thread
        return true;
    }

    [[nodiscard]] LaneMarks<Platform>& marks() noexcept { return marks_; }

    // ---- Between two owners, or while the owner's posts are over

    /// Makes the lane ready for another owner: it is empty, and its counts have been taken.
    void reset() noexcept {
        left_.store(0, std::memory_order_relaxed);  // relaxed: handed on under a lock
        copies_.store(0, std::memory_order_relaxed);
        discarded_.store(0, std::memory_order_relaxed);
        overrun_.store(0, std::memory_order_relaxed);
        lost_.store(0, std::memory_order_relaxed);
        publishedBefore_ = published();
        marks_.reset();
    }

    /// In the child of a fork, where nobody else runs: the records are the parent's to write, the
    /// half-made one of a thread that is not here is lost, and only the caller owns a lane still.
    /// Counts start anew.
    void resetInChild(bool isOwn, bool isShared) noexcept {
        reset();
        life_.forget();
        if (isOwn) {
            life_.begin();
        } else {
            giveUpAnnounced();
            leave();
            left_.store(isShared ? 0 : 1, std::memory_order_relaxed);  // relaxed: as in reset()
        }
        const bool isHalfMade = (word_.load(std::memory_order_relaxed) & announced) != 0;
        release(isHalfMade ? recordAt_ : tail(), published());
        reclaim(LaneClaim::none);
        tailLimit_ = 0;  // the next record looks again
    }

    /// The records are destroyed; nothing will be written any more.
    void freeRing() noexcept {
        dropRecords();
        ring_.reset();
    }

    /// Destroys the records.
    void dropRecords() noexcept {
        std::uint64_t position = releasedBytes();
        const std::uint64_t count = published();
        for (std::uint64_t i = releasedCount(); i != count; ++i) {
            if (headerAt(at(position)).isLarge()) {
                LargePayload::free(largePayloadAt(at(position), limits_.headSize));
            }
            position += headerAt(at(position)).footprint();
        }
        release(position, count);
    }

    // ---- Anybody: numbers, each as of some moment during the call

    [[nodiscard]] const LaneInfo& info() const noexcept { return info_; }
    [[nodiscard]] const LaneMarks<Platform>& marks() const noexcept { return marks_; }
    [[nodiscard]] const LaneLimits& limits() const noexcept { return limits_; }
    // Relaxed, all: no data follows a number.
    [[nodiscard]] std::uint64_t logged() const noexcept { return published() - publishedBefore_; }
    [[nodiscard]] std::uint64_t discarded() const noexcept {
        return discarded_.load(std::memory_order_relaxed);
    }
    [[nodiscard]] std::uint64_t overrun() const noexcept {
        return overrun_.load(std::memory_order_relaxed);
    }
    [[nodiscard]] std::uint64_t lost() const noexcept {
        return lost_.load(std::memory_order_relaxed);
    }
    [[nodiscard]] std::uint64_t published() const noexcept {
        return word_.load(std::memory_order_relaxed) >> 1U;
    }
    [[nodiscard]] Occupancy occupancy() const noexcept {
        // What was released is read first: both only grow, so no difference is negative.
        const std::uint64_t count = releasedCount_.load(std::memory_order_acquire);  // E3
        const std::uint64_t bytes = releasedBytes_.load(std::memory_order_acquire);  // E3
        return {static_cast<std::size_t>(published() - count),
                std::min(static_cast<std::size_t>(tail() - bytes), limits_.bytes)};
    }
    [[nodiscard]] std::uint64_t tail() const noexcept {
        return tail_.load(std::memory_order_relaxed);
    }

private:
    static void add(Atomic<std::uint64_t>& count, std::uint64_t n) noexcept {
        // Relaxed: one writer, and no data follows a count.
        count.store(count.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
    }

    void noteReleased() noexcept {
        tailLimit_ = releasedBytes_.load(std::memory_order_acquire) + limits_.bytes;      // E3
        countLimit_ = releasedCount_.load(std::memory_order_acquire) + limits_.messages;  // E3
    }

    /// As place(), with a look at what was released. Until the ring has been used once as a whole
    /// the owner comes here once in `step` bytes, so that it begins again where it has been.
    [[gnu::cold, gnu::noinline]] std::byte* placeBeyond(std::size_t footprint) noexcept {
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

    /// The next record begins at the beginning of the ring again, if no record is waiting. So a
    /// thread that logs little touches little memory. Under the claim, as if it evicted.
    void restartIfEmpty() noexcept {
        LaneClaim found = LaneClaim::none;
        if ((tail() & mask_) < step ||
            !claim_.compare_exchange_strong(found, LaneClaim::evicting, std::memory_order_acquire,
                                            std::memory_order_relaxed)) {  // E4
            return;
        }
        if (releasedCount() == published()) {
            const std::uint64_t next = (tail() | mask_) + 1;
            // Relaxed: E3 publishes it to those who ask for numbers.
            tail_.store(next, std::memory_order_relaxed);
            release(next, published());
        }
        reclaim(LaneClaim::none);
    }

    /// Half of the limits, if this is what was given back.
    [[nodiscard]] bool isHalfFree(std::uint64_t count, std::uint64_t bytes) const noexcept {
        return published() - count <= limits_.messages - limits_.messages / 2 &&
               tail() - bytes <= limits_.bytes - limits_.bytes / 2;
    }

    void giveUpAnnounced() noexcept {
        const std::uint64_t word = word_.load(std::memory_order_relaxed);
        if ((word & announced) != 0) {
            tail_.store(recordAt_, std::memory_order_relaxed);
            word_.store(word & ~announced, std::memory_order_release);
            add(lost_, 1);
        }
    }

    // What the owner writes with every record. The back end reads the first two.
    alignas(cacheLineSize) Atomic<std::uint64_t> word_{0};
    Atomic<std::uint64_t> tail_{0};  // in bytes, like all positions
    std::uint64_t tailLimit_ = 0;    // room as far as the owner knows, or where it asks
    std::uint64_t countLimit_ = 0;
    std::uint64_t recordAt_ = 0;     // where the announced record begins
    std::uint64_t largeBefore_ = 0;  // the last record with a block of its own is before this
    Atomic<unsigned char> entered_{0};

    // What is hardly ever written.
    alignas(cacheLineSize) const LaneLimits limits_;
    const std::uint64_t mask_;
    std::unique_ptr<std::byte[]> ring_;
    Atomic<unsigned char> copies_{0};  // records may be evicted
    Atomic<unsigned char> left_{0};    // the owner has gone
    LaneInfo info_;

    // What the back end writes with every harvest; the owner reads it when the lane looks full.
    alignas(cacheLineSize) Atomic<std::uint64_t> releasedBytes_{0};
    Atomic<std::uint64_t> releasedCount_{0};
    Atomic<LaneClaim> claim_{LaneClaim::none};
    LaneMarks<Platform> marks_;

    // What is used when something is out of the ordinary.
    alignas(cacheLineSize) Atomic<std::uint64_t> discarded_{0};
    Atomic<std::uint64_t> overrun_{0};
    Atomic<std::uint64_t> lost_{0};
    std::uint64_t publishedBefore_ = 0;  // by former owners
    std::uint64_t used_ = 0;             // the highest place in the ring; the owner writes it
    BasicEventCount<Platform, typename Traits::Parker> room_;
    ThreadLife life_;
};

}  // namespace sluice::log::detail
