#pragma once

#include <sluice/base/cache_line.hpp>
#include <sluice/base/send_result.hpp>
#include <sluice/base/setup_error.hpp>
#include <sluice/event/detail/list/read_side.hpp>
#include <sluice/event/detail/queue/coroutine_waiter.hpp>
#include <sluice/event/detail/queue/event_counts.hpp>
#include <sluice/event/detail/queue/event_lists.hpp>
#include <sluice/event/detail/queue/event_waiters.hpp>
#include <sluice/event/event_queue_options.hpp>
#include <sluice/wait/park.hpp>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <type_traits>

namespace sluice::detail {

/// The events of a queue, between any number of producers and consumers.
///
/// A list of events under one lock. Producers append one at a time. A consumer takes the first one
/// or all of them out in constant time. It handles these events without the lock, and puts the kept
/// ones back to the front.
///
/// Progress: blocking, for a few instructions. No foreign code runs under the lock, except a list
/// type that the user's policy names. A producer writes an event of plain values under the lock,
/// and builds any other event without it. If a list throws when an event is added, the event is
/// refused. If a list throws when events are put back, the program ends.
///
/// Memory promise: the handler of an event sees the producer's writes before it added the event.
///
/// Order: first in, first out. Events that a consumer puts back come before events added since.
///
/// Exact counts: accepted = taken and not put back + discarded + still there.
///
/// Invariants, under the lock: size_ is the number of events in events_. When an event is admitted,
/// size_ + reserved_ <= limit; reserved_ events have been admitted and are not in events_ yet.
/// Events that are put back may exceed the limit; while they do, no event is admitted. batches_
/// links the batches of consumers, newest first. While isPeeked_, the first event stays the first.
///
/// Edges: E1 hand-over: event written -> unlock .. lock -> event read. E2 ready: size_ release ..
/// acquire by a waiting thread; between the two, the event count's own edge.
///
/// Tests: tests/unit/event/event_queue*_test.cpp, tests/stress/event_stress_test.cpp.
///
/// `Counts`: an EventCounts. It is a base class, so that it takes no room if statistics are off.
template <class Event, class EventList, class Threading, class Counts = EventCounts<false>>
class EventStore : private Counts {
    using ReadSide = ReadSideOf<Threading>;
    using Lock = LockOf<Threading>;
    using Guard = std::lock_guard<Lock>;
    template <class T>
    using Atomic = typename ReadSide::Platform::template Atomic<T>;

public:
    class Batch;

    explicit EventStore(const EventQueueOptions& options = {})
        : options_(options) {
        requireAtLeast("limit of an EventQueue is too small", options.limit, 1);
    }

    EventStore(const EventStore&) = delete;
    EventStore& operator=(const EventStore&) = delete;

    /// A handler may destroy the store: its batch then destroys the rest of its events. A thread
    /// that waits for the end of a batch may destroy the store immediately, because the unlock of
    /// this batch is its last access.
    [[gnu::cold, gnu::noinline]] ~EventStore() {
        for (Batch* batch = batches_; batch != nullptr; batch = batch->older_) {
            batch->store_ = nullptr;
            if (batch->older_ == nullptr) {
                batch->orphans_.swap(spares_);
            }
        }
        // Relaxed: only destructors of events read it. They cannot add an event any more.
        isClosed_.store(true, std::memory_order_relaxed);
        EventList gone;
        destroyEach(events_, gone);
        (void)coroutines_.takeAll();  // no thread resumes them any more
    }

    const EventQueueOptions& options() const noexcept { return options_; }

    /// How add() makes an event.
    enum class Content {
        plain,   ///< by copying numbers and bytes: no foreign code, nothing throws
        foreign  ///< by calling constructors
    };

    /// Adds the event that make() returns. If make() throws, nothing is added.
    template <Content How, class Make>
    SendResult add(Make make) {
        const SendResult result = tryAdd<How>(make);
        return result == SendResult::ok ? result : refused<How>(result, make);
    }

    /// Calls look(event) for the first event, which stays. Consumers wait until look() returns.
    /// Returns false if there is no event.
    template <class Look>
    bool peek(Look look);

    [[nodiscard]] bool isEmpty() const noexcept {
        return size_.load(std::memory_order_acquire) == 0;  // E2
    }
    [[nodiscard]] std::size_t size() const noexcept {
        return size_.load(std::memory_order_acquire);
    }

    /// Whether an event is queued, being added or being handled.
    [[nodiscard]] bool isBusy() const noexcept {
        const Guard guard(lock_);
        return isBusy(guard);
    }

    /// Waits until there is an event, or until the store has ended: it is closed and not busy. Then
    /// it returns false.
    bool awaitWork() const {
        arrived_.wait([this] { return isReady() || (isClosed() && (!isEmpty() || !isBusy())); });
        return !isClosed() || isBusy();
    }

    void close() noexcept {
        CoroutineWaiter* woken = nullptr;
        {
            const Guard guard(lock_);
            isClosed_.store(true, std::memory_order_release);
            woken = takeCoroutines(guard);
        }
        notifyEverybody();
        wakeAll(woken);
    }
    [[nodiscard]] bool isClosed() const noexcept {
        return isClosed_.load(std::memory_order_acquire);
    }

    /// Frees the spare nodes if the store is not busy. Returns the number of freed bytes.
    std::size_t trim() noexcept {
        typename EventList::Spares unused;
        const Guard guard(lock_);
        if (!isBusy(guard)) {
            unused.swap(spares_);
        }
        return unused.bytes();
    }

    [[nodiscard]] std::uint64_t discardedCount() const noexcept {
        const Guard guard(lock_);
        return discarded_;
    }
    [[nodiscard]] auto statistics() const noexcept {
        const Guard guard(lock_);
        return Counts::with(guard, discarded_,
                            size_.load(std::memory_order_relaxed));  // relaxed: the lock
    }

    /// Whether there is an event and no silence() is in force.
    [[nodiscard]] bool isReady() const noexcept { return !isEmpty() && isNotifying(); }
    [[nodiscard]] bool isNotifying() const noexcept {
        return silencers_.load(std::memory_order_acquire) == 0;
    }

    /// Added events wake no waiter until each silence() has its unsilence().
    void silence() noexcept {
        const Guard guard(lock_);
        // Relaxed loads, also in unsilence(): silencers_ is written under the lock.
        silencers_.store(silencers_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
    }
    void unsilence() noexcept {
        CoroutineWaiter* woken = nullptr;
        {
            const Guard guard(lock_);
            silencers_.store(silencers_.load(std::memory_order_relaxed) - 1,
                             std::memory_order_release);
            woken = takeCoroutines(guard);
        }
        if (isReady()) {
            arrived_.notifyAll();
        }
        wakeAll(woken);
    }

    /// Lets a coroutine wait. A thread wakes `waiter` if there may be an event for it, or if the
    /// store has ended.
    SuspendResult suspend(CoroutineWaiter& waiter) noexcept {
        const Guard guard(lock_);
        if (isReady()) {
            return SuspendResult::hasEvent;
        }
        if (hasEnded(guard)) {
            return SuspendResult::ended;
        }
        coroutines_.append(waiter);
        return SuspendResult::waits;
    }
    void forget(const CoroutineWaiter& waiter) noexcept {
        const Guard guard(lock_);
        coroutines_.remove(waiter);
    }

    /// Threads wait here for an event or the end. Each added event wakes one of them.
    EventWaiters<Threading>& arrived() const noexcept { return arrived_; }

    /// Threads wait here until the store is not busy, or until a peek has ended.
    EventWaiters<Threading>& changed() const noexcept { return changed_; }

private:
    /// Waits for room and tries again, if the options say so. Returns the last result.
    template <Content How, class Make>
    [[gnu::cold, gnu::noinline]] SendResult refused(SendResult result, Make& make);
    class RoomWait;
    bool canHaveRoom() const noexcept;
    bool hasRoom() const noexcept;

    template <Content How, class Make>
    SendResult tryAdd(Make& make) {
        if constexpr (EventList::hasSpares && How == Content::plain) {
            return addPlain(make);
        } else {
            return build(make);
        }
    }

    /// Relaxed: size_ is written with a guard.
    bool isBusy(const Guard& /*guard*/) const noexcept {
        return reserved_ != 0 || batches_ != nullptr || size_.load(std::memory_order_relaxed) != 0;
    }

    /// Relaxed: isClosed_ is written with a guard.
    bool hasEnded(const Guard& guard) const noexcept {
        return isClosed_.load(std::memory_order_relaxed) && !isBusy(guard);
    }

    void notifyEverybody() noexcept {
        arrived_.notifyAll();
        room_.notifyAll();
        changed_.notifyAll();
    }

    /// Takes out the coroutines that the caller wakes after the unlock.
    CoroutineWaiter* takeCoroutines(const Guard& guard) noexcept {
        return coroutines_.isEmpty() ? nullptr : takeWaitingCoroutines(guard);
    }
    [[gnu::cold, gnu::noinline]] CoroutineWaiter*
    takeWaitingCoroutines(const Guard& guard) noexcept {
        return isReady() || hasEnded(guard) ? coroutines_.takeAll() : nullptr;
    }

    struct Peek;
    void awaitEndOfPeek() const {
        awaitRarely(changed_, [](const EventStore& store) noexcept {
            const Guard guard(store.lock_);
            return !store.isPeeked_;
        });
    }

    /// Rare waits share this function, because each wait takes a kilobyte of code.
    [[gnu::cold, gnu::noinline]] void
    awaitRarely(EventWaiters<Threading>& waiters,
                bool (*isReadyNow)(const EventStore&) noexcept) const {
        waiters.wait([this, isReadyNow] { return isReadyNow(*this); });
    }

    /// The waiters that a producer wakes for a new event. The lock orders audience() and
    /// unsilence(): either the producer sees that no silence() is in force, or the last unsilence()
    /// sees the event.
    struct Audience {
        bool threads = false;
        CoroutineWaiter* coroutine = nullptr;
    };
    Audience audience(const Guard& /*guard*/) noexcept {
        return isNotifying() ? Audience{true, coroutines_.takeFirst()} : Audience{};
    }
    /// The caller has released the lock.
    void announce(Audience audience) noexcept {
        if (audience.threads) {
            notifyOneOf(arrived_);
        }
        wakeAll(audience.coroutine);
    }

    /// Relaxed, all: size_ and isClosed_ are written with a guard.
    SendResult admit(const Guard& /*guard*/) const noexcept {
        if (isClosed_.load(std::memory_order_relaxed)) {
            return SendResult::closed;
        }
        return size_.load(std::memory_order_relaxed) + reserved_ < options_.limit
                   ? SendResult::ok
                   : SendResult::full;
    }

    bool isToDiscard(SendResult admitted) const noexcept {
        return admitted == SendResult::full && options_.overflow == Overflow::dropOldest;
    }

    /// Moves the oldest events to `discarded` until there is room. Returns the new admit().
    [[gnu::cold, gnu::noinline]] SendResult discardOldest(const Guard& guard,
                                                          EventList& discarded) noexcept {
        // More than one event, if events that were put back exceed the limit.
        while (admit(guard) == SendResult::full && !events_.isEmpty() && !isPeeked_) {
            events_.moveFrontTo(discarded);
            resize(guard, -1);
            ++discarded_;
        }
        return admit(guard);
    }

    /// Returns the new size.
    std::size_t resize(const Guard& /*guard*/, std::ptrdiff_t change) noexcept {
        const auto old = static_cast<std::ptrdiff_t>(size_.load(std::memory_order_relaxed));
        const auto size = static_cast<std::size_t>(old + change);
        size_.store(size, std::memory_order_release);  // E2
        return size;
    }

    void countNew(const Guard& guard) noexcept { Counts::addEnqueued(guard, resize(guard, 1)); }

    static void destroyEach(EventList& events, EventList& used) {
        while (!events.isEmpty()) {
            events.destroyFront();
            events.moveFrontTo(used);
        }
    }

    /// The caller does not hold the lock, because destructors of events are foreign code.
    [[gnu::cold, gnu::noinline]] void destroyAll(EventList& events) {
        EventList empty;
        destroyEach(events, empty);
        const Guard guard(lock_);
        spares_.giveBack(empty);
    }

    /// Plain values need not be destroyed.
    [[gnu::cold, gnu::noinline]] SendResult discardPlain(const Guard& guard) noexcept {
        EventList discarded;
        const SendResult result = discardOldest(guard, discarded);
        spares_.giveBack(discarded);
        return result;
    }

    template <class Make>
    SendResult addPlain(Make& make) {
        SendResult result = SendResult::ok;
        while (!addedPlain(make, result)) {
            addSpares();
        }
        return result;
    }

    /// Returns false if there was no spare node.
    template <class Make>
    bool addedPlain(Make& make, SendResult& result) noexcept {
        Audience listeners;
        {
            const Guard guard(lock_);
            SendResult admitted = admit(guard);
            if (isToDiscard(admitted)) {
                admitted = discardPlain(guard);
            }
            if (admitted != SendResult::ok) {
                result = admitted;
                return true;
            }
            if (!spares_.take(events_)) {
                return false;
            }
            events_.fillBack(make);
            countNew(guard);
            listeners = audience(guard);
        }
        announce(listeners);
        return true;
    }

    [[gnu::cold, gnu::noinline]] void addSpares() {
        auto* const more = EventList::Spares::makeMore();
        const Guard guard(lock_);
        spares_.add(more);
    }

    struct Reservation;

    template <class Make>
    SendResult build(Make& make);
    [[gnu::cold, gnu::noinline]] void provideNode(EventList& node);

    const EventQueueOptions options_;
    mutable EventWaiters<Threading> arrived_;  // waits of consumers: for an event, or the end
    mutable EventWaiters<Threading> room_;     // waits of producers: for room, or the end
    mutable EventWaiters<Threading> changed_;  // all other waits

    // Guarded by lock_; threads read the atomic ones without it. A producer that adds an event uses
    // one cache line.
    alignas(cacheLineSize) mutable Lock lock_;
    Atomic<bool> isClosed_{false};       ///< whether all later events are refused; set by close()
    Atomic<unsigned> silencers_{0};      ///< calls of silence() without their unsilence() yet
    Atomic<std::size_t> size_{0};        ///< events in events_; written by producers and consumers
    std::size_t reserved_ = 0;           ///< admitted events that producers are building
    bool isPeeked_ = false;              ///< whether a thread peeks; set by this thread
    EventList events_;                   ///< the waiting events, the next one first
    typename EventList::Spares spares_;  ///< nodes without an event, for the next events
    CoroutineWaiters coroutines_;        ///< coroutines that wait for an event or the end
    Batch* batches_ = nullptr;           ///< the newest batch, linked by older_
    std::uint64_t discarded_ = 0;        ///< discarded events so far; written by any thread
};

}  // namespace sluice::detail
