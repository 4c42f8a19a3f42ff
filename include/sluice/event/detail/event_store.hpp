#pragma once

#include <sluice/base/assert.hpp>
#include <sluice/base/on_exit.hpp>
#include <sluice/base/platform.hpp>
#include <sluice/base/send_result.hpp>
#include <sluice/base/setup_error.hpp>
#include <sluice/event/detail/event_lists.hpp>
#include <sluice/event/detail/policy_traits.hpp>
#include <sluice/event/event_queue_options.hpp>
#include <sluice/wait/park.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <thread>
#include <type_traits>
#include <utility>

namespace sluice::detail {

/// The wait strategy for SingleThreading. Timed waits sleep until their deadline.
class SingleThreadWait {
public:
    using Clock = StdPlatform::Clock;

    template <class Ready>
    void wait(Ready ready) {
        if (!ready()) {
            failAssertion(
                {"",
                 "this wait on an EventQueue with SingleThreading never ends: no "
                 "other thread can add or process events. Use MultipleThreading, or waitFor()",
                 __FILE__, __LINE__});
        }
    }
    template <class Ready>
    bool waitUntil(Ready ready, Clock::time_point deadline) {
        if (!ready()) {
            std::this_thread::sleep_until(deadline);
        }
        return ready();
    }
    void notifyAll() noexcept {}
    void notifyOne() noexcept {}
};

template <class T>
using WaitMember = typename T::Wait;

template <class Threading>
using EventWaiters = std::conditional_t<
    isSingleThreading<Threading>, SingleThreadWait,
    typename PolicyOr<BasicPark<PlatformOf<Threading>>, WaitMember, Threading>::Type>;

/// The events of a queue: a list under one lock, for any number of producers and consumers.
///
/// A consumer takes out one event or all events in constant time, and handles them without the
/// lock. Events that a consumer keeps return to the front of the queue. No user code runs under the
/// lock, except a list type of the policies. If this list type throws when events are put back, the
/// program ends.
template <class Event, class EventList, class Threading>
class EventStore {
    using Lock = LockOf<Threading>;
    using Guard = std::lock_guard<Lock>;
    using Waiters = EventWaiters<Threading>;
    using Platform = PlatformOf<Threading>;
    template <class T>
    using Atomic = typename Platform::template Atomic<T>;

public:
    class Batch;

    explicit EventStore(const EventQueueOptions& options = {}) : options_(options) {
        requireAtLeast("limit of an EventQueue is too small", options.limit, 1);
        if (EventList::isOrdered && options.overflow == Overflow::dropOldest) {
            setupError(
                "the QueueList of this EventQueue has an order of its own, so the queue does "
                "not know its oldest event; overflow",
                static_cast<unsigned>(options.overflow), static_cast<unsigned>(Overflow::block));
        }
    }
    EventStore(const EventStore&) = delete;
    EventStore& operator=(const EventStore&) = delete;

    /// If a handler destroys the store, the running Batch destroys its remaining events.
    [[gnu::cold, gnu::noinline]] ~EventStore() {
        typename EventList::Spares memory;
        memory.swap(spares_);
        for (Batch* batch = std::exchange(batches_, nullptr); batch != nullptr;
             batch = batch->older_) {
            batch->store_ = nullptr;
            if (batch->older_ == nullptr) {
                batch->orphans_.swap(memory);
            }
        }
        // Destructors of events may use the store, so it is closed and empty before they run.
        isClosed_.store(true, std::memory_order_relaxed);  // not shared
        size_.store(0, std::memory_order_relaxed);
        EventList rest;
        rest.swap(events_);
        EventList gone;
        destroyEach(rest, gone);
    }

    const EventQueueOptions& options() const noexcept { return options_; }

    /// How add() makes an event.
    enum class Content {
        plain,   ///< copies numbers and bytes: calls no user code and cannot throw
        foreign  ///< calls constructors
    };

    /// Adds the event that make() returns, or nothing if make() throws.
    template <Content How, class Make>
    SendResult add(Make make) {
        SendResult result;
        do {
            if constexpr (EventList::hasSpares && How == Content::plain) {
                result = addPlain(make);
            } else {
                result = build(make);
            }
        } while (result != SendResult::ok && awaitRoom(result));
        return result;
    }

    /// Calls use(event) for the first event without removing the event. Consumers wait until use()
    /// returns, so use() must not consume. Returns false if no event is queued.
    template <class Use>
    bool peek(Use use) {
        const Peek first(*this);
        if (first.event == nullptr) {
            return false;
        }
        use(*first.event);
        return true;
    }

    [[nodiscard]] std::size_t size() const noexcept {
        return size_.load(std::memory_order_acquire);  // E1 ready
    }
    [[nodiscard]] bool isEmpty() const noexcept { return size() == 0; }

    /// Returns true if an event is queued, being added or being handled.
    [[nodiscard]] bool isBusy() const noexcept {
        const Guard guard(lock_);
        return isBusy(guard);
    }

    /// Waits for an event. Returns false if the store is closed and not busy.
    bool awaitWork() const {
        arrived_.wait([this] { return isReady() || (isClosed() && (!isEmpty() || !isBusy())); });
        return !isClosed() || isBusy();
    }

    void close() noexcept {
        {
            const Guard guard(lock_);
            isClosed_.store(true, std::memory_order_release);  // E2 close
        }
        notifyEverybody();
    }
    [[nodiscard]] bool isClosed() const noexcept {
        return isClosed_.load(std::memory_order_acquire);  // E2 close
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

    [[nodiscard]] EventQueueStatistics statistics() const noexcept {
        const Guard guard(lock_);
        std::uint64_t handling = 0;
        for (const Batch* batch = batches_; batch != nullptr; batch = batch->older_) {
            handling += batch->taken_;
        }
        const std::size_t queued = size_.load(std::memory_order_relaxed);  // under the lock
        EventQueueStatistics result;
        result.enqueued = taken_ + discarded_ + queued;
        result.rejected = rejected_;
        result.discarded = discarded_;
        result.processed = taken_ - handling;
        result.queued = queued;
        result.highWater = std::max(highWater_, queued);
        return result;
    }

    /// Returns true if an event is queued and notifications are not silenced.
    [[nodiscard]] bool isReady() const noexcept { return !isEmpty() && isNotifying(); }
    /// A full store ignores silence(), because producers may be waiting.
    [[nodiscard]] bool isNotifying() const noexcept {
        return silencers_.load(std::memory_order_acquire) == 0 ||
               size() >= options_.limit;  // E3 sound
    }

    /// Until unsilence() has been called as often as silence(), added events wake no thread.
    void silence() noexcept {
        const Guard guard(lock_);
        // The loads in silence() and unsilence() are relaxed, because they run under the lock.
        silencers_.store(silencers_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
    }
    void unsilence() noexcept {
        {
            const Guard guard(lock_);
            silencers_.store(silencers_.load(std::memory_order_relaxed) - 1,
                             std::memory_order_release);  // E3 sound
        }
        if (isReady()) {
            notify(arrived_);
        }
    }

    Waiters& arrived() const noexcept { return arrived_; }

    /// The threads that wait until the store is not busy, or until a peek has ended.
    Waiters& changed() const noexcept { return changed_; }

private:
    // Happens-before edges, beside those of the lock (proof: docs/algorithms/events.md):
    //   E1 ready: resize -> size.
    //   E2 close: close -> isClosed.
    //   E3 sound: unsilence -> isNotifying.

    struct Peek;
    struct Reservation;

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
        bool isHeard = false;
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
            resize(guard, 1);
            isHeard = isNotifying();
        }
        if (isHeard) {
            notifyOneOf(arrived_);
        }
        return true;
    }

    /// Reserves one of the queue's `limit` places, and then makes the event without the lock.
    template <class Make>
    SendResult build(Make& make) {
        Reservation reservation{*this};
        const SendResult result = reservation.begin();
        if (result == SendResult::ok) {
            reservation.node.fillBack(make);
            reservation.append();
        }
        return result;
    }

    /// With Overflow::block, waits while the store is full. Returns false if the event is rejected.
    [[gnu::cold, gnu::noinline]] bool awaitRoom(SendResult refusal) {
        if (refusal == SendResult::full && options_.overflow == Overflow::block) {
            awaitRarely(room_, [](const EventStore& store) noexcept { return store.hasRoom(); });
            return true;
        }
        const Guard guard(lock_);
        ++rejected_;
        return false;
    }

    bool hasRoom() const noexcept {
        const Guard guard(lock_);
        return admit(guard) != SendResult::full;
    }

    // Functions with a guard parameter run under the lock, so their loads are relaxed.

    bool isBusy(const Guard& /*guard*/) const noexcept {
        return reserved_ != 0 || batches_ != nullptr || size_.load(std::memory_order_relaxed) != 0;
    }

    /// During a peek, the limit is higher by 1, so that dropOldest can keep the peeked event.
    SendResult admit(const Guard& /*guard*/) const noexcept {
        if (isClosed_.load(std::memory_order_relaxed)) {
            return SendResult::closed;
        }
        const std::size_t used = size_.load(std::memory_order_relaxed) + reserved_;
        const bool fits = used < options_.limit || (used == options_.limit && peek_ != nullptr);
        return fits ? SendResult::ok : SendResult::full;
    }

    void resize(const Guard& /*guard*/, std::ptrdiff_t change) noexcept {
        const std::size_t old = size_.load(std::memory_order_relaxed);
        size_.store(old + static_cast<std::size_t>(change), std::memory_order_release);  // E1 ready
    }

    /// Called before size_ decreases, so that producers need not compute a maximum.
    void noteHighWater(const Guard& /*guard*/) noexcept {
        highWater_ = std::max(highWater_, size_.load(std::memory_order_relaxed));
    }

    bool isToDiscard(SendResult admitted) const noexcept {
        return admitted == SendResult::full && options_.overflow == Overflow::dropOldest;
    }

    /// Moves the oldest events to `discarded` until a new event fits. Returns admit().
    [[gnu::cold, gnu::noinline]] SendResult discardOldest(const Guard& guard,
                                                          EventList& discarded) noexcept {
        noteHighWater(guard);
        EventList peeked;
        // Discards more than one event if events were put back beyond the limit.
        while (admit(guard) == SendResult::full && !events_.isEmpty() &&
               reserved_ < options_.limit) {
            if (peek_ != nullptr && peek_->event == &events_.front()) {
                events_.moveFrontTo(peeked);
            } else {
                events_.moveFrontTo(discarded);
                resize(guard, -1);
                ++discarded_;
            }
        }
        events_.prepend(peeked);
        return admit(guard);
    }

    [[gnu::cold, gnu::noinline]] SendResult discardPlain(const Guard& guard) noexcept {
        EventList discarded;
        const SendResult result = discardOldest(guard, discarded);
        spares_.giveBack(discarded);
        return result;
    }

    static void destroyEach(EventList& events, EventList& used) {
        while (!events.isEmpty()) {
            events.destroyFront();
            events.moveFrontTo(used);
        }
    }

    /// Calls the destructors of events, which are user code, without the lock.
    [[gnu::cold, gnu::noinline]] void destroyAll(EventList& events) {
        EventList empty;
        destroyEach(events, empty);
        const Guard guard(lock_);
        spares_.giveBack(empty);
    }

    [[gnu::cold, gnu::noinline]] void addSpares() {
        decltype(EventList::Spares::makeMore()) more = nullptr;
        const OnExit wakeNext{[&] {
            if (more == nullptr) {
                notify(room_);
            }
        }};
        more = EventList::Spares::makeMore();
        const Guard guard(lock_);
        spares_.add(more);
    }

    [[gnu::cold, gnu::noinline]] void provideNode(EventList& node) {
        if constexpr (!EventList::hasSpares) {
            node.addNode();
        } else {
            while (node.isEmpty()) {
                addSpares();
                const Guard guard(lock_);
                (void)spares_.take(node);
            }
        }
    }

    /// Not inlined, unlike notifyAll().
    [[gnu::noinline]] static void notify(Waiters& waiters) noexcept { waiters.notifyAll(); }

    void notifyEverybody() noexcept {
        notify(arrived_);
        notify(room_);
        notify(changed_);
    }

    void awaitEndOfPeek() const {
        awaitRarely(changed_, [](const EventStore& store) noexcept {
            const Guard guard(store.lock_);
            return store.peek_ == nullptr;
        });
    }
    bool isPeeking() const noexcept {
        const Guard guard(lock_);
        return peek_ != nullptr && peek_->thread == Platform::thisThread();
    }

    /// Not inlined, because each copy of a wait would take a kilobyte of code.
    [[gnu::cold, gnu::noinline]] void
    awaitRarely(Waiters& waiters, bool (*isReadyNow)(const EventStore&) noexcept) const {
        SLUICE_ASSERT(!isPeeking(), "peekEvent(): the copy of a peeked event must not wait for its "
                                    "queue: do not take events or queue into a full queue there");
        waiters.wait([this, isReadyNow] { return isReadyNow(*this); });
    }

    const EventQueueOptions options_;
    mutable Waiters arrived_;  // consumers wait here for an event or for close()
    mutable Waiters room_;     // producers wait here until the store is not full
    mutable Waiters changed_;  // all other waits

    // lock_ guards the members below. Atomic members are also read without the lock.
    alignas(cacheLineSize) mutable Lock lock_;
    Atomic<bool> isClosed_{false};
    Atomic<unsigned> silencers_{0};
    Atomic<std::size_t> size_{0};
    std::size_t reserved_ = 0;    // events that are admitted and not in events_ yet
    const Peek* peek_ = nullptr;  // the Peek of a running peek(), or null
    EventList events_;
    typename EventList::Spares spares_;  // nodes without an event
    Batch* batches_ = nullptr;           // newest first
    std::uint64_t taken_ = 0;            // also events being handled
    std::uint64_t discarded_ = 0;
    std::uint64_t rejected_ = 0;
    std::size_t highWater_ = 0;  // the maximum of size_ before its last decrease
};

/// An admitted event that is not in the list yet. The destructor frees the reserved place if the
/// event's constructor or the policies' list has thrown.
template <class Event, class EventList, class Threading>
struct EventStore<Event, EventList, Threading>::Reservation {
    EventStore& store;
    EventList node{};
    bool isAdmitted = false;

    [[gnu::noinline]] SendResult begin() {
        EventList discarded;
        {
            const Guard guard(store.lock_);
            SendResult result = store.admit(guard);
            if (store.isToDiscard(result)) {
                result = store.discardOldest(guard, discarded);
            }
            if (result != SendResult::ok) {
                return result;
            }
            isAdmitted = true;
            ++store.reserved_;
            (void)store.spares_.take(node);
        }
        if (!discarded.isEmpty()) {
            store.destroyAll(discarded);
        }
        if (node.isEmpty()) {
            store.provideNode(node);
        }
        return SendResult::ok;
    }

    [[gnu::noinline]] void append() {
        bool isHeard = false;
        {
            const Guard guard(store.lock_);
            node.moveFrontTo(store.events_);
            isAdmitted = false;
            --store.reserved_;
            store.resize(guard, 1);
            isHeard = store.isNotifying();
        }
        if (isHeard) {
            notifyOneOf(store.arrived_);
        }
    }

    ~Reservation() {
        if (isAdmitted) {
            giveUp();
        }
    }

    [[gnu::cold, gnu::noinline]] void giveUp() noexcept {
        {
            const Guard guard(store.lock_);
            --store.reserved_;
            store.spares_.giveBack(node);
        }
        store.notifyEverybody();
    }
};

/// Keeps consumers from taking the first event while the Peek lives.
template <class Event, class EventList, class Threading>
struct EventStore<Event, EventList, Threading>::Peek {
    EventStore& store;
    const void* const thread = Platform::thisThread();
    Event* event = nullptr;

    explicit Peek(EventStore& ownStore) : store(ownStore) {
        while (!begins()) {
            store.awaitEndOfPeek();
        }
    }
    ~Peek() {
        if (event != nullptr) {
            {
                const Guard guard(store.lock_);
                store.peek_ = nullptr;
            }
            notify(store.changed_);
        }
    }

    /// Returns false while another thread peeks.
    bool begins() noexcept {
        const Guard guard(store.lock_);
        if (store.peek_ != nullptr) {
            return false;
        }
        if (!store.events_.isEmpty()) {
            event = &store.events_.front();
            store.peek_ = this;
        }
        return true;
    }
};

/// Events that a consumer has taken out. The destructor puts kept and remaining events back to the
/// front of the store. If a handler has destroyed the store, the destructor destroys these events.
template <class Event, class EventList, class Threading>
class EventStore<Event, EventList, Threading>::Batch {
public:
    enum class Amount { one, all };

    Batch(EventStore& store, Amount amount) {
        if (store.isEmpty()) {
            return;
        }
        while (!hasTakenFrom(store, amount)) {
            store.awaitEndOfPeek();
        }
        if (left_ != 0 && store.options_.overflow == Overflow::block) {
            left_ == 1 ? notifyOneOf(store.room_) : notify(store.room_);
        }
    }
    Batch(const Batch&) = delete;
    Batch& operator=(const Batch&) = delete;
    ~Batch() {
        if (store_ == nullptr) {
            destroyEach(kept_, done_);
            destroyEach(rest_, done_);
            return;
        }
        giveBack();
    }

    [[nodiscard]] std::size_t size() const noexcept { return taken_; }

    [[nodiscard]] bool isOrphaned() const noexcept { return taken_ != 0 && store_ == nullptr; }

    [[nodiscard]] bool hasNext() const noexcept { return store_ != nullptr && left_ != 0; }
    Event& front() noexcept { return rest_.front(); }

    /// Calls handle(event) for each event, and destroys the event even if handle() throws.
    template <class Handle>
    SLUICE_ALWAYS_INLINE void useUp(Handle handle) {
        Passage passage(*this);
        while (store_ != nullptr && !passage.walk.isAtEnd()) {
            const UsedUp event{passage};
            handle(passage.walk.front());
        }
    }

    void drop() {
        rest_.destroyFront();
        rest_.moveFrontTo(done_);
        --left_;
    }

    void keep() {
        rest_.moveFrontTo(kept_);
        --left_;
        ++keptCount_;
    }

    void discard() {
        isDiscarding_ = true;
        useUp([](Event&) {});
    }

private:
    friend class EventStore;

    /// Copies the fields that change with each event. The copies stay in registers.
    struct Passage {
        Batch& batch;
        std::size_t left;
        typename EventList::Walk walk;

        explicit Passage(Batch& ownBatch) noexcept
            : batch(ownBatch), left(ownBatch.left_), walk(ownBatch.rest_, ownBatch.done_) {}
        ~Passage() { batch.left_ = left; }
    };
    struct UsedUp {
        Passage& passage;

        ~UsedUp() {
            passage.walk.destroyFront();
            --passage.left;
        }
    };

    /// Returns false while a thread peeks at the first event.
    bool hasTakenFrom(EventStore& store, Amount amount) {
        const Guard guard(store.lock_);
        if (store.events_.isEmpty() || store.peek_ != nullptr) {
            return store.peek_ == nullptr;
        }
        store.noteHighWater(guard);
        if (amount == Amount::one) {
            store.events_.moveFrontTo(rest_);
            left_ = 1;
        } else {
            rest_.swap(store.events_);
            left_ = store.size_.load(std::memory_order_relaxed);  // under the lock
        }
        taken_ = left_;
        store.resize(guard, -static_cast<std::ptrdiff_t>(left_));
        store.taken_ += left_;
        join(store);
        return true;
    }

    /// Puts unhandled and kept events back into the store.
    void giveBack() noexcept {
        EventStore& store = *store_;
        const Guard guard(store.lock_);
        const std::size_t putBack = left_ + keptCount_;
        store.resize(guard, static_cast<std::ptrdiff_t>(putBack));
        store.taken_ -= isDiscarding_ ? taken_ : putBack;
        store.discarded_ += isDiscarding_ ? taken_ - putBack : 0;
        store.events_.prepend(rest_);
        store.events_.prepend(kept_);
        store.spares_.giveBack(done_);
        leave();
        const bool isOver = !store.isBusy(guard);
        if (isOver && store.spares_.bytes() > store.options_.keptBytes) {
            orphans_.swap(store.spares_);
        }
        // Notifies under the lock: after the unlock, a thread in drain() may destroy the store.
        if (putBack != 0 || store.isClosed()) {
            notify(store.arrived_);
        }
        if (isOver) {
            notify(store.changed_);
        }
    }

    // Not inlined, because g++ would warn about storing the address of a local variable.
    [[gnu::noinline]] void join(EventStore& store) noexcept {
        store_ = &store;
        older_ = store.batches_;
        if (older_ != nullptr) {
            older_->newer_ = this;
        }
        store.batches_ = this;
    }
    void leave() noexcept {
        (newer_ != nullptr ? newer_->older_ : store_->batches_) = older_;
        if (older_ != nullptr) {
            older_->newer_ = newer_;
        }
    }

    // Spare nodes of a destroyed or too large store. Declared first, to be destroyed last.
    typename EventList::Spares orphans_;
    EventStore* store_ = nullptr;  // null if no event was taken, and after ~EventStore()
    Batch* older_ = nullptr;       // guarded by the store's lock, like newer_
    Batch* newer_ = nullptr;
    EventList rest_;  // events that are still to be handled
    EventList kept_;
    EventList done_;  // nodes whose events are destroyed
    std::size_t taken_ = 0;
    std::size_t left_ = 0;  // the size of rest_; outdated during a Passage
    std::size_t keptCount_ = 0;
    bool isDiscarding_ = false;
};

}  // namespace sluice::detail
