#pragma once

#include <sluice/log/detail/lanes/lane_registry.hpp>
#include <sluice/log/detail/lanes/record.hpp>
#include <sluice/log/detail/lanes/record_consumer.hpp>
#include <sluice/log/detail/lanes/record_producer.hpp>
#include <sluice/log/detail/lanes/record_queue_options.hpp>
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

/// The counts of a record queue, summed over all lanes. The back end fills in the other fields of
/// backend_statistics. While no thread posts and no record is emitted, logged = emitted + overrun +
/// messages.
struct RecordQueueStatistics : backend_statistics {
    std::uint64_t emitted = 0;
    std::size_t lanes = 0;  ///< lanes of threads, and lanes that are not yet empty
};

/// Collects the records of all threads, and emits them in the order of their stamps.
///
///     RecordQueue<Head> queue;
///     queue.post(head, size, Overflow::block, [&](std::byte* to) noexcept { fill(to); });
///     // on the back end's thread:
///     const Stamp limit = queue.look();
///     queue.emitBefore(limit, 1024, [](const RecordQueue<Head>::Record& record) { print(record);
///     });
///
/// Each thread posts into a lane of its own. The back end emits the records of all lanes in one
/// order. If one post returns before another post begins, its record is emitted first.
///
/// Threads: any thread may call the members under "Producers" and "Any thread". It may call them in
/// signal handlers, in destructors of thread-local and static objects, and in the callbacks of
/// post() and emitBefore(). One thread at a time calls the members under "Back end", and not in a
/// callback.
///
/// Progress: a post is wait-free while the thread has a lane with room. A thread that is stopped
/// between its announcement and its publication delays all records with later stamps. This window
/// takes some tens of nanoseconds, without calls or locks. The delay ends when the thread
/// continues, when the back end finds it dead, or after `maxHold`. Meanwhile other threads post as
/// long as their lanes have room. While the back end is stopped, the lanes fill.
///
/// Memory promise: emit() of a record sees all that its thread wrote before post().
///
/// Order: over all calls, emitBefore() emits records in ascending order of their stamps, and the
/// records of a thread in the order of its posts. This may fail only after `maxHold`, and is then
/// counted. A post takes its stamp last: after it has found room and written the record. So the
/// stamp of a post that waited for room is not old.
///
/// Capacity: each lane has a limit in records and a limit in bytes. Both are exact.
///
/// Allocation: the first post of a thread makes a lane or reuses one. A record that is larger than
/// a lane allocates. Nothing else allocates. The lane of an ended thread is reused or freed when
/// its records have been emitted.
///
/// Pace: a back end that looks again at once takes the cache lines from the threads that are
/// writing to them. A pause of some microseconds after a small harvest makes posts several times
/// faster. The caller decides about pauses.
///
/// Shutdown: after close() a post returns `closed`, also a post that is waiting. isDrained() tells
/// whether the last record has been emitted. The destructor drops the other records. While it runs,
/// no other call may be running. The threads that have posted may live longer.
///
/// Origin: announcements as in hazard pointers and epochs, applied to time stamps.
/// docs/algorithms/ordered-log.md has the protocol, the proof and the bounds.
///
/// Tests: tests/unit/log/record_queue_*_test.cpp, tests/model/log_queue_model_test.cpp,
/// tests/stress/log_order_stress_test.cpp.
template <class Head, class Traits = RecordQueueTraits>
class RecordQueue {
    static_assert(std::is_trivially_copyable_v<Head> && alignof(Head) <= 8,
                  "RecordQueue<Head>: a head is copied as bytes, to a multiple of 8");

    using Platform = typename Traits::Platform;
    using Clock = typename Traits::Clock;
    using Registry = LaneRegistry<Traits>;
    using Out = RecordConsumer<Head, Traits>;
    using AtWork = typename RecordProducer<Head, Traits>::AtWork;
    using Writer = RecordWriter<Head, Traits>;
    template <class T>
    using Atomic = typename Platform::template Atomic<T>;

public:
    using Record = detail::Record<Head>;
    using TimePoint = typename Platform::Clock::time_point;

    /// Reports a set-up error if RecordQueueOptions refuses the options, or if a lane is too small
    /// for an empty record.
    explicit RecordQueue(const RecordQueueOptions& options = {})
        : registry_(new Registry(limitsOf(options.checked(Writer::leastBytes)), sharedLimits())),
          producer_(registry_, options.roomMaker),
          consumer_(std::make_unique<Out>(*registry_, options.maxHold)),
          maxHold_(options.maxHold) {}
    RecordQueue(const RecordQueue&) = delete;
    RecordQueue& operator=(const RecordQueue&) = delete;

    ~RecordQueue() {
        consumer_.reset();
        registry_->abandon();
    }

    // ---- Producers

    /// Posts a record. write(std::byte* to) fills exactly `bytes` bytes; the address is a multiple
    /// of 8. It may not throw; it may post. If the queue is closed after the call of write(), the
    /// record is dropped.
    ///
    /// `discarded`: there was no room, and the policy did not allow a wait. A signal handler, a
    /// callback of a post and the back end's own thread never wait. The record is counted.
    template <class Write>
    SendResult post(const Head& head, std::size_t bytes, Overflow policy, Write&& write) {
        return producer_.post(head, bytes, policy, std::forward<Write>(write));
    }

    // ---- Back end

    /// Looks at each lane once. Returns the watermark: all records with smaller stamps are visible.
    Stamp look() {
        const AtWork atWork(producer_);
        return consumer_->look();
    }

    /// Calls emit(const Record&) for visible records with stamps below `limit` and below the
    /// watermark, the oldest first, at most `max` times. emit() may not throw. The room of these
    /// records is free when the call returns. So use a `max` of some hundreds to give producers
    /// room early. Returns the number of records.
    template <class Emit>
    std::size_t emitBefore(Stamp limit, std::size_t max, Emit&& emit) {
        return emitBefore(limit, max, emit, [] {});
    }

    /// The same. After the last record it calls finish(), while all records of this call are still
    /// valid.
    template <class Emit, class Finish>
    std::size_t emitBefore(Stamp limit, std::size_t max, Emit&& emit, Finish&& finish) {
        const AtWork atWork(producer_);
        const bool copies = copies_.load(std::memory_order_relaxed);  // relaxed: a setting
        return consumer_->emitBefore(limit, max, copies, emit, finish);
    }

    /// Whether emitBefore(limit) would emit a record.
    [[nodiscard]] bool hasBefore(Stamp limit) {
        const AtWork atWork(producer_);
        return consumer_->hasBefore(limit);
    }

    /// Sleeps until there is a record, until a wake(), or until the time. A record that a look()
    /// has seen and that has not been emitted counts as one. Exception: if a stalled thread holds
    /// the watermark back, the call returns when that thread continues, or after about 20 ms.
    /// Returns whether there is work. It may return false before the time.
    bool waitForWork(TimePoint until) { return consumer_->waitForWork(until); }

    /// Called if the back end will look again by itself. Until the next waitForWork() posts then
    /// need not wake it, and each post saves a fence.
    void expectNoWake() noexcept { consumer_->expectNoWake(); }

    /// Whether the queue was closed and its last record has been emitted.
    [[nodiscard]] bool isDrained() const { return consumer_->isDrained(); }

    /// Called when the calling thread stops being the back end. Its posts may wait for room again.
    void resign() noexcept { producer_.forgetBackEnd(); }

    // ---- Any thread

    /// Ends the running waitForWork(). If none is running, it ends the next one.
    void wake() noexcept { consumer_->wake(); }

    /// Returns a stamp that is later than the stamps of all posts that have returned, and not later
    /// than the stamp of any post that begins afterwards.
    Stamp now() noexcept {
        const Stamp stamp = Clock::now();
        Clock::waitUntilPast(stamp);
        return stamp + 1;
    }

    /// Called before posts with Overflow::dropOldest. From now on the back end copies
    /// records before it emits them, so such a post can always evict. Without this call, the first
    /// such post that finds no room is discarded if the back end is emitting records of its lane.
    void expectEviction() noexcept { copies_.store(true, std::memory_order_relaxed); }

    /// Refuses posts from now on. A post that is waiting returns `closed`.
    void close() noexcept {
        registry_->close();
        wake();
    }

    [[nodiscard]] RecordQueueStatistics statistics() const {
        return statistics([](thread_statistics&) {});
    }

    /// The same. It also calls visit(thread_statistics&) for each lane, with the counts since its
    /// thread got the lane. It holds a lock during these calls.
    template <class Visit>
    RecordQueueStatistics statistics(Visit visit) const {
        RecordQueueStatistics sum;
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

    /// The number of records that were evicted, and of those that were refused because there was no
    /// room, since the last reset. Exact, also while threads post. A reset does not change
    /// statistics().
    [[nodiscard]] std::uint64_t dropped() const {
        return sinceReset(droppedBefore_, &LaneCounts::dropped);
    }
    [[nodiscard]] std::uint64_t rejected() const {
        return sinceReset(rejectedBefore_, &LaneCounts::rejected);
    }
    void resetDropped() { reset(droppedBefore_, &LaneCounts::dropped); }
    void resetRejected() { reset(rejectedBefore_, &LaneCounts::rejected); }

    /// The number of lanes: those of threads, those that are not yet empty, and those that are kept
    /// for new threads.
    [[nodiscard]] std::size_t laneCount() const noexcept { return registry_->laneCount(); }

    // ---- Fork

    /// The thread that forks calls beforeFork(), and after fork() one of the other three functions.
    void beforeFork() noexcept { registry_->lockForFork(); }
    void afterForkInParent() noexcept { registry_->afterForkInParent(); }

    /// Called in a child that does not use the queue.
    void unlockInChild() noexcept { registry_->unlockInChild(); }

    /// Called in a child that uses the queue. The child has one thread. The parent emits the
    /// earlier records. A record that another thread was writing is counted as lost. All other
    /// counts begin at 0.
    void afterForkInChild() {
        // It is leaked, because the parent's back end may have been using it.
        (void)consumer_.release();
        consumer_ = std::make_unique<Out>(*registry_, maxHold_);
        producer_.forgetBackEnd();
        // Relaxed, both: there is one thread.
        droppedBefore_.store(0, std::memory_order_relaxed);
        rejectedBefore_.store(0, std::memory_order_relaxed);
        registry_->afterForkInChild();
    }

private:
    static LaneLimits limitsOf(const RecordQueueOptions& options) noexcept {
        return {options.laneMessages, options.laneBytes & ~std::size_t{7}, sizeof(Head)};
    }
    static LaneLimits sharedLimits() noexcept {
        return {512, std::max<std::size_t>(65536, 4 * (Writer::leastBytes + sizeof(ThreadInfo))),
                sizeof(Head)};
    }

    [[nodiscard]] LaneCounts totals() const {
        return registry_->counts([](const auto&, const LaneCounts&) {});
    }
    std::uint64_t sinceReset(const Atomic<std::uint64_t>& before,
                             std::uint64_t LaneCounts::*count) const {
        // This is read before the totals. The totals only grow, so the difference is never
        // negative.
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
        lane.thread_name = slot.info().threadName;  // short, so the string does not allocate
        const Occupancy occupancy = slot.occupancy();
        lane.messages = occupancy.messages;
        lane.bytes = occupancy.bytes;
        return lane;
    }

    Registry* const registry_;
    RecordProducer<Head, Traits> producer_;
    std::unique_ptr<Out> consumer_;
    const std::chrono::nanoseconds maxHold_;
    Atomic<bool> copies_{false};  // relaxed: a setting
    Atomic<std::uint64_t> droppedBefore_{0};
    Atomic<std::uint64_t> rejectedBefore_{0};
};

}  // namespace sluice::log::detail
