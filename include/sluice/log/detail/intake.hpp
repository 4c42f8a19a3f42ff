#pragma once

/// \file
/// Intake: where the records of all threads enter, and leave in the order of their stamps.
///
/// Purpose: each thread posts into a lane of its own; the back end emits the records of all lanes
/// in one order, in which a post that returned before another one began comes first.
///
/// Who may call what: the members under "Producers" and "Anybody" by any thread, also in signal
/// handlers, destructors of thread-local and static objects, and in the callbacks of post() and
/// emitBefore(); those under "Back end" by one thread at a time, and not from the callbacks.
///
/// Progress: a post is wait-free while its lane has room and the thread has a lane. A thread that
/// is stopped in the middle of a post holds the output back only if it is between its announcement
/// and its publication, some tens of nanoseconds without calls or locks: then no record with a
/// later stamp is emitted until it goes on, is found dead, or `maxHold` has passed. Posts go on
/// meanwhile as far as the lanes have room. A stopped back end lets the lanes become full.
///
/// Memory promise: what a thread wrote before post() is visible to the emit() of that record.
///
/// Order: emitBefore() emits keys in ascending order, over all calls, and each thread's records in
/// the order of its posts; a violation, possible only after `maxHold`, is counted. The stamp is
/// taken when the record has its room and is complete, so waiting does not make it old.
///
/// Capacity: per thread, in records and bytes, both exact. Allocation: a thread's first post makes
/// a lane, or takes over one that was left; a record larger than a lane allocates; nothing else
/// does. A lane is handed on or freed when its thread has ended and its records have been emitted.
///
/// Shutdown: after close() posts return `closed`, those that wait too; isDrained() tells when the
/// last record has been emitted. The destructor drops what is left; no call may be under way, but
/// the threads may live on.
///
/// Control: orders for the back end that belong at a moment between records (flush, retire) are not
/// records. They are kept in a list under a mutex, each with key = now() taken under that mutex.
/// The back end calls look() first, then takes the mutex and reads the list: an order it does not
/// find was stamped after that, hence after the look, so its key is not below the watermark. It is
/// carried out when the watermark has reached its key and hasBelow(key) is false: then all that was
/// posted before it, by any thread, has been emitted.
///
/// Origin of the order: announcements as in hazard pointers and epochs, applied to time stamps.
/// docs/algorithms/ordered-log.md has the protocol, the proof and the bounds.
///
/// Tests: tests/unit/log/intake_*_test.cpp, tests/stress/log_order_stress_test.cpp.

#include <sluice/base/backoff.hpp>
#include <sluice/base/role_check.hpp>
#include <sluice/log/detail/intake_options.hpp>
#include <sluice/log/detail/intake_statistics.hpp>
#include <sluice/log/detail/lane_book.hpp>
#include <sluice/log/detail/merge.hpp>
#include <sluice/log/detail/record.hpp>
#include <sluice/log/detail/record_writer.hpp>
#include <sluice/log/detail/stamp_clock.hpp>
#include <sluice/log/detail/watermark.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

namespace sluice::log::detail {

/// A record on its way out. What it points to is valid until emitBefore() returns.
template <class Head>
struct Record {
    Key key;
    const Head& head;
    const std::byte* payload;  ///< at a multiple of 8
    std::size_t size;
    const LaneInfo& lane;  ///< the thread that posted it
    bool hasWaited;        ///< the post found its lane full at first
};

template <class Head, class Traits = IntakeTraits>
class Intake {
    static_assert(std::is_trivially_copyable_v<Head> && alignof(Head) <= 8,
                  "Intake<Head>: a head is copied as bytes, to a multiple of 8");

    using Platform = typename Traits::Platform;
    using Clock = typename Traits::Clock;
    using Book = LaneBook<Traits>;
    using Lane = typename Book::Lane;
    using Threads = typename Book::Threads;
    using Reader = LaneReader<Traits>;
    using Writer = RecordWriter<Head, Traits>;
    using Outcome = typename Writer::Outcome;
    template <class T>
    using Atomic = typename Platform::template Atomic<T>;

public:
    using Record = detail::Record<Head>;
    using TimePoint = typename Platform::Clock::time_point;

    /// Refuses what IntakeOptions refuses, and lanes too small for an empty record.
    explicit Intake(const IntakeOptions& options = {})
        : book_(new Book(limitsOf(options.checked(Writer::leastBytes)), sharedLimits())),
          hash_(Threads::hash(book_)),
          back_(std::make_unique<BackEnd>(options.maxHold)),
          maxHold_(options.maxHold) {}
    Intake(const Intake&) = delete;
    Intake& operator=(const Intake&) = delete;

    ~Intake() {
        back_.reset();
        book_->abandon();
    }

    // ---- Producers

    /// Posts a record: `write(std::byte* to)` fills exactly `bytes` bytes at a multiple of 8. It
    /// may not throw; it may post. When it has been called and the intake is closed just then, the
    /// record is dropped all the same.
    ///
    /// `discarded`: there was no room, and the policy or the situation (a signal handler, a
    /// callback of a post, the back end's own thread) did not allow to wait for it; it has been
    /// counted.
    template <class Write>
    Posted post(const Head& head, std::size_t bytes, Overflow policy, Write&& write) {
        Lane* const lane = Threads::findFirst(book_, hash_);
        if (__builtin_expect(lane == nullptr || !lane->enter(), 0)) {
            return postElsewhere(head, bytes, policy, write);
        }
        return postToOwn(*lane, head, bytes, policy, write);
    }

    // ---- Back end

    /// Looks at all lanes once. Returns the watermark: all records with keys below it are visible.
    Key look() {
        const Inside inside(*this);
        const bool wasClosed = book_->closed().load(std::memory_order_seq_cst);
        const Key watermark = back_->watermark.look(*book_);
        back_->isSettled = wasClosed && !back_->watermark.anyAnnounced();
        return watermark;
    }

    /// Hands the visible records with keys below `limit` and the watermark, at most `max` of them,
    /// to emit(const Record&), the oldest first. Their room is given back when the call returns, so
    /// a `max` of some hundreds keeps producers going. emit() may not throw. Returns how many.
    template <class Emit>
    std::size_t emitBefore(Key limit, std::size_t max, Emit&& emit) {
        return emitBefore(limit, max, emit, [] {});
    }

    /// The same; calls finish() after the last of them, while all records of this call are valid.
    template <class Emit, class Finish>
    std::size_t emitBefore(Key limit, std::size_t max, Emit&& emit, Finish&& finish) {
        const Inside inside(*this);
        BackEnd& back = *back_;
        const Harvest harvest(back, std::min(limit, back.watermark.get()), max);
        std::size_t count = 0;
        for (; count < max && !back.merge.isEmpty(); ++count) {
            Reader& reader = back.merge.top();
            hand(back, reader.front(), reader.lane(), emit);
            if (reader.next(harvest.limit)) {
                back.merge.setTopKey(reader.key());
            } else {
                back.merge.removeTop();
            }
        }
        finish();
        add(back.emitted, count);
        return count;
    }

    /// Whether emitBefore(limit) would emit something.
    [[nodiscard]] bool hasBefore(Key limit) {
        const Inside inside(*this);
        return back_->watermark.hasBelow(std::min(limit, back_->watermark.get()));
    }

    /// Sleeps until there may be something to do: a record, a wake(), or the time. Records that a
    /// look() has seen and could not release count unless the watermark is held back by a thread;
    /// then the call returns after at most 20 ms, so that the thread can be looked after. Returns
    /// whether it was more than the time. Spins for some microseconds before it sleeps.
    bool waitForWork(TimePoint until) {
        const auto ready = [this] { return hasNews(); };
        BasicBackoff<Platform> backoff;
        for (unsigned yields = 0; yields < 4;) {
            if (ready()) {
                return takeNews();
            }
            yields += backoff.isYielding() ? 1 : 0;
            backoff.wait();
        }
        if (back_->watermark.isStalled()) {
            until = std::min(until, Platform::Clock::now() + std::chrono::milliseconds(20));
        }
        return book_->events().awaitUntil(ready, until) && takeNews();
    }

    /// Whether the intake was closed and its last record has been emitted.
    [[nodiscard]] bool isDrained() const {
        return back_->isSettled && !back_->watermark.hasRecords();
    }

    /// The calling thread is the back end no longer: its posts may wait for room again.
    void resign() noexcept {
        backEndThread_.store(nullptr, std::memory_order_relaxed);  // relaxed: see Inside
    }

    // ---- Anybody

    /// Ends a waitForWork(), the next one if none is under way.
    void wake() noexcept {
        woken_.store(1, std::memory_order_release);
        book_->events().notifyAll();
    }

    /// A key later than those of all posts that have returned before, and not later than those of
    /// all that begin afterwards.
    Key now() noexcept { return Clock::now() + 1; }

    /// Refuses posts from now on, those that wait included.
    void close() noexcept {
        book_->close();
        wake();
    }

    [[nodiscard]] IntakeStatistics statistics() const {
        return statistics([](const LaneStatistics&) {});
    }

    /// The same; visit(const LaneStatistics&) sees each lane that is there, under a lock.
    template <class Visit>
    IntakeStatistics statistics(Visit visit) const {
        IntakeStatistics sum;
        const LaneCounts counts = book_->counts([&](const auto& slot) {
            const LaneStatistics lane = statisticsOf(slot);
            sum.messages += lane.messages;
            sum.bytes += lane.bytes;
            if (&slot != &book_->shared()) {
                ++sum.lanes;
                visit(lane);
            }
        });
        static_cast<LaneCounts&>(sum) = counts;
        // Relaxed, all: mere numbers.
        const auto& marks = back_->watermark.marks();
        sum.highWaterMessages = marks.messages.load(std::memory_order_relaxed);
        sum.highWaterBytes = marks.bytes.load(std::memory_order_relaxed);
        sum.stalls = marks.stalls.load(std::memory_order_relaxed);
        sum.longestStall =
            std::chrono::nanoseconds(marks.longestStall.load(std::memory_order_relaxed));
        sum.ignoredStalls = back_->watermark.ignoredStalls();
        sum.deadThreads = back_->watermark.deadThreads();
        sum.emitted = back_->emitted.load(std::memory_order_relaxed);
        sum.orderViolations = back_->orderViolations.load(std::memory_order_relaxed);
        return sum;
    }

    /// Records evicted, and records refused for want of room, since the last reset: exact, whoever
    /// posts meanwhile. Statistics are not reset.
    [[nodiscard]] std::uint64_t overrun() const {
        return sinceReset(overrunBefore_, &LaneCounts::overrun);
    }
    [[nodiscard]] std::uint64_t discarded() const {
        return sinceReset(discardedBefore_, &LaneCounts::discarded);
    }
    void resetOverrun() { reset(overrunBefore_, &LaneCounts::overrun); }
    void resetDiscarded() { reset(discardedBefore_, &LaneCounts::discarded); }

    /// Lanes there are: owned, not yet emptied, and kept for new threads.
    [[nodiscard]] std::size_t laneCount() const noexcept { return book_->laneCount(); }

    // ---- Fork

    /// Around fork(): first this, on the thread that forks; then one of the following two.
    void beforeFork() noexcept { book_->lockForFork(); }
    void afterForkInParent() noexcept { book_->unlockAfterFork(); }

    /// Only the calling thread is there. What was posted before is the parent's to emit; what other
    /// threads had half made is counted as lost.
    void afterForkInChild() {
        // Not destroyed: the parent's back end may have been at work on it.
        (void)back_.release();
        back_ = std::make_unique<BackEnd>(maxHold_);
        book_->resetInChild();
        book_->unlockAfterFork();
    }

private:
    static constexpr const char* oneBackEnd =
        "a second back end, or a callback of the back end that calls it: let one thread at a time "
        "look, emit and wait";

    /// What only the back end uses.
    struct BackEnd {
        explicit BackEnd(std::chrono::nanoseconds maxHold) : watermark(maxHold) {}

        Watermark<Traits> watermark;
        Merge<Reader> merge;
        std::vector<Reader*> open;
        LargePayload* used = nullptr;  // large payloads that have been emitted
        Key last = 0;                  // the latest key that was emitted
        Atomic<std::uint64_t> emitted{0};
        Atomic<std::uint64_t> orderViolations{0};
        bool isSettled = false;  // closed, and the last record has been seen
    };

    /// The lanes that have something to emit, opened; closes them.
    struct Harvest {
        Harvest(BackEnd& b, Key l, std::size_t max) : back(b), limit(l) {
            back.merge.clear();
            back.open.clear();
            back.watermark.forEach([this, max](Reader& reader) {
                if (reader.open(limit, max)) {
                    back.open.push_back(&reader);
                    back.merge.add(reader.key(), reader);
                }
            });
        }
        Harvest(const Harvest&) = delete;
        Harvest& operator=(const Harvest&) = delete;
        ~Harvest() {
            for (Reader* const reader : back.open) {
                reader->close();
            }
            while (LargePayload* const payload = back.used) {
                back.used = payload->next;
                LargePayload::free(payload);
            }
        }

        BackEnd& back;
        const Key limit;
    };

    /// The back end's thread is at work. Its posts are told so: they may not wait for what it does.
    class Inside {
    public:
        explicit Inside(Intake& intake) noexcept
            : role_(intake.backEndRole_, oneBackEnd), intake_(intake) {
            // Relaxed, all: only posts of the same thread want to know.
            intake.backEndThread_.store(Threads::mark(), std::memory_order_relaxed);
            intake.isBackEndInside_.store(1, std::memory_order_relaxed);
        }
        ~Inside() { intake_.isBackEndInside_.store(0, std::memory_order_relaxed); }
        Inside(const Inside&) = delete;
        Inside& operator=(const Inside&) = delete;

    private:
        const typename RoleCheck<Platform>::Scope role_;
        Intake& intake_;
    };

    struct Leave {
        Lane& lane;
        ~Leave() { lane.leave(); }
    };
    struct Unlock {
        Book& book;
        ~Unlock() { book.unlockShared(); }
    };

    static LaneLimits limitsOf(const IntakeOptions& options) noexcept {
        return {options.laneMessages, options.laneBytes & ~std::size_t{7}, sizeof(Head)};
    }
    static LaneLimits sharedLimits() noexcept {
        return {512, std::max<std::size_t>(65536, 4 * (Writer::leastBytes + sizeof(LaneInfo))),
                sizeof(Head)};
    }

    template <class Write>
    Posted postToOwn(Lane& lane, const Head& head, std::size_t bytes, Overflow policy,
                     Write& write) {
        const Leave leave{lane};
        const Outcome outcome = Writer::tryPost(*book_, lane, 0, head, bytes, write);
        if (__builtin_expect(outcome == Outcome::ok, 1)) {
            return Posted::ok;
        }
        return postWithoutRoom(lane, head, bytes, policy, write, outcome);
    }

    /// Makes room as the policy says and tries again.
    template <class Write>
    [[gnu::cold, gnu::noinline]] Posted postWithoutRoom(Lane& lane, const Head& head,
                                                        std::size_t bytes, Overflow policy,
                                                        Write& write, Outcome outcome) {
        while (outcome == Outcome::full && makeRoom(lane, bytes, policy)) {
            outcome = Writer::tryPost(*book_, lane, RecordHeader::waited, head, bytes, write);
        }
        if (outcome == Outcome::ok) {
            return Posted::ok;
        }
        if (outcome == Outcome::closed || isClosed()) {
            return Posted::closed;
        }
        lane.countDiscarded();
        return Posted::discarded;
    }

    /// False when the record cannot have room.
    bool makeRoom(Lane& lane, std::size_t bytes, Overflow policy) {
        if (!mayMakeRoom(policy)) {
            return false;
        }
        const Room room = Writer::roomFor(lane, 0, bytes);
        if (policy == Overflow::overrunOldest) {
            return lane.evictFor(room);
        }
        lane.awaitRoom(room, book_->closed());
        return !isClosed();
    }

    /// The back end's own thread would wait for itself; and what it has in hand it cannot evict.
    [[nodiscard]] bool mayMakeRoom(Overflow policy) const noexcept {
        // Relaxed: see Inside.
        return policy == Overflow::overrunOldest
                   ? !isBackEnd() || isBackEndInside_.load(std::memory_order_relaxed) == 0
                   : policy == Overflow::block && !isBackEnd();
    }

    /// Not on the way that nearly every post takes: the thread has no lane yet, or no more, or the
    /// post interrupts another one.
    template <class Write>
    [[gnu::cold, gnu::noinline]] Posted postElsewhere(const Head& head, std::size_t bytes,
                                                      Overflow policy, Write& write) {
        Lane* lane = Threads::find(book_, hash_);
        bool mayWait = lane == nullptr && !QuietThread::isQuiet();
        if (mayWait) {
            lane = enroll();
        }
        if (lane != nullptr && lane->enter()) {
            return postToOwn(*lane, head, bytes, policy, write);
        }
        return postToShared(head, bytes, policy, write, mayWait);
    }

    /// Null when the thread is ending, or when there is no memory for a lane.
    Lane* enroll() noexcept {
        const QuietThread quiet;  // a handler that interrupts this must not do it too
#if defined(__cpp_exceptions)
        try {
            return Threads::add(*book_);
        } catch (const std::bad_alloc&) {
            return nullptr;
        }
#else
        return Threads::add(*book_);
#endif
    }

    template <class Write>
    Posted postToShared(const Head& head, std::size_t bytes, Overflow policy, Write& write,
                        bool mayWait) {
        Lane& lane = book_->shared();
        while (book_->lockShared(!mayWait)) {
            const Outcome outcome = tryPostLocked(lane, head, bytes, policy, write, mayWait);
            if (outcome == Outcome::ok) {
                return Posted::ok;
            }
            if (outcome == Outcome::closed || isClosed()) {
                return Posted::closed;
            }
            if (outcome != Outcome::full || policy != Overflow::block || !mayWait ||
                !mayMakeRoom(policy)) {
                break;
            }
            lane.awaitHalfFree(book_->closed());
        }
        book_->countDropped();
        return Posted::discarded;
    }

    /// With the shared lane's lock, which is given back.
    template <class Write>
    Outcome tryPostLocked(Lane& lane, const Head& head, std::size_t bytes, Overflow policy,
                          Write& write, bool mayWait) {
        constexpr std::uint32_t flags = RecordHeader::foreign;
        const Unlock unlock{*book_};
        const Outcome outcome = Writer::tryPost(*book_, lane, flags, head, bytes, write);
        if (outcome != Outcome::full || policy != Overflow::overrunOldest || !mayWait ||
            !mayMakeRoom(policy)) {
            return outcome;
        }
        return lane.evictFor(Writer::roomFor(lane, flags, bytes))
                   ? Writer::tryPost(*book_, lane, flags, head, bytes, write)
                   : outcome;
    }

    [[nodiscard]] bool isClosed() const noexcept {
        return book_->closed().load(std::memory_order_acquire);
    }

    /// Whether this is the back end's own thread, which would wait for itself.
    [[nodiscard]] bool isBackEnd() const noexcept {
        return backEndThread_.load(std::memory_order_relaxed) == Threads::mark();
    }

    [[nodiscard]] bool hasNews() const noexcept {
        return woken_.load(std::memory_order_acquire) != 0 || back_->watermark.hasNews(*book_) ||
               (!back_->watermark.isStalled() && back_->watermark.hasRecords());
    }
    bool takeNews() noexcept {
        // Relaxed: what the waker wrote was acquired by hasNews(), or is no news yet.
        woken_.store(0, std::memory_order_relaxed);
        return true;
    }

    template <class Emit>
    static void hand(BackEnd& back, const std::byte* place, const Lane& lane, Emit& emit) noexcept {
        const RecordHeader& header = headerAt(place);
        const auto& head =
            *std::launder(reinterpret_cast<const Head*>(place + sizeof(RecordHeader)));
        const std::byte* payload = place + Writer::payloadAt;
        std::size_t size = header.payloadSize;
        const LaneInfo* info = &lane.info();
        if (__builtin_expect(header.isForeign(), 0)) {
            info = std::launder(reinterpret_cast<const LaneInfo*>(payload));
            payload += sizeof(LaneInfo);
        }
        if (__builtin_expect(header.isLarge(), 0)) {
            LargePayload* const block = largePayloadAt(place, sizeof(Head));
            payload = block->bytes();
            size = block->size;
            block->next = std::exchange(back.used, block);
        }
        if (__builtin_expect(header.key < back.last, 0)) {
            add(back.orderViolations, 1);
        } else {
            back.last = header.key;
        }
        emit(Record{header.key, head, payload, size, *info, header.hasWaited()});
    }

    static void add(Atomic<std::uint64_t>& count, std::uint64_t n) noexcept {
        // Relaxed: one writer, and no data follows a count.
        count.store(count.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
    }

    [[nodiscard]] LaneCounts totals() const {
        return book_->counts([](const auto&) {});
    }
    std::uint64_t sinceReset(const Atomic<std::uint64_t>& before,
                             std::uint64_t LaneCounts::*count) const {
        // Read first: the totals only grow, so the difference is never negative.
        const std::uint64_t start = before.load(std::memory_order_acquire);
        return totals().*count - start;
    }
    void reset(Atomic<std::uint64_t>& before, std::uint64_t LaneCounts::*count) {
        before.store(totals().*count, std::memory_order_release);
    }

    static LaneStatistics statisticsOf(const typename Book::Slot& slot) noexcept {
        LaneStatistics lane;
        static_cast<LaneCounts&>(lane) = Book::countsOf(slot);
        lane.thread = slot.info();
        const Occupancy occupancy = slot.occupancy();
        lane.messages = occupancy.messages;
        lane.bytes = occupancy.bytes;
        // Relaxed: mere numbers.
        const auto& marks = slot.marks();
        lane.highWaterMessages = marks.messages.load(std::memory_order_relaxed);
        lane.highWaterBytes = marks.bytes.load(std::memory_order_relaxed);
        lane.stalls = marks.stalls.load(std::memory_order_relaxed);
        lane.longestStall =
            std::chrono::nanoseconds(marks.longestStall.load(std::memory_order_relaxed));
        return lane;
    }

    Book* const book_;
    const std::size_t hash_;
    std::unique_ptr<BackEnd> back_;
    const std::chrono::nanoseconds maxHold_;
    RoleCheck<Platform> backEndRole_;
    Atomic<const void*> backEndThread_{nullptr};
    Atomic<unsigned char> isBackEndInside_{0};
    Atomic<unsigned char> woken_{0};
    Atomic<std::uint64_t> overrunBefore_{0};
    Atomic<std::uint64_t> discardedBefore_{0};
};

}  // namespace sluice::log::detail
