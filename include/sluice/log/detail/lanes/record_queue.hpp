#pragma once

#include <sluice/base/platform.hpp>
#include <sluice/base/role_check.hpp>
#include <sluice/base/send_result.hpp>
#include <sluice/base/setup_error.hpp>
#include <sluice/base/spin_lock.hpp>
#include <sluice/base/thread_slots.hpp>
#include <sluice/log/detail/lanes/lane.hpp>
#include <sluice/log/detail/lanes/lane_registry.hpp>
#include <sluice/log/detail/lanes/order.hpp>
#include <sluice/log/detail/lanes/stamp_clock.hpp>
#include <sluice/log/statistics.hpp>
#include <sluice/wait/park.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <new>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>

namespace sluice::log::detail {

struct RecordQueueOptions {
    static constexpr std::size_t mostMessages = std::size_t{1} << 30U;
    static constexpr std::size_t mostBytes = std::size_t{1} << 30U;

    std::size_t laneMessages = 8192;  ///< most records in one thread's lane: 1 to 2^30
    std::size_t laneBytes = std::size_t{1} << 20U;  ///< most bytes in a lane, with record headers
    /// A post with Overflow::block calls pollHere() if its lane is full. pollHere() empties all
    /// lanes, or returns false if only another thread may empty them. pollHere() must not throw.
    std::function<bool()> pollHere;
};

struct RecordQueueTraits {
    using Platform = StdPlatform;
    using Clock = StampClock;
    using FullFence = PortableFence;  ///< heavy() is a full fence, for posts and for sleeps
    using Parker = DefaultParker;
    using Lock = SpinLock;  ///< guards the registry's list of lanes
};

/// Returns true if records with this head use a second lane of the thread, with its own space.
/// Overload takesSecondLane() for a Head type that has levels.
template <class Head>
constexpr bool takesSecondLane(const Head& /*head*/) noexcept {
    return false;
}

/// Returns true if posts may evict the record. Overload evict() for a Head with an Overflow policy.
template <class Head>
bool evict(const Head& /*head*/) noexcept {
    return true;
}

/// A multi-producer queue of log records. A post writes a head, a stamp and a payload into the
/// thread's lane, which is a byte ring. The back end emits the records in stamp order.
///
///     RecordQueue<Head> queue;
///     queue.post(head, size, Overflow::block, [&](std::byte* to) noexcept { fill(to); });
///     // on the back end's thread:
///     const Stamp limit = queue.poll();
///     queue.emitBefore(limit, 1024, [](const RecordQueue<Head>::Record& record) { ... });
///
/// Order: if post A returns before post B begins on any thread, A's record is emitted first.
///
/// Thread safety: any thread may call the members under "Producers" and "Any thread", even in
/// callbacks and in destructors of thread-local and static objects. One thread at a time may call
/// the members under "Back end", but not in a callback. Signal handlers must not post. A post is
/// wait-free while its lane has space. A thread preempted during a post delays all later records.
///
/// Performance: a thread's first post and each record larger than a lane allocate. Pause some
/// microseconds between polls, because each poll takes cache lines from the posting threads.
template <class Head, class Traits = RecordQueueTraits>
class RecordQueue {
    static_assert(std::is_trivially_copyable_v<Head> && alignof(Head) <= 8,
                  "RecordQueue<Head>: a head is copied as bytes, to a multiple of 8");

    using Platform = typename Traits::Platform;
    using Clock = typename Traits::Clock;
    using Order = RecordOrder<Head, Traits>;
    template <class T>
    using Atomic = typename Platform::template Atomic<T>;

public:
    using Registry = LaneRegistry<Traits>;
    using RecordLane = typename Registry::RecordLane;
    using Record = detail::Record<Head>;
    using TimePoint = typename Platform::Clock::time_point;

    /// `noMemory`: the memory for a large record could not be allocated.
    enum class PostAttempt : unsigned char { ok, full, noMemory, closed };

    /// The size of the smallest lane, which holds one record with a LargePayload.
    static constexpr std::size_t leastBytes = Order::payloadAt + roundUpTo8(sizeof(LargePayload*));

    /// Requires options.laneBytes >= leastBytes. The constructor does not check the options.
    explicit RecordQueue(const RecordQueueOptions& options = {})
        : registry_(*new Registry(
              {options.laneMessages, options.laneBytes & ~std::size_t{7}, sizeof(Head)})),
          hash_(Threads::hash(&registry_)),
          pollHere_(options.pollHere) {
        order_.emplace(registry_);
    }

    /// Drops all records. No member call may be running. Threads that posted may outlive the queue.
    ~RecordQueue() {
        order_.reset();
        registry_.abandon();
    }

    // ---- Producers

    /// Posts a record. write(std::byte* to) fills exactly `bytes` bytes; `to` is a multiple of 8.
    /// write() must not throw, but may post. rejected() counts the rejected records. The back end
    /// must not post with Overflow::block.
    template <class Write>
    SendResult post(const Head& head, std::size_t bytes, Overflow policy, Write&& write) {
        Slot* const lane = Threads::findFirst(&registry_, hash_);
        if (SLUICE_UNLIKELY(takesSecondLane(head) || lane == nullptr || lane->isInUse())) {
            return postElsewhere(head, bytes, policy, write);
        }
        return postToOwn(*lane, head, bytes, policy, write);
    }

    /// Tries once to post into a lane that the calling thread owns or has locked.
    template <class Write>
    PostAttempt tryPost(RecordLane& lane, const Head& head, std::size_t bytes, Write& write) {
        const RecordSize size = sizeIn(lane, bytes);
        if (SLUICE_UNLIKELY(size.isLarge)) {
            return tryPostLarge(lane, head, bytes, write);
        }
        std::byte* const record = lane.reserve(size.footprint);
        if (SLUICE_UNLIKELY(record == nullptr)) {
            return PostAttempt::full;
        }
        write(fill(record, head, bytes, size.footprint));
        return publish(lane, record);
    }

    static RecordSize sizeIn(const RecordLane& lane, std::size_t bytes) noexcept {
        // The sum cannot overflow, because `bytes` is the size of an object in memory.
        const std::size_t footprint = Order::payloadAt + roundUpTo8(bytes);
        if (SLUICE_UNLIKELY(footprint > lane.limits().bytes)) {
            return {leastBytes, true};
        }
        return {footprint, false};
    }

    // ---- Back end

    /// Polls each lane. Returns the watermark: all records with smaller stamps can be emitted.
    Stamp poll() {
        const Role role(role_, oneBackEnd);
        const bool wasClosed = closed_.load(std::memory_order_relaxed);  // by E6
        const Stamp watermark = order_->poll();
        isSettled_ = wasClosed && !order_->anyAnnounced();
        return watermark;
    }

    struct Ignore {
        template <class... Arguments>
        void operator()(const Arguments&... /*arguments*/) const noexcept {}
    };

    /// Calls emit(const Record&), oldest first, for up to `max` records with stamps below both
    /// `limit` and the watermark. After the last record, calls finish() and frees the space of the
    /// emitted records. Returns the number of emitted records. emit() and finish() must not throw.
    template <class Emit, class Finish = Ignore>
    std::size_t emitBefore(Stamp limit, std::size_t max, Emit&& emit, Finish&& finish = {}) {
        const Role role(role_, oneBackEnd);
        const bool copies = copies_.load(std::memory_order_relaxed);  // value only
        return order_->emitBefore(limit, max, copies, emit, finish);
    }

    /// Sleeps until the lanes have records, until wake(), or until the time `until`. May return
    /// early. Returns true if the back end should poll. While a preempted post holds the watermark
    /// back, sleeps only 200 microseconds, because the end of that post may cause no wake-up.
    bool waitForWork(TimePoint until) {
        const Role role(role_, oneBackEnd);
        if (order_->isStalled()) {
            Platform::yield();
            std::this_thread::sleep_for(std::chrono::microseconds(200));
        } else if (!hasWork() && Platform::Clock::now() < until) {
            letPostsWake(true);     // E7 sleep
            bool hasSlept = false;  // ends the wait after one sleep, so that the caller polls
            const auto isOver = [&] { return hasWork() || std::exchange(hasSlept, true); };
            static_cast<void>(events_.waitUntil(isOver, until));  // E7 sleep
        }
        if (isWoken()) {
            // An exchange: a plain store could erase a wake() without acquiring the waker's writes.
            woken_.exchange(0, std::memory_order_acquire);  // E9 wake
            return true;
        }
        return hasWork();
    }

    /// Until the next waitForWork(), posts neither wake the back end nor need a full fence.
    void expectNoWake() noexcept {
        const Role role(role_, oneBackEnd);
        letPostsWake(false);
    }

    /// Returns true if the queue was closed and its last record has been emitted.
    [[nodiscard]] bool isDrained() const { return isSettled_ && !order_->hasRecords(); }

    // ---- Any thread

    /// Makes the running or the next waitForWork() return.
    void wake() noexcept {
        // An exchange, because a plain store would end the release sequence of another wake().
        woken_.exchange(1, std::memory_order_release);  // E9 wake
        events_.notifyAll();
    }

    /// Returns a stamp that is later than the stamp of each post that has returned, and not later
    /// than the stamp of any future post.
    Stamp now() noexcept {
        const Stamp stamp = Clock::now();
        Clock::waitUntilPast(stamp);
        return stamp + 1;
    }

    /// Makes the back end emit copies of records, so that posts can evict records from the lanes.
    /// Call expectEviction() before the first post with Overflow::dropOldest.
    void expectEviction() noexcept {
        copies_.store(true, std::memory_order_relaxed);  // value only
    }

    /// Cancels the calling thread's post if a signal handler interrupted the post and calls exit().
    void withdrawOwnPost() noexcept {
        if (Slot* const own = Threads::find(&registry_, hash_)) {
            own->withdraw();
            if (own->second != nullptr) {
                own->second->withdraw();
            }
        }
    }

    /// Makes later and waiting posts return `closed`.
    void close() noexcept {
        closed_.store(true, std::memory_order_seq_cst);  // E6 close
        registry_.forEach([](Slot& slot) { slot.wakeOwner(); });
        wake();
    }
    [[nodiscard]] const Atomic<bool>& closed() const noexcept { return closed_; }

    /// Returns the totals of all lanes. Calls visit(thread_statistics&) for each lane that a thread
    /// owns, under the registry's lock.
    template <class Visit = Ignore>
    [[nodiscard]] backend_statistics statistics(Visit visit = {}) const {
        backend_statistics sum;
        const LaneCounts counts = registry_.counts([&](const Slot& slot, const LaneCounts& its) {
            thread_statistics lane = statisticsOf(slot, its);
            sum.messages += lane.messages;
            sum.bytes += lane.bytes;
            if (&slot != &registry_.shared()) {
                lane.errors = slot.isSecond;
                visit(lane);
            }
        });
        counts.copyTo(sum);
        order_->marks().copyTo(sum);
        return sum;
    }

    /// The exact number since resetDropped(), even while threads post. statistics() ignores resets.
    [[nodiscard]] std::uint64_t dropped() const {
        return sinceReset(droppedBefore_, &LaneCounts::dropped);
    }
    [[nodiscard]] std::uint64_t rejected() const {
        return sinceReset(rejectedBefore_, &LaneCounts::rejected);
    }
    void resetDropped() { reset(droppedBefore_, &LaneCounts::dropped); }
    void resetRejected() { reset(rejectedBefore_, &LaneCounts::rejected); }

    [[nodiscard]] std::size_t laneCount() const noexcept { return registry_.laneCount(); }

    [[nodiscard]] Registry& registry() noexcept { return registry_; }

    // ---- Fork

    /// The forking thread calls lock() while no thread is in a call under "Back end". After fork(),
    /// both processes call unlock(). A child that uses the queue calls resetInChild() before
    /// unlock().
    void lock() noexcept { registry_.lock(); }
    void unlock() noexcept { registry_.unlock(); }

    /// In a forked child, empties the queue and resets all counts. The parent emits the records.
    void resetInChild() {
        order_.emplace(registry_);
        droppedBefore_.store(0, std::memory_order_relaxed);   // not shared yet
        rejectedBefore_.store(0, std::memory_order_relaxed);  // not shared yet
        registry_.resetInChild();
    }

private:
    // Happens-before edges (proof: docs/algorithms/ordered-log.md), besides those of RecordLane:
    //   E6 close: RecordLane::publish <-> poll.
    //   E7 sleep: notifyBackEnd <-> waitForWork.
    //   E9 wake: wake -> waitForWork.
    //   E10 reset: reset -> sinceReset.

    using Slot = typename Registry::Slot;
    using Threads = typename Registry::Threads;
    using Role = typename RoleCheck<Platform>::Scope;

    /// Avoids AsymmetricFence, whose heavy() is a system call: sleeps may be as frequent as posts.
    struct SleepPlatform : Platform {
        struct Fence {
            static void light() noexcept { Traits::FullFence::heavy(); }
            static void heavy() noexcept { Traits::FullFence::heavy(); }
        };
    };

    static constexpr const char* oneBackEnd =
        "a second thread or a callback is in a back-end call: one thread at a time may poll, emit "
        "and wait";

    // ---- A post

    template <class Write>
    SendResult postToOwn(RecordLane& lane, const Head& head, std::size_t bytes, Overflow policy,
                         Write& write) {
        lane.setInUse(true);
        const PostAttempt attempt = tryPost(lane, head, bytes, write);
        const SendResult posted = SLUICE_LIKELY(attempt == PostAttempt::ok)
                                      ? SendResult::ok
                                      : postWithoutRoom(lane, head, bytes, policy, write, attempt);
        lane.setInUse(false);
        return posted;
    }

    /// Writes the record except its stamp and payload, and returns the payload's address.
    static std::byte* fill(std::byte* record, const Head& head, std::size_t payloadSize,
                           std::size_t footprintAndFlag) noexcept {
        ::new (record) RecordFrame{0, static_cast<std::uint32_t>(payloadSize),
                                   static_cast<std::uint32_t>(footprintAndFlag)};
        ::new (record + sizeof(RecordFrame)) Head(head);
        return record + Order::payloadAt;
    }

    PostAttempt publish(RecordLane& lane, std::byte* record) noexcept {
        const Stamp stamp = lane.publish(record, closed_);
        notifyBackEnd();  // even if closed: the back end may wait for the end of this post
        if (SLUICE_UNLIKELY(stamp == endOfTime)) {
            return PostAttempt::closed;
        }
        Clock::waitUntilPast(stamp);
        return PostAttempt::ok;
    }

    /// Wakes a sleeping back end. Not inlined, to keep the code of a log call short.
    [[gnu::noinline]] void notifyBackEnd() noexcept {
        Platform::Fence::light();                          // E7 sleep
        if (postsWake_.load(std::memory_order_relaxed)) {  // by E7
            events_.notifyAll();
        }
    }

    // ---- The rare cases of a post

    template <class Write>
    [[gnu::cold, gnu::noinline]] SendResult postWithoutRoom(RecordLane& lane, const Head& head,
                                                            std::size_t bytes, Overflow policy,
                                                            Write& write, PostAttempt attempt) {
        while (attempt == PostAttempt::full && makeRoom(lane, bytes, policy)) {
            attempt = tryPostRarely(lane, head, bytes, write);
        }
        if (attempt == PostAttempt::ok) {
            return SendResult::ok;
        }
        if (attempt == PostAttempt::closed || isClosed()) {
            return SendResult::closed;
        }
        lane.countRejected();
        return SendResult::full;
    }

    /// Makes or awaits space in the lane. Returns false if the record must be rejected.
    bool makeRoom(RecordLane& lane, std::size_t bytes, Overflow policy) {
        if (policy == Overflow::reject || isClosed()) {
            return false;
        }
        const RecordSize size = sizeIn(lane, bytes);
        if (policy == Overflow::dropOldest) {
            return evictFor(lane, size);
        }
        if (!hasPolled()) {
            lane.awaitRoom(closed_, soon(), [&] { return lane.reserve(size) != nullptr; });
        }
        return !isClosed();
    }

    static bool evictFor(RecordLane& lane, const RecordSize& size) {
        return lane.evictFor(size,
                             [](const std::byte* record) { return evict(Order::headOf(record)); });
    }
    static TimePoint soon() { return Platform::Clock::now() + std::chrono::milliseconds(5); }

    /// On a manual back end's polling thread, empties the lanes. On other threads, returns false.
    bool hasPolled() { return pollHere_ && pollHere_(); }

    template <class Write>
    [[gnu::cold, gnu::noinline]] PostAttempt tryPostRarely(RecordLane& lane, const Head& head,
                                                           std::size_t bytes, Write& write) {
        return tryPost(lane, head, bytes, write);
    }

    template <class Write>
    [[gnu::cold, gnu::noinline]] PostAttempt tryPostLarge(RecordLane& lane, const Head& head,
                                                          std::size_t bytes, Write& write) {
        const RecordSize size = sizeIn(lane, bytes);
        std::byte* const record = lane.reserve(size);
        if (record == nullptr) {
            return PostAttempt::full;
        }
        LargePayload* const payload = LargePayload::make(bytes);
        if (payload == nullptr) {
            return PostAttempt::noMemory;
        }
        write(payload->bytes());
        ::new (fill(record, head, 0, size.footprint | RecordFrame::large)) LargePayload*(payload);
        const PostAttempt attempt = publish(lane, record);
        if (attempt == PostAttempt::ok) {
            lane.notePublishedLarge();
        } else {
            LargePayload::free(payload);
        }
        return attempt;
    }

    /// The rare cases of post(): a record for a second lane, a thread with no lane, a nested post.
    template <class Write>
    [[gnu::cold, gnu::noinline]] SendResult postElsewhere(const Head& head, std::size_t bytes,
                                                          Overflow policy, Write& write) {
        // `lane` is null if the calling thread is ending or memory is exhausted.
        Slot* const lane = sluice::detail::resultOrDefault([&] {
            Slot* const own =
                Threads::findOr(&registry_, hash_, [&] { return Threads::add(registry_); });
            return own != nullptr && takesSecondLane(head) ? &registry_.secondOf(*own) : own;
        });
        if (lane != nullptr && !lane->isInUse()) {
            return postToOwn(*lane, head, bytes, policy, write);
        }
        return postToShared(head, bytes, policy, write);
    }

    /// All levels share one lane, because with a lock for each level, two threads could deadlock.
    template <class Write>
    SendResult postToShared(const Head& head, std::size_t bytes, Overflow policy, Write& write) {
        Slot& lane = registry_.shared();
        while (typename Registry::SharedGuard guard = registry_.lockShared()) {
            PostAttempt attempt = tryPostRarely(lane, head, bytes, write);
            if (attempt == PostAttempt::full && policy == Overflow::dropOldest && !isClosed() &&
                evictFor(lane, sizeIn(lane, bytes))) {
                attempt = tryPostRarely(lane, head, bytes, write);
            }
            if (attempt == PostAttempt::ok) {
                return SendResult::ok;
            }
            if (attempt == PostAttempt::closed || isClosed()) {
                return SendResult::closed;
            }
            if (attempt != PostAttempt::full || policy != Overflow::block) {
                break;
            }
            guard.reset();
            if (!hasPolled()) {
                lane.awaitRoom(closed_, soon(), [] { return true; });
            }
        }
        registry_.countSharedRejected();
        return SendResult::full;
    }

    // Acquire: E6 close.
    [[nodiscard]] bool isClosed() const noexcept { return closed_.load(std::memory_order_acquire); }

    // ---- The sleep of the back end

    void letPostsWake(bool isWanted) noexcept {
        if (postsWake_.load(std::memory_order_relaxed) == isWanted) {  // own variable
            return;
        }
        postsWake_.store(isWanted, std::memory_order_relaxed);  // by E7
        if (isWanted) {
            Platform::Fence::heavy();  // E7 sleep
        }
    }

    [[nodiscard]] bool isWoken() const noexcept {
        return woken_.load(std::memory_order_relaxed) != 0;  // hint
    }
    [[nodiscard]] bool hasWork() const noexcept {
        return isWoken() || order_->hasChanged() || order_->hasRecords();
    }

    // ---- Numbers

    [[nodiscard]] LaneCounts totals() const { return registry_.counts(Ignore()); }
    std::uint64_t sinceReset(const Atomic<std::uint64_t>& before,
                             std::uint64_t LaneCounts::*count) const {
        // `before` is loaded first: the totals only grow, so the difference cannot be negative.
        const std::uint64_t start = before.load(std::memory_order_acquire);  // E10 reset
        return totals().*count - start;
    }
    void reset(Atomic<std::uint64_t>& before, std::uint64_t LaneCounts::*count) {
        before.store(totals().*count, std::memory_order_release);  // E10 reset
    }

    static thread_statistics statisticsOf(const Slot& slot, const LaneCounts& counts) noexcept {
        thread_statistics lane;
        counts.copyTo(lane);
        slot.marks().copyTo(lane);
        lane.thread_id = slot.info().threadId;
        lane.thread_name = slot.info().threadName;  // at most 15 characters: no allocation
        const Occupancy occupancy = slot.occupancy();
        lane.messages = occupancy.messages;
        lane.bytes = occupancy.bytes;
        return lane;
    }

    // Each post reads the fields below, which are rarely written.
    Registry& registry_;
    const std::size_t hash_;  ///< Threads::hash() of the registry
    const std::function<bool()> pollHere_;
    Atomic<bool> closed_{false};     ///< written by close()
    Atomic<bool> postsWake_{false};  ///< written by the back end
    // Parks the back end without spins ({0, 0}), because the back end polls before it sleeps.
    BasicPark<SleepPlatform, typename Traits::Parker> events_{{0, 0}};
    Atomic<bool> copies_{false};  ///< set by expectEviction()
    Atomic<std::uint64_t> droppedBefore_{0};
    Atomic<std::uint64_t> rejectedBefore_{0};

    // Only the back end writes the fields below, except woken_.
    alignas(cacheLineSize) std::optional<Order> order_;
    Atomic<unsigned char> woken_{0};  ///< 1 after wake(), until waitForWork() returns
    RoleCheck<Platform> role_;
    bool isSettled_ = false;  ///< true after the queue is closed and a poll saw the last record
};

}  // namespace sluice::log::detail
