#pragma once

#include <sluice/log/detail/lanes/intake_consumer.hpp>
#include <sluice/log/detail/lanes/intake_options.hpp>
#include <sluice/log/detail/lanes/intake_producer.hpp>
#include <sluice/log/detail/lanes/lane_registry.hpp>
#include <sluice/log/detail/lanes/record.hpp>
#include <sluice/log/detail/lanes/record_writer.hpp>
#include <sluice/log/detail/lanes/stamp_clock.hpp>
#include <sluice/log/detail/lanes/watermark.hpp>
#include <sluice/log/statistics.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

namespace sluice::log::detail {

/// The counts of an intake, over all lanes. The back end adds the others. While no thread posts and
/// no record is emitted, logged = emitted + overrun + messages.
struct IntakeStatistics : backend_statistics {
    std::uint64_t emitted = 0;
    std::size_t lanes = 0;  ///< lanes of threads, and lanes that are not yet empty
};

/// Collects the records of all threads, and emits them in the order of their stamps.
///
/// Each thread posts into a lane of its own. The back end emits the records of all lanes in one
/// order. If a post returns before another post begins, its record comes first.
///
/// Threads: any thread calls the members under "Producers" and "Any thread", also in signal
/// handlers, in destructors of thread-local and static objects, and in the callbacks of post() and
/// emitBefore(). One thread at a time calls the members under "Back end", and not in a callback.
///
/// Progress: a post is wait-free while the thread has a lane with room. A thread that is stopped
/// between its announcement and its publication delays all records with later stamps. This window
/// takes some tens of nanoseconds, without calls or locks. The delay ends when the thread goes on,
/// when it is found dead, or after `maxHold`. Meanwhile other threads post as long as their lanes
/// have room. While the back end is stopped, the lanes fill.
///
/// Memory promise: the emit() of a record sees the writes of its thread before post().
///
/// Order: emitBefore() emits keys in ascending order, over all calls, and the records of a thread
/// in the order of its posts. A violation is possible only after `maxHold`; it is counted. A post
/// takes its stamp after it has room and has written the record, so a wait for room does not make
/// the stamp old.
///
/// Capacity: for each thread, in records and in bytes, both exact. Allocation: the first post of a
/// thread makes a lane or reuses one; a record that is larger than a lane allocates. Nothing else
/// allocates. The lane of an ended thread is reused or freed when its records have been emitted.
///
/// Pace: a back end that looks again at once takes over the cache lines that threads are writing.
/// A pause of some microseconds after a small harvest makes posts several times faster. The caller
/// decides about pauses.
///
/// Shutdown: after close() a post returns `closed`, also a post that is waiting. isDrained() tells
/// when the last record has been emitted. The destructor drops the other records. No call may be
/// running; the threads may live longer.
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

    /// Refuses options that IntakeOptions refuses, and lanes that are too small for an empty
    /// record.
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
    /// may not throw; it may post. If the intake is closed after the call of write(), the record is
    /// dropped.
    ///
    /// `discarded`: there was no room, and the policy did not allow a wait. A signal handler, a
    /// callback of a post and the back end's own thread never wait. The record is counted.
    template <class Write>
    PostResult post(const Head& head, std::size_t bytes, overflow_policy policy, Write&& write) {
        return producer_.post(head, bytes, policy, std::forward<Write>(write));
    }

    // ---- Back end

    /// Looks at each lane once. Returns the watermark: all records with smaller keys are visible.
    Key look() {
        const AtWork atWork(producer_);
        return consumer_->look();
    }

    /// Calls emit(const Record&) for visible records with keys below `limit` and the watermark, the
    /// oldest first, at most `max` times. emit() may not throw. The room of the records is free
    /// when the call returns, so a `max` of some hundreds keeps producers going. Returns the number
    /// of records.
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

    /// Sleeps until there is a record or a wake(), or until the time. A record that a look() has
    /// seen and that has not been emitted counts. Exception: if a stalled thread holds the
    /// watermark back, the call returns when that thread goes on, or after some 20 ms. Returns
    /// whether there is work. It may return false before the time.
    bool waitForWork(TimePoint until) { return consumer_->waitForWork(until); }

    /// Until the next waitForWork() the back end comes back by itself. So posts need not wake it,
    /// and each saves a fence.
    void expectNoWake() noexcept { consumer_->expectNoWake(); }

    /// Whether the intake was closed and its last record has been emitted.
    [[nodiscard]] bool isDrained() const { return consumer_->isDrained(); }

    /// The calling thread is no longer the back end. So its posts may wait for room.
    void resign() noexcept { producer_.forgetBackEnd(); }

    // ---- Any thread

    /// Ends a waitForWork(): the running one, or the next one.
    void wake() noexcept { consumer_->wake(); }

    /// A key that is later than the keys of all posts that have returned, and not later than the
    /// key of any post that begins afterwards.
    Key now() noexcept {
        const Key key = Clock::now();
        Clock::waitUntilPast(key);
        return key + 1;
    }

    /// Announces posts with overflow_policy::overrun_oldest. From now on the back end copies
    /// records before it emits them, so the first such post without room can evict. Without this
    /// call only the second such post can.
    void expectEviction() noexcept { copies_.store(true, std::memory_order_relaxed); }

    /// Refuses posts from now on, also posts that are waiting.
    void close() noexcept {
        registry_->close();
        wake();
    }

    [[nodiscard]] IntakeStatistics statistics() const {
        return statistics([](thread_statistics&) {});
    }

    /// The same, and calls visit(thread_statistics&) for each lane: the counts since its thread got
    /// it. It holds a lock meanwhile.
    template <class Visit>
    IntakeStatistics statistics(Visit visit) const {
        IntakeStatistics sum;
        const LaneCounts counts = registry_->counts([&](const auto& slot, const LaneCounts& its) {
            thread_statistics lane = statisticsOf(slot, its);
            sum.messages += lane.messages;
            sum.bytes += lane.bytes;
            if (&slot != &registry_->shared()) {
                ++sum.lanes;
                visit(lane);
            }
        });
        const Watermark<Traits>& watermark = consumer_->watermark();
        counts.copyTo(sum);
        watermark.marks().copyTo(sum);
        sum.ignored_stalls = watermark.ignoredStalls();
        sum.dead_threads = watermark.deadThreads();
        sum.emitted = consumer_->emitted();
        sum.order_violations = consumer_->orderViolations();
        return sum;
    }

    /// The records that were evicted, or refused because there was no room, since the last reset.
    /// Exact, also while threads post. A reset does not change statistics().
    [[nodiscard]] std::uint64_t overrun() const {
        return sinceReset(overrunBefore_, &LaneCounts::overrun);
    }
    [[nodiscard]] std::uint64_t discarded() const {
        return sinceReset(discardedBefore_, &LaneCounts::discarded);
    }
    void resetOverrun() { reset(overrunBefore_, &LaneCounts::overrun); }
    void resetDiscarded() { reset(discardedBefore_, &LaneCounts::discarded); }

    /// The lanes of threads, the lanes that are not yet empty, and the lanes for new threads.
    [[nodiscard]] std::size_t laneCount() const noexcept { return registry_->laneCount(); }

    // ---- Fork

    /// The thread that forks calls beforeFork(), and after fork() one of the following three.
    void beforeFork() noexcept { registry_->lockForFork(); }
    void afterForkInParent() noexcept { registry_->afterForkInParent(); }

    /// In a child that does not use the intake.
    void unlockInChild() noexcept { registry_->unlockInChild(); }

    /// In a child that uses the intake. It has one thread. The parent emits the earlier records. A
    /// record that another thread was writing is counted as lost. All other counts begin at 0.
    void afterForkInChild() {
        // Not destroyed: the parent's back end may have been using it.
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
        return registry_->counts([](const auto&, const LaneCounts&) {});
    }
    std::uint64_t sinceReset(const Atomic<std::uint64_t>& before,
                             std::uint64_t LaneCounts::*count) const {
        // It is read first: the totals only grow, so the difference is never negative.
        const std::uint64_t start = before.load(std::memory_order_acquire);
        return totals().*count - start;
    }
    void reset(Atomic<std::uint64_t>& before, std::uint64_t LaneCounts::*count) {
        before.store(totals().*count, std::memory_order_release);
    }

    static thread_statistics statisticsOf(const typename Registry::Slot& slot,
                                          const LaneCounts& counts) noexcept {
        thread_statistics lane;
        counts.copyTo(lane);
        slot.marks().copyTo(lane);
        lane.thread_id = slot.info().threadId;
        lane.thread_name = slot.info().threadName;  // short: in place
        const Occupancy occupancy = slot.occupancy();
        lane.messages = occupancy.messages;
        lane.bytes = occupancy.bytes;
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
