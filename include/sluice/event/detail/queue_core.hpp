#pragma once

#include <sluice/event/detail/event_store.hpp>
#include <sluice/event/detail/policy_traits.hpp>
#include <sluice/wait/park.hpp>

#include <chrono>
#include <cstddef>
#include <list>
#include <tuple>
#include <type_traits>
#include <utility>

namespace sluice::detail {

template <class P, class Item>
using QueueListMember = typename P::template QueueList<Item>;

/// A plain std::list is replaced by a NodeList, which is faster.
template <class List>
inline constexpr bool isPlainList = false;
template <class T>
inline constexpr bool isPlainList<std::list<T>> = true;

template <class Event, class Policies>
auto selectEventList() {
    if constexpr (isDetected<QueueListMember, Policies, EventStorage<Event>>) {
        using List = QueueListMember<Policies, EventStorage<Event>>;
        using EventList = std::conditional_t<isPlainList<List>, NodeList<Event>, PolicyList<List>>;
        return static_cast<EventList*>(nullptr);
    } else {
        return static_cast<NodeList<Event>*>(nullptr);
    }
}

/// The common base of EventQueue and HeterEventQueue: a dispatcher with a store of events.
///
/// A `Queued` holds an event and its arguments. visitQueued(queued, f) calls f(prototype, event,
/// args...). The dispatcher provides dispatchTo(prototype, event, args...).
template <class Dispatcher, class Queued, class Policies>
class QueueCore : public Dispatcher {
    using EventList = std::remove_pointer_t<decltype(selectEventList<Queued, Policies>())>;
    using Store = EventStore<Queued, EventList, ThreadingOf<Policies>>;

public:
    /// While a DisableQueueNotify exists, added events wake no thread and wait() does not return,
    /// unless the queue is full. The destructor of the last DisableQueueNotify wakes waiting
    /// threads if events are queued.
    class DisableQueueNotify {
    public:
        DisableQueueNotify(QueueCore* queue) noexcept : store_(queue->store_) { store_.silence(); }
        DisableQueueNotify(const DisableQueueNotify&) = delete;
        DisableQueueNotify& operator=(const DisableQueueNotify&) = delete;
        ~DisableQueueNotify() { store_.unsilence(); }

    private:
        Store& store_;
    };

    QueueCore() : QueueCore(EventQueueOptions{}) {}

    /// Calls setupError() if the limit is 0.
    explicit QueueCore(const EventQueueOptions& options) : store_(options) {}

    // Copying and moving affect only the listeners; queued events stay where they are.
    QueueCore(const QueueCore& other) : Dispatcher(other), store_(other.store_.options()) {}
    QueueCore(QueueCore&& other) noexcept
        : Dispatcher(std::move(other)), store_(other.store_.options()) {}
    QueueCore& operator=(const QueueCore& other) {
        Dispatcher::operator=(other);
        return *this;
    }
    QueueCore& operator=(QueueCore&& other) noexcept {
        Dispatcher::operator=(std::move(other));
        return *this;
    }

    /// Makes later enqueue() calls return false.
    void close() noexcept { store_.close(); }
    [[nodiscard]] bool isClosed() const noexcept { return store_.isClosed(); }

    // ---- Consumers. Any number of threads may consume; each event is passed to one thread.

    /// Dispatches the events that are queued now. Returns false if no event was queued.
    bool process() { return harvest(Amount::all, dispatching()).count != 0; }

    /// Dispatches the first event. Returns false if no event was queued.
    bool processOne() { return harvest(Amount::one, dispatching()).count != 0; }

    /// Calls visitor(event, args...) for the events that are queued now. Listeners, mixins and
    /// canContinueInvoking are not called, and the visitor is inlined.
    template <class Visitor>
    bool processQueueWith(Visitor&& visitor) {
        return harvest(Amount::all, visiting(visitor)).count != 0;
    }

    /// Like processQueueWith(), but only for the first event.
    template <class Visitor>
    bool processOneWith(Visitor&& visitor) {
        return harvest(Amount::one, visiting(visitor)).count != 0;
    }

    /// Dispatches events in a loop, and sleeps while no event is queued. Returns when the queue is
    /// closed and drained, or when a listener has destroyed the queue. A listener must not call
    /// run(). An exception of a listener ends run().
    template <class Pacing = BatchPacing>
    void run(const Pacing& pacing = Pacing()) {
        runLoop(dispatching(), pacing);
    }

    template <class Visitor, class Pacing = BatchPacing>
    void runWith(Visitor&& visitor, const Pacing& pacing = Pacing()) {
        runLoop(visiting(visitor), pacing);
    }

    void clearEvents() {
        Batch events(store_, Amount::all);
        events.discard();
    }

    /// If emptyQueue() is true, frees the memory kept for later events. Returns the freed bytes.
    std::size_t trim() noexcept { return store_.trim(); }

    /// Returns true if no event is queued, being queued or being processed.
    [[nodiscard]] bool emptyQueue() const noexcept { return !store_.isBusy(); }

    [[nodiscard]] std::size_t sizeApprox() const noexcept { return store_.size(); }

    [[nodiscard]] EventQueueStatistics statistics() const noexcept { return store_.statistics(); }

    [[nodiscard]] bool isDrained() const noexcept { return isClosed() && emptyQueue(); }

    /// The wait strategy of threads that wait for an event, such as WaitSet::Member.
    [[nodiscard]] auto& waiting() const noexcept { return store_.arrived(); }

    /// Waits for an event, or until the queue is closed. Each added event wakes one thread.
    void wait() const {
        store_.arrived().wait([this] { return store_.isReady() || isClosed(); });
    }

    /// Like wait(), with a time limit. Returns true if an event is queued or being processed,
    /// unless a DisableQueueNotify exists.
    template <class Rep, class Period>
    bool waitFor(const std::chrono::duration<Rep, Period>& limit) const {
        // Stored, because another consumer may take the event before waitFor() returns.
        bool isFound = false;
        const auto ready = [this, &isFound] {
            isFound = store_.isReady();
            return isFound || isClosed();
        };
        if (!ready()) {  // even for limit 0, waitUntil() must arm an EventFdWait
            (void)store_.arrived().waitUntil(ready, deadlineAfter<Clock>(limit));
        }
        return isFound || (store_.isNotifying() && !emptyQueue());
    }

    /// Closes the queue and waits until all events have been processed. Listeners must not call
    /// drain(). After drain(), the queue may be destroyed even before the last process() returns.
    void drain() {
        close();
        store_.changed().wait([this] { return emptyQueue(); });
    }

    /// Like drain(), with a time limit. Returns false if the limit passes first.
    template <class Rep, class Period>
    [[nodiscard]] bool drainFor(const std::chrono::duration<Rep, Period>& limit) {
        close();
        return store_.changed().waitUntil([this] { return emptyQueue(); },
                                          deadlineAfter<Clock>(limit));
    }

protected:
    using Batch = typename Store::Batch;
    using Amount = typename Batch::Amount;
    using Content = typename Store::Content;

    /// Returns `plain` for a short event that is made from First&& and A&&... without user code and
    /// needs no destructor. Other events are `foreign` and made without the lock.
    template <class Arguments, class First, class... A>
    static constexpr Content contentOf(bool hasGetEvent) noexcept {
        constexpr std::size_t maxPlainBytes = 256;
        return !hasGetEvent && sizeof(Queued) <= maxPlainBytes &&
                       std::is_trivially_destructible_v<Queued> &&
                       isPlain<typename Dispatcher::Key, First>() &&
                       arePlain<A...>(static_cast<Arguments*>(nullptr))
                   ? Content::plain
                   : Content::foreign;
    }

    /// Checks that the arguments can be made from A&&..., to avoid an error inside std::tuple.
    template <class Arguments, class... A>
    static constexpr bool canKeep() noexcept {
        constexpr bool result = std::is_constructible_v<Arguments, A...>;
        static_assert(result, "enqueue(): the queue keeps a copy of each argument, and cannot make "
                              "one of these: std::move() an argument that cannot be copied");
        static_assert(!slicesAny<std::decay_t<A>...>(static_cast<Arguments*>(nullptr)),
                      "enqueue(): the queue keeps a copy of each argument, and the copy of this "
                      "derived object would be its base class only: queue a pointer");
        return result;
    }

    template <Content How, class Make>
    bool add(Make make) {
        return store_.template add<How>(make) == SendResult::ok;
    }

    struct Outcome {
        std::size_t count;  ///< the number of events in the batch
        bool isQueueGone;   ///< true if a handler has destroyed the queue
    };

    // Inlined, so that a visitor's variables can stay in registers.
    template <class Handle>
    SLUICE_ALWAYS_INLINE Outcome harvest(Amount amount, Handle handle) {
        Batch events(store_, amount);
        events.useUp(handle);
        return {events.size(), events.isOrphaned()};
    }

    /// Dispatches the events for which `test` returns true, and keeps the other events. Sets
    /// `isGone` if a handler or the test has destroyed the queue.
    template <class Test>
    bool processWhere(Test test, bool& isGone) {
        bool any = false;
        Batch events(store_, Amount::all);
        while (events.hasNext()) {
            if (!test(events.front())) {
                events.keep();
            } else if (events.hasNext()) {  // false if the test has destroyed the queue
                any = true;
                dispatchFront(events);
            }
        }
        isGone = events.isOrphaned();
        return any;
    }

    void dispatchFront(Batch& events) {
        const Dropped dropped{events};
        dispatchQueued(events.front());
    }

    template <class AnyQueued>
    void dispatchQueued(AnyQueued& queued) const {
        visitQueued(queued, [this](auto prototype, auto& event, auto&... args) {
            this->dispatchTo(prototype, event, args...);
        });
    }

    Store store_;

private:
    using Clock = typename EventWaiters<ThreadingOf<Policies>>::Clock;

    /// Returns true if std::forward<From>(value) makes a To without user code. Being trivially
    /// copyable is not enough, because other constructors of To may be user code.
    template <class To, class From>
    static constexpr bool isPlain() noexcept {
        using Source = std::decay_t<From>;
        return (std::is_same_v<To, Source> && std::is_trivially_constructible_v<To, From&&> &&
                std::is_trivially_destructible_v<To>) ||
               (std::is_arithmetic_v<To> && std::is_arithmetic_v<Source>);
    }
    template <class... From, class... To>
    static constexpr bool slicesAny(std::tuple<To...>*) noexcept {
        return ((std::is_base_of_v<To, From> && !std::is_same_v<To, From>) || ...);
    }
    template <class... From, class... To>
    static constexpr bool arePlain(std::tuple<To...>*) noexcept {
        return (isPlain<To, From>() && ...);
    }

    struct Dropped {
        Batch& events;
        ~Dropped() { events.drop(); }
    };

    template <class Handle, class Pacing>
    void runLoop(Handle handle, const Pacing& pacing) {
        while (store_.awaitWork()) {
            const Outcome outcome = harvest(Amount::all, handle);
            if (outcome.isQueueGone) {
                return;
            }
            pacing.polled(outcome.count);
        }
    }

    auto dispatching() {
        return [this](Queued& queued) { dispatchQueued(queued); };
    }
    template <class Visitor>
    auto visiting(Visitor& visitor) {
        return [&visitor](Queued& queued) {
            visitQueued(queued,
                        [&visitor](auto, auto& event, auto&... args) { visitor(event, args...); });
        };
    }
};

}  // namespace sluice::detail
