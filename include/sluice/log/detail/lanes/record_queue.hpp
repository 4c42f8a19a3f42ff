#pragma once

#include <sluice/base/cache_line.hpp>
#include <sluice/base/overflow.hpp>
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
#include <sluice/wait/event_count.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>

namespace sluice::log::detail {

/// A function that makes room on the posting thread, so that this thread need not wait. A back end
/// without a thread sets it.
struct RoomMaker {
    /// Returns false if the calling thread is not the one that empties the lanes. May be null.
    bool (*make)(void* core) noexcept = nullptr;
    void* core = nullptr;  ///< the argument of make()
};

/// The settings of a record queue.
struct RecordQueueOptions {
    static constexpr std::size_t mostMessages = std::size_t{1} << 30U;
    static constexpr std::size_t mostBytes = std::size_t{1} << 30U;

    std::size_t laneMessages = 8192;  ///< most records in the lane of a thread: 1 to 2^30
    /// Most bytes in the lane of a thread, with headers: at most 2^30.
    std::size_t laneBytes = std::size_t{1} << 20U;
    /// The longest time that a stalled thread may hold the output back: more than zero.
    std::chrono::nanoseconds maxHold = std::chrono::nanoseconds::max();
    /// Used by Overflow::block.
    RoomMaker roomMaker;
};

/// The usual traits of a record queue.
struct RecordQueueTraits {
    using Platform = StdPlatform;
    using Clock = StampClock;
    using FullFence = PortableFence;  ///< if two threads both call heavy(), it orders them
    using Parker = DefaultParker;     ///< puts the threads of the queue to sleep
    using Lock = SpinLock;            ///< guards the list of lanes
};

/// The counts of a record queue, summed over all lanes. While no thread posts and no record is
/// emitted, logged = emitted + dropped + messages.
struct RecordQueueStatistics : backend_statistics {
    std::uint64_t emitted = 0;
    std::size_t lanes = 0;  ///< lanes of threads, and lanes that are not yet empty
};

/// Collects the records of all threads, and emits them in the order of their stamps.
///
///     RecordQueue<Head> queue;
///     queue.post(head, size, Overflow::block, [&](std::byte* to) noexcept { fill(to); });
///     // on the back end's thread:
///     const Stamp limit = queue.poll();
///     queue.emitBefore(limit, 1024, [](const RecordQueue<Head>::Record& record) { ... });
///
/// Order: emitBefore() emits records in ascending order of their stamps, over all calls. If one
/// post returns before another begins, on any threads, its record is emitted first. This may fail
/// only after `maxHold`, and is then counted.
///
/// Thread safety: any thread may call the members under "Producers" and "Any thread", also in
/// destructors of thread-local and static objects, and inside the callbacks of post() and
/// emitBefore(). One thread at a time calls the members under "Back end", and not in a callback.
/// Signal handlers must not post. A post is wait-free while the thread has a lane with room. A
/// thread preempted in the few nanoseconds between its announcement and its publication delays all
/// records with later stamps until it continues, or for `maxHold`.
///
/// Performance: the first post of a thread makes a lane or reuses one, and a record larger than a
/// lane allocates; nothing else does. A back end that polls in a closed loop takes the cache lines
/// from the posting threads: a pause of some microseconds makes posts several times faster.
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

    /// The result of one attempt to post. `noMemory`: a large record found no memory.
    enum class PostAttempt : unsigned char { ok, full, noMemory, closed };

    /// The bytes of the smallest lane: each record must fit, at least with its payload in a block
    /// of its own.
    static constexpr std::size_t leastBytes = Order::payloadAt + roundUpTo8(sizeof(LargePayload*));

    /// The caller has checked the options: laneBytes is at least leastBytes.
    explicit RecordQueue(const RecordQueueOptions& options = {})
        : registry_(new Registry(limitsOf(options), sharedLimitsOf(options))),
          hash_(Threads::hash(registry_)),
          roomMaker_(options.roomMaker),
          maxHold_(options.maxHold) {
        order_.emplace(*registry_, maxHold_);
    }
    RecordQueue(const RecordQueue&) = delete;
    RecordQueue& operator=(const RecordQueue&) = delete;

    /// Drops the records that were not emitted. While it runs, no other call may be running. The
    /// threads that have posted may live longer.
    ~RecordQueue() {
        order_.reset();
        registry_->abandon();
    }

    // ---- Producers

    /// Posts a record. write(std::byte* to) fills exactly `bytes` bytes; the address is a multiple
    /// of 8. It may not throw; it may post. If there is no room, the policy decides; a record that
    /// is not accepted is counted. The back end's thread must not wait with Overflow::block.
    template <class Write>
    SendResult post(const Head& head, std::size_t bytes, Overflow policy, Write&& write) {
        Slot* const lane = Threads::findFirst(registry_, hash_);
        if (__builtin_expect(lane == nullptr || lane->isInUse(), 0)) {
            return postElsewhere(head, bytes, policy, write);
        }
        return postToOwn(*lane, head, bytes, policy, write);
    }

    /// Makes one attempt to post into this lane, which the calling thread has to itself. `flags`:
    /// RecordFrame::foreign for the shared lane, otherwise 0.
    template <class Write>
    PostAttempt tryPost(RecordLane& lane, std::uint32_t flags, const Head& head, std::size_t bytes,
                        Write& write) {
        const RecordSize size = sizeIn(lane, flags, bytes);
        if (__builtin_expect(size.isLarge, 0)) {
            return tryPostLarge(lane, flags, head, bytes, write);
        }
        std::byte* const record = lane.reserve(size.footprint);
        if (__builtin_expect(record == nullptr, 0)) {
            return PostAttempt::full;
        }
        write(fill(record, head, bytes, size.footprint, flags));
        return publish(lane, record);
    }

    /// Returns the bytes that a record with a payload of `bytes` bytes takes in this lane.
    static RecordSize sizeIn(const RecordLane& lane, std::uint32_t flags,
                             std::size_t bytes) noexcept {
        const std::size_t info = (flags & RecordFrame::foreign) != 0 ? sizeof(ThreadInfo) : 0;
        const std::size_t most = lane.limits().bytes;
        const std::size_t footprint = Order::payloadAt + info + roundUpTo8(bytes);
        // The sum does not overflow, because no object is so large.
        if (__builtin_expect(footprint > most, 0)) {
            return {info + leastBytes, true};
        }
        return {footprint, false};
    }

    // ---- Back end

    /// Polls each lane once. Returns the watermark: all records with smaller stamps are visible.
    Stamp poll() {
        const Role role(role_, oneBackEnd);
        // Relaxed: the fence of the poll orders this load before the loads of the words.
        const bool wasClosed = closed_.load(std::memory_order_relaxed);
        const Stamp watermark = order_->poll();
        isSettled_ = wasClosed && !order_->anyAnnounced();
        return watermark;
    }

    /// Calls emit(const Record&) for visible records with stamps below `limit` and below the
    /// watermark, the oldest first, at most `max` times. emit() may not throw. Their room is free
    /// when the call returns, so a `max` of some hundreds gives producers room early. Returns the
    /// number of records.
    template <class Emit>
    std::size_t emitBefore(Stamp limit, std::size_t max, Emit&& emit) {
        return emitBefore(limit, max, emit, [] {});
    }

    /// The same. After the last record it calls finish(), while all records of this call are still
    /// valid.
    template <class Emit, class Finish>
    std::size_t emitBefore(Stamp limit, std::size_t max, Emit&& emit, Finish&& finish) {
        const Role role(role_, oneBackEnd);
        const bool copies = copies_.load(std::memory_order_relaxed);  // relaxed: a setting
        return order_->emitBefore(limit, max, copies, emit, finish);
    }

    /// Sleeps until there is a record, until a wake(), or until the time. A record that a poll()
    /// has seen and that has not been emitted counts as one. If a stalled thread holds the
    /// watermark back, the call returns when that thread continues, or after about 20 ms. Returns
    /// whether there is work; it may return false before the time.
    bool waitForWork(TimePoint until) {
        const Role role(role_, oneBackEnd);
        if (order_->isStalled()) {
            return waitForStalled(until);
        }
        if (!hasWork() && Platform::Clock::now() < until) {
            letPostsWake(true);                      // E1
            const auto key = events_.prepareWait();  // E1
            if (hasWork()) {
                events_.cancelWait(key);
            } else {
                // It sleeps once, because the caller polls again after each sleep.
                static_cast<void>(events_.waitUntil(key, until));
            }
        }
        return hasWork() && takeWake();
    }

    /// Called if the back end will poll again by itself. Until the next waitForWork() posts then
    /// need not wake it, and each post saves a fence.
    void expectNoWake() noexcept {
        const Role role(role_, oneBackEnd);
        letPostsWake(false);
    }

    /// Whether the queue was closed and its last record has been emitted.
    [[nodiscard]] bool isDrained() const { return isSettled_ && !order_->hasRecords(); }

    // ---- Any thread

    /// Ends the running waitForWork(). If none is running, it ends the next one.
    void wake() noexcept {
        // An exchange, because a store would end the release sequence of another wake().
        woken_.exchange(1, std::memory_order_release);
        events_.notifyAll();
    }

    /// Returns a stamp that is later than the stamps of all posts that have returned, and not later
    /// than the stamp of any post that begins afterwards.
    Stamp now() noexcept {
        const Stamp stamp = Clock::now();
        Clock::waitUntilPast(stamp);
        return stamp + 1;
    }

    /// Called before posts with Overflow::dropOldest. From now on the back end copies records
    /// before it emits them, so such a post can always evict. Without this call, the first such
    /// post that finds no room is rejected if the back end is emitting records of its lane.
    void expectEviction() noexcept { copies_.store(true, std::memory_order_relaxed); }

    /// Rejects posts from now on, also those that are waiting for room.
    void close() noexcept {
        closed_.store(true, std::memory_order_seq_cst);
        registry_->forEach([](Slot& slot) { slot.wakeOwner(); });
        wake();
    }
    [[nodiscard]] const Atomic<bool>& closed() const noexcept { return closed_; }

    [[nodiscard]] RecordQueueStatistics statistics() const {
        return statistics([](thread_statistics&) {});
    }

    /// The same. It also calls visit(thread_statistics&) for each lane, with the counts since its
    /// thread received the lane. It holds a lock during these calls.
    template <class Visit>
    RecordQueueStatistics statistics(Visit visit) const {
        RecordQueueStatistics sum;
        const LaneCounts counts = registry_->counts([&](const Slot& slot, const LaneCounts& its) {
            thread_statistics lane = statisticsOf(slot, its);
            sum.messages += lane.messages;
            sum.bytes += lane.bytes;
            if (&slot != &registry_->shared()) {
                ++sum.lanes;
                visit(lane);
            }
        });
        counts.copyTo(sum);
        order_->marks().copyTo(sum);
        sum.ignored_stalls = order_->ignoredStalls();
        sum.emitted = order_->emitted();
        sum.order_violations = order_->orderViolations();
        return sum;
    }

    /// The number of records dropped, and of those rejected because there was no room, since the
    /// last reset. Exact, also while threads post. A reset does not change statistics().
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

    [[nodiscard]] Registry& registry() noexcept { return *registry_; }

    // ---- Fork

    /// The thread that forks calls lock(), with no thread in a call under "Back end". After fork()
    /// it calls unlock() in both processes, in the child after resetInChild() if the child uses the
    /// queue.
    void lock() noexcept { registry_->lock(); }
    void unlock() noexcept { registry_->unlock(); }

    /// Empties the queue, because the parent emits the earlier records. All counts begin at 0.
    void resetInChild() {
        order_.emplace(*registry_, maxHold_);
        // Relaxed, both: there is one thread.
        droppedBefore_.store(0, std::memory_order_relaxed);
        rejectedBefore_.store(0, std::memory_order_relaxed);
        registry_->resetInChild();
    }

private:
    // Edges: E1 sleep has two steps, each with a fence on both sides. First: the posting thread
    // publishes the word of its lane, executes a light fence, and reads postsWake_; the back end
    // sets postsWake_, executes a heavy fence, and reads the words of all lanes. Second, if the
    // posting thread finds postsWake_ set: it executes a full fence and reads the count of waiters;
    // the back end counts itself as a waiter, executes a full fence, and reads the words again. So
    // the posting thread finds the sleeper, or the sleeper finds the record. postsWake_ stays set
    // from one sleep to the next, so the heavy fence is rare.

    using Slot = typename Registry::Slot;
    using Threads = typename Registry::Threads;
    using Role = typename RoleCheck<Platform>::Scope;

    /// The fences of the event count. The back end sleeps and wakes about as often as threads log,
    /// so each side pays a full fence.
    struct SleepPlatform : Platform {
        struct Fence {
            static void light() noexcept { Traits::FullFence::heavy(); }
            static void heavy() noexcept { Traits::FullFence::heavy(); }
        };
    };

    /// Marks the thread's own lane as used, during one post.
    class UseLane {
    public:
        explicit UseLane(RecordLane& lane) noexcept : lane_(lane) { lane_.setInUse(true); }
        ~UseLane() { lane_.setInUse(false); }
        UseLane(const UseLane&) = delete;
        UseLane& operator=(const UseLane&) = delete;

    private:
        RecordLane& lane_;
    };

    static constexpr const char* oneBackEnd = "a second thread is the back end, or a callback of "
                                              "the back end calls it: let one "
                                              "thread at a time poll, emit and wait";

    static LaneLimits limitsOf(const RecordQueueOptions& options) noexcept {
        return {options.laneMessages, options.laneBytes & ~std::size_t{7}, sizeof(Head)};
    }
    static LaneLimits sharedLimitsOf(const RecordQueueOptions& options) noexcept {
        LaneLimits limits = limitsOf(options);
        limits.bytes = std::max(limits.bytes, leastBytes + sizeof(ThreadInfo));
        return limits;
    }

    // ---- A post

    template <class Write>
    SendResult postToOwn(RecordLane& lane, const Head& head, std::size_t bytes, Overflow policy,
                         Write& write) {
        const UseLane use(lane);
        const PostAttempt attempt = tryPost(lane, 0, head, bytes, write);
        if (__builtin_expect(attempt == PostAttempt::ok, 1)) {
            return SendResult::ok;
        }
        return postWithoutRoom(lane, head, bytes, policy, write, attempt);
    }

    /// Writes the whole record, except the stamp and the payload. Returns the address for the
    /// payload.
    static std::byte* fill(std::byte* record, const Head& head, std::size_t payloadSize,
                           std::size_t footprint, std::uint32_t flags) noexcept {
        ::new (record) RecordFrame{0, static_cast<std::uint32_t>(payloadSize),
                                   static_cast<std::uint32_t>(footprint) | flags};
        ::new (record + sizeof(RecordFrame)) Head(head);
        if ((flags & RecordFrame::foreign) == 0) {
            return record + Order::payloadAt;
        }
        ::new (record + Order::payloadAt) ThreadInfo(thisThread());
        return record + Order::payloadAt + sizeof(ThreadInfo);
    }

    PostAttempt publish(RecordLane& lane, std::byte* record) noexcept {
        const Stamp stamp = lane.publish(record, closed_);
        notifyBackEnd();  // also after close(): it may have seen the announcement and wait for it
        if (__builtin_expect(stamp == endOfTime, 0)) {
            return PostAttempt::closed;
        }
        Clock::waitUntilPast(stamp);
        return PostAttempt::ok;
    }

    /// Wakes the back end if it sleeps. Out of line, so that a log call is short enough to be
    /// inlined into its caller.
    [[gnu::noinline]] void notifyBackEnd() noexcept {
        Platform::Fence::light();
        // Relaxed: the fences of E1 order this load after the change of the lane.
        if (postsWake_.load(std::memory_order_relaxed)) {
            events_.notifyAll();
        }
    }

    // ---- The rare cases of a post

    /// Makes room as the policy says, and tries again.
    template <class Write>
    [[gnu::cold, gnu::noinline]] SendResult postWithoutRoom(RecordLane& lane, const Head& head,
                                                            std::size_t bytes, Overflow policy,
                                                            Write& write, PostAttempt attempt) {
        while (attempt == PostAttempt::full && makeRoom(lane, bytes, policy)) {
            attempt = tryPostRarely(lane, 0, head, bytes, write);
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

    /// Makes room for the record, or waits for room. False if the policy does not allow it.
    bool makeRoom(RecordLane& lane, std::size_t bytes, Overflow policy) {
        if (policy == Overflow::reject) {
            return false;
        }
        const RecordSize size = sizeIn(lane, 0, bytes);
        if (policy == Overflow::dropOldest) {
            return lane.evictFor(size);
        }
        if (!hasPolled()) {
            lane.awaitRoom(size, closed_);
        }
        return !isClosed();
    }

    /// If the calling thread polls a manual back end, it empties the lanes instead of waiting for
    /// room. False on any other thread.
    bool hasPolled() { return roomMaker_.make != nullptr && roomMaker_.make(roomMaker_.core); }

    /// The same as tryPost(), out of line.
    template <class Write>
    [[gnu::cold, gnu::noinline]] PostAttempt tryPostRarely(RecordLane& lane, std::uint32_t flags,
                                                           const Head& head, std::size_t bytes,
                                                           Write& write) {
        return tryPost(lane, flags, head, bytes, write);
    }

    /// Posts a record whose payload has a block of its own.
    template <class Write>
    [[gnu::cold, gnu::noinline]] PostAttempt tryPostLarge(RecordLane& lane, std::uint32_t flags,
                                                          const Head& head, std::size_t bytes,
                                                          Write& write) {
        const RecordSize size = sizeIn(lane, flags, bytes);
        std::byte* const record = lane.reserve(size);
        if (record == nullptr) {
            return PostAttempt::full;
        }
        LargePayload* const payload = LargePayload::make(bytes);
        if (payload == nullptr) {
            return PostAttempt::noMemory;
        }
        write(payload->bytes());
        flags |= RecordFrame::large;
        ::new (fill(record, head, 0, size.footprint, flags)) LargePayload*(payload);
        const PostAttempt attempt = publish(lane, record);
        if (attempt == PostAttempt::ok) {
            lane.notePublishedLarge();
        } else {
            LargePayload::free(payload);
        }
        return attempt;
    }

    /// Posts if the thread has no lane, or if it is in a post already.
    template <class Write>
    [[gnu::cold, gnu::noinline]] SendResult postElsewhere(const Head& head, std::size_t bytes,
                                                          Overflow policy, Write& write) {
        Slot* lane = Threads::find(registry_, hash_);
        if (lane == nullptr) {
            // Null if the thread is ending, or if there is no memory.
            lane = sluice::detail::resultOrDefault([this] { return Threads::add(*registry_); });
        }
        if (lane != nullptr && !lane->isInUse()) {
            return postToOwn(*lane, head, bytes, policy, write);
        }
        return postToShared(head, bytes, policy, write);
    }

    template <class Write>
    SendResult postToShared(const Head& head, std::size_t bytes, Overflow policy, Write& write) {
        Slot& lane = registry_->shared();
        constexpr std::uint32_t flags = RecordFrame::foreign;
        while (typename Registry::SharedGuard guard = registry_->lockShared()) {
            PostAttempt attempt = tryPostRarely(lane, flags, head, bytes, write);
            if (attempt == PostAttempt::full && policy == Overflow::dropOldest &&
                lane.evictFor(sizeIn(lane, flags, bytes))) {
                attempt = tryPostRarely(lane, flags, head, bytes, write);
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
                lane.awaitHalfFree(closed_);
            }
        }
        registry_->countSharedRejected();
        return SendResult::full;
    }

    [[nodiscard]] bool isClosed() const noexcept { return closed_.load(std::memory_order_acquire); }

    // ---- The sleep of the back end

    /// Sets whether posts wake the back end. If so, each post pays a full fence.
    void letPostsWake(bool isWanted) noexcept {
        // Relaxed, both: only the back end writes it. The fence of E1 orders it before later waits.
        if (postsWake_.load(std::memory_order_relaxed) == isWanted) {
            return;
        }
        postsWake_.store(isWanted, std::memory_order_relaxed);
        if (isWanted) {
            Platform::Fence::heavy();
        }
    }

    [[nodiscard]] bool isWoken() const noexcept {
        return woken_.load(std::memory_order_relaxed) != 0;  // relaxed: takeWake() acquires
    }
    [[nodiscard]] bool hasWork() const noexcept {
        return isWoken() || order_->hasChanged() || order_->hasRecords();
    }

    /// Waits until the stalled thread continues, and yields the processor to it. Later records of
    /// other threads cannot be emitted before, so posts do not wake the back end.
    bool waitForStalled(TimePoint until) {
        using std::chrono::microseconds;
        microseconds nap{0};
        microseconds slept{0};
        const auto ready = [this] { return isWoken() || order_->hasStalledContinued(); };
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
        return ready() && takeWake();
    }
    bool takeWake() noexcept {
        if (isWoken()) {
            // An exchange, because a store could overwrite a second wake() without acquiring its
            // writes.
            woken_.exchange(0, std::memory_order_acquire);
        }
        return true;
    }

    // ---- Numbers

    [[nodiscard]] LaneCounts totals() const {
        return registry_->counts([](const auto&, const LaneCounts&) {});
    }
    std::uint64_t sinceReset(const Atomic<std::uint64_t>& before,
                             std::uint64_t LaneCounts::*count) const {
        // Read before the totals, which only grow, so the difference is never negative.
        const std::uint64_t start = before.load(std::memory_order_acquire);
        return totals().*count - start;
    }
    void reset(Atomic<std::uint64_t>& before, std::uint64_t LaneCounts::*count) {
        before.store(totals().*count, std::memory_order_release);
    }

    static thread_statistics statisticsOf(const Slot& slot, const LaneCounts& counts) noexcept {
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

    // Each post reads these fields; they seldom change.
    Registry* const registry_;
    const std::size_t hash_;  ///< hash of registry_, for ThreadSlots
    const RoomMaker roomMaker_;
    Atomic<bool> closed_{false};                                      ///< written by close()
    Atomic<bool> postsWake_{false};                                   ///< written by the back end
    BasicEventCount<SleepPlatform, typename Traits::Parker> events_;  ///< the back end's sleep
    const std::chrono::nanoseconds maxHold_;
    Atomic<bool> copies_{false};  ///< relaxed: a setting
    Atomic<std::uint64_t> droppedBefore_{0};
    Atomic<std::uint64_t> rejectedBefore_{0};

    // The back end writes these.
    alignas(cacheLineSize) std::optional<Order> order_;
    Atomic<unsigned char> woken_{0};  ///< whether wake() was called since the last wait
    RoleCheck<Platform> role_;
    bool isSettled_ = false;  ///< whether the queue is closed and a poll has seen the last record
};

}  // namespace sluice::log::detail
