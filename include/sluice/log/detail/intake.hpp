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
/// Pace: a back end that looks at once again after a few records takes over, time after time, the
/// lines that threads are writing; pausing some microseconds after a small harvest makes posting
/// several times faster. That is left to the caller.
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

#include <sluice/base/role_check.hpp>
#include <sluice/log/detail/inlet.hpp>
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
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace sluice::log::detail {

template <class Head, class Traits = IntakeTraits>
class Intake {
    static_assert(std::is_trivially_copyable_v<Head> && alignof(Head) <= 8,
                  "Intake<Head>: a head is copied as bytes, to a multiple of 8");

    using Platform = typename Traits::Platform;
    using Clock = typename Traits::Clock;
    using Book = LaneBook<Traits>;
    using Lane = typename Book::Lane;
    using Reader = LaneReader<Traits>;
    using Writer = RecordWriter<Head, Traits>;
    template <class T>
    using Atomic = typename Platform::template Atomic<T>;

public:
    using Record = detail::Record<Head>;
    using TimePoint = typename Platform::Clock::time_point;

    /// Refuses what IntakeOptions refuses, and lanes too small for an empty record.
    explicit Intake(const IntakeOptions& options = {})
        : book_(new Book(limitsOf(options.checked(Writer::leastBytes)), sharedLimits())),
          inlet_(book_),
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
        return inlet_.post(head, bytes, policy, std::forward<Write>(write));
    }

    // ---- Back end

    /// Looks at all lanes once. Returns the watermark: all records with keys below it are visible.
    Key look() {
        const AtWork atWork(*this);
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
        const AtWork atWork(*this);
        BackEnd& back = *back_;
        const Harvest harvest(back, std::min(limit, back.watermark.get()), max,
                              copies_.load(std::memory_order_relaxed));  // relaxed: a setting
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
        const AtWork atWork(*this);
        return back_->watermark.hasBelow(std::min(limit, back_->watermark.get()));
    }

    /// Sleeps until there may be something to do: a record, a wake(), or the time. Records that a
    /// look() has seen and could not release count, unless a thread that is stopped while announced
    /// holds the watermark; then the call returns when that thread goes on, or after some 20 ms.
    /// Returns whether there is something to do. It may return without, and before the time.
    bool waitForWork(TimePoint until) {
        const typename RoleCheck<Platform>::Scope role(back_->role, oneBackEnd);
        if (back_->watermark.isStalled()) {
            return waitForStalled(until);
        }
        if (!hasNews() && Platform::Clock::now() < until) {
            auto& events = book_->events();
            const auto key = events.prepareWait();
            if (hasNews()) {
                events.cancelWait(key);
            } else {
                // Once: whoever calls this looks again, whatever ended the sleep.
                static_cast<void>(events.waitUntil(key, until));
            }
        }
        return hasNews() && takeNews();
    }

    /// Whether the intake was closed and its last record has been emitted.
    [[nodiscard]] bool isDrained() const {
        return back_->isSettled && !back_->watermark.hasRecords();
    }

    /// The calling thread is the back end no longer: its posts may wait for room again.
    void resign() noexcept { inlet_.forgetBackEnd(); }

    // ---- Anybody

    /// Ends a waitForWork(), the next one if none is under way.
    void wake() noexcept {
        woken_.store(1, std::memory_order_release);
        book_->events().notifyAll();
    }

    /// A key later than those of all posts that have returned before, and not later than those of
    /// all that begin afterwards.
    Key now() noexcept {
        const Key key = Clock::now();
        Clock::letPass(key);
        return key + 1;
    }

    /// Posts with Overflow::overrunOldest are to come. From now on records are copied before they
    /// are used, so the first such post that finds no room can already evict. Without this call
    /// only the second one can be sure of that.
    void expectEviction() noexcept { copies_.store(true, std::memory_order_relaxed); }

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
    /// threads had half made is counted as lost. All counts start anew.
    void afterForkInChild() {
        // Not destroyed: the parent's back end may have been at work on it.
        (void)back_.release();
        back_ = std::make_unique<BackEnd>(maxHold_);
        inlet_.forgetBackEnd();
        // Relaxed, both: there is one thread.
        overrunBefore_.store(0, std::memory_order_relaxed);
        discardedBefore_.store(0, std::memory_order_relaxed);
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
        RoleCheck<Platform> role;
        bool isSettled = false;  // closed, and the last record has been seen
    };

    /// The back end is at work, on one thread at a time.
    struct AtWork {
        explicit AtWork(Intake& intake) noexcept
            : role(intake.back_->role, oneBackEnd), scope(intake.inlet_) {}

        const typename RoleCheck<Platform>::Scope role;
        const typename Inlet<Head, Traits>::AtWork scope;
    };

    /// The lanes that have something to emit, opened; closes them.
    struct Harvest {
        Harvest(BackEnd& b, Key l, std::size_t max, bool copies) : back(b), limit(l) {
            back.merge.clear();
            back.open.clear();
            back.watermark.forEach([this, max, copies](Reader& reader) {
                if (reader.open(limit, max, copies)) {
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

    static LaneLimits limitsOf(const IntakeOptions& options) noexcept {
        return {options.laneMessages, options.laneBytes & ~std::size_t{7}, sizeof(Head)};
    }
    static LaneLimits sharedLimits() noexcept {
        return {512, std::max<std::size_t>(65536, 4 * (Writer::leastBytes + sizeof(LaneInfo))),
                sizeof(Head)};
    }

    [[nodiscard]] bool isWoken() const noexcept {
        return woken_.load(std::memory_order_acquire) != 0;
    }
    [[nodiscard]] bool hasNews() const noexcept {
        return isWoken() || back_->watermark.hasNews(*book_) || back_->watermark.hasRecords();
    }

    /// What the others post meanwhile cannot be emitted, so they are not asked to wake anybody; and
    /// the processor is left to the thread that is waited for.
    bool waitForStalled(TimePoint until) {
        using std::chrono::microseconds;
        microseconds nap{0};
        microseconds slept{0};
        const auto ready = [this] { return isWoken() || back_->watermark.hasStalledGoneOn(); };
        while (!ready() && slept < microseconds(20'000) && Platform::Clock::now() < until) {
            if (nap.count() < 50) {
                nap += microseconds(1);
                Platform::yield();
            } else {
                std::this_thread::sleep_for(nap);
                slept += nap;
                nap = std::min(2 * nap, microseconds(5'000));
            }
        }
        return ready() && takeNews();
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
        emit(Record{header.key, head, payload, size, *info});
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
    Inlet<Head, Traits> inlet_;
    std::unique_ptr<BackEnd> back_;
    const std::chrono::nanoseconds maxHold_;
    Atomic<unsigned char> woken_{0};
    Atomic<bool> copies_{false};  // relaxed: a setting
    Atomic<std::uint64_t> overrunBefore_{0};
    Atomic<std::uint64_t> discardedBefore_{0};
};

}  // namespace sluice::log::detail
