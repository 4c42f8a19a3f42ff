#pragma once

#include <sluice/log/detail/lanes/intake_consumer.hpp>
#include <sluice/log/detail/lanes/intake_options.hpp>
#include <sluice/log/detail/lanes/intake_producer.hpp>
#include <sluice/log/detail/lanes/intake_statistics.hpp>
#include <sluice/log/detail/lanes/lane_registry.hpp>
#include <sluice/log/detail/lanes/record.hpp>
#include <sluice/log/detail/lanes/record_writer.hpp>
#include <sluice/log/detail/lanes/stamp_clock.hpp>
#include <sluice/log/detail/lanes/watermark.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

namespace sluice::log::detail {

/// Where the records of all threads enter, and leave in the order of their stamps.
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
/// Tests: tests/unit/log/intake_*_test.cpp, tests/model/log_intake_model_test.cpp,
/// tests/stress/log_order_stress_test.cpp.
template <class Head, class Traits = IntakeTraits>
class Intake {
    static_assert(std::is_trivially_copyable_v<Head> && alignof(Head) <= 8,
                  "Intake<Head>: a head is copied as bytes, to a multiple of 8");

    using Platform = typename Traits::Platform;
    using Clock = typename Traits::Clock;
    using Registry = LaneRegistry<Traits>;
    using Out = IntakeConsumer<Head, Traits>;
    using AtWork = typename IntakeProducer<Head, Traits>::AtWork;
    using Writer = RecordWriter<Head, Traits>;
    template <class T>
    using Atomic = typename Platform::template Atomic<T>;

public:
    using Record = detail::Record<Head>;
    using TimePoint = typename Platform::Clock::time_point;

    /// Refuses what IntakeOptions refuses, and lanes too small for an empty record.
    explicit Intake(const IntakeOptions& options = {})
        : registry_(new Registry(limitsOf(options.checked(Writer::leastBytes)), sharedLimits())),
          producer_(registry_, options.roomMaker),
          consumer_(std::make_unique<Out>(*registry_, options.maxHold)),
          maxHold_(options.maxHold) {}
    Intake(const Intake&) = delete;
    Intake& operator=(const Intake&) = delete;

    ~Intake() {
        consumer_.reset();
        registry_->abandon();
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
    Posted post(const Head& head, std::size_t bytes, overflow_policy policy, Write&& write) {
        return producer_.post(head, bytes, policy, std::forward<Write>(write));
    }

    // ---- Back end

    /// Looks at all lanes once. Returns the watermark: all records with keys below it are visible.
    Key look() {
        const AtWork atWork(producer_);
        return consumer_->look();
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
        const AtWork atWork(producer_);
        const bool copies = copies_.load(std::memory_order_relaxed);  // relaxed: a setting
        return consumer_->emitBefore(limit, max, copies, emit, finish);
    }

    /// Whether emitBefore(limit) would emit something.
    [[nodiscard]] bool hasBefore(Key limit) {
        const AtWork atWork(producer_);
        return consumer_->hasBefore(limit);
    }

    /// Sleeps until there may be something to do: a record, a wake(), or the time. Records that a
    /// look() has seen and could not release count, unless a thread that is stopped while announced
    /// holds the watermark; then the call returns when that thread goes on, or after some 20 ms.
    /// Returns whether there is something to do. It may return without, and before the time.
    bool waitForWork(TimePoint until) { return consumer_->waitForWork(until); }

    /// Whether the intake was closed and its last record has been emitted.
    [[nodiscard]] bool isDrained() const { return consumer_->isDrained(); }

    /// The calling thread is the back end no longer: its posts may wait for room again.
    void resign() noexcept { producer_.forgetBackEnd(); }

    // ---- Anybody

    /// Ends a waitForWork(), the next one if none is under way.
    void wake() noexcept { consumer_->wake(); }

    /// A key later than those of all posts that have returned before, and not later than those of
    /// all that begin afterwards.
    Key now() noexcept {
        const Key key = Clock::now();
        Clock::letPass(key);
        return key + 1;
    }

    /// Posts with overflow_policy::overrun_oldest are to come. From now on records are copied
    /// before they are used, so the first such post that finds no room can already evict. Without
    /// this call only the second one can be sure of that.
    void expectEviction() noexcept { copies_.store(true, std::memory_order_relaxed); }

    /// Refuses posts from now on, those that wait included.
    void close() noexcept {
        registry_->close();
        wake();
    }

    [[nodiscard]] IntakeStatistics statistics() const {
        return statistics([](const LaneStatistics&) {});
    }

    /// The same; visit(const LaneStatistics&) sees each lane that is there, under a lock.
    template <class Visit>
    IntakeStatistics statistics(Visit visit) const {
        IntakeStatistics sum;
        const LaneCounts counts = registry_->counts([&](const auto& slot) {
            const LaneStatistics lane = statisticsOf(slot);
            sum.messages += lane.messages;
            sum.bytes += lane.bytes;
            if (&slot != &registry_->shared()) {
                ++sum.lanes;
                visit(lane);
            }
        });
        static_cast<LaneCounts&>(sum) = counts;
        // Relaxed, all: mere numbers.
        const Watermark<Traits>& watermark = consumer_->watermark();
        const auto& marks = watermark.marks();
        sum.highWaterMessages = marks.messages.load(std::memory_order_relaxed);
        sum.highWaterBytes = marks.bytes.load(std::memory_order_relaxed);
        sum.stalls = marks.stalls.load(std::memory_order_relaxed);
        sum.longestStall =
            std::chrono::nanoseconds(marks.longestStall.load(std::memory_order_relaxed));
        sum.ignoredStalls = watermark.ignoredStalls();
        sum.deadThreads = watermark.deadThreads();
        sum.emitted = consumer_->emitted();
        sum.orderViolations = consumer_->orderViolations();
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
    [[nodiscard]] std::size_t laneCount() const noexcept { return registry_->laneCount(); }

    // ---- Fork

    /// Around fork(): first this, on the thread that forks; then one of the following three.
    void beforeFork() noexcept { registry_->lockForFork(); }
    void afterForkInParent() noexcept { registry_->afterForkInParent(); }

    /// In a child that uses the intake no more.
    void unlockInChild() noexcept { registry_->unlockInChild(); }

    /// Only the calling thread is there. What was posted before is the parent's to emit; what other
    /// threads had half made is counted as lost. All counts start anew.
    void afterForkInChild() {
        // Not destroyed: the parent's back end may have been at work on it.
        (void)consumer_.release();
        consumer_ = std::make_unique<Out>(*registry_, maxHold_);
        producer_.forgetBackEnd();
        // Relaxed, both: there is one thread.
        overrunBefore_.store(0, std::memory_order_relaxed);
        discardedBefore_.store(0, std::memory_order_relaxed);
        registry_->afterForkInChild();
    }

private:
    static LaneLimits limitsOf(const IntakeOptions& options) noexcept {
        return {options.laneMessages, options.laneBytes & ~std::size_t{7}, sizeof(Head)};
    }
    static LaneLimits sharedLimits() noexcept {
        return {512, std::max<std::size_t>(65536, 4 * (Writer::leastBytes + sizeof(LaneInfo))),
                sizeof(Head)};
    }

    [[nodiscard]] LaneCounts totals() const {
        return registry_->counts([](const auto&) {});
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

    static LaneStatistics statisticsOf(const typename Registry::Slot& slot) noexcept {
        LaneStatistics lane;
        static_cast<LaneCounts&>(lane) = Registry::countsOf(slot);
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

    Registry* const registry_;
    IntakeProducer<Head, Traits> producer_;
    std::unique_ptr<Out> consumer_;
    const std::chrono::nanoseconds maxHold_;
    Atomic<bool> copies_{false};  // relaxed: a setting
    Atomic<std::uint64_t> overrunBefore_{0};
    Atomic<std::uint64_t> discardedBefore_{0};
};

}  // namespace sluice::log::detail
