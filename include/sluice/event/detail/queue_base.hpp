#pragma once

#include <sluice/event/detail/dispatcher_base.hpp>
#include <sluice/event/detail/event_harvest.hpp>
#include <sluice/wait/deadline.hpp>
#include <sluice/wait/harvest_pacing.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

namespace sluice::detail {

template <class P, class Item>
using QueueListMember = typename P::template QueueList<Item>;

/// Where the events of a queue are kept: in our slabs, or in the list of the policy.
template <class Event, class Policies>
auto selectLine() {
    if constexpr (isDetected<QueueListMember, Policies, QueueItem<Event>>) {
        return static_cast<ListLine<QueueListMember<Policies, QueueItem<Event>>>*>(nullptr);
    } else {
        return static_cast<SlabLine<Event>*>(nullptr);
    }
}

/// EventQueue without the mixins.
template <class Event_, class Prototype, class Policies>
class QueueBase;

template <class Event_, class Result, class... Args, class Policies>
class QueueBase<Event_, Result(Args...), Policies>
    : public DispatcherBase<Event_, Result(Args...), Policies,
                            QueueBase<Event_, Result(Args...), Policies>> {
    using Base = DispatcherBase<Event_, Result(Args...), Policies, QueueBase>;
    using Arguments = std::tuple<std::decay_t<Args>...>;
    using Indexes = std::index_sequence_for<Args...>;

public:
    using Event = Event_;

    /// An event with its arguments, as it is queued. Arguments that are references in the prototype
    /// have been copied.
    struct QueuedEvent {
        std::decay_t<Event_> event;
        Arguments arguments;

        Event_ getEvent() const { return event; }

        template <std::size_t N>
        std::tuple_element_t<N, std::tuple<Args...>> getArgument() const {
            return std::get<N>(arguments);
        }
    };

    /// While one of these exists, adding events wakes nobody and wait() goes on waiting. When the
    /// last one ends, waiters are woken if there are events. May be nested.
    class DisableQueueNotify;

    QueueBase() : QueueBase(EventQueueOptions{}) {}

    /// A bounded queue. Refuses (see setupError) a limit of 0.
    explicit QueueBase(const EventQueueOptions& options) : store_(options) {}

    // Copying and moving concern the listeners; queued events stay where they are.
    QueueBase(const QueueBase& other) : Base(other), store_(other.store_.options()) {}
    QueueBase(QueueBase&& other) noexcept
        : Base(std::move(other)), store_(other.store_.options()) {}
    QueueBase& operator=(const QueueBase& other) {
        Base::operator=(other);
        return *this;
    }
    QueueBase& operator=(QueueBase&& other) noexcept {
        Base::operator=(std::move(other));
        return *this;
    }
    ~QueueBase() = default;

    // ---- Producers

    /// Queues an event that is found in the arguments. False when it was refused, because the queue
    /// is closed, or full and told to reject; then the arguments are untouched.
    template <class... A>
    auto enqueue(A&&... args) -> std::enable_if_t<sizeof...(A) == sizeof...(Args), bool> {
        static_assert(Base::ArgumentPassingMode::canIncludeEventType,
                      "enqueue(): the number of arguments is the prototype's, but the policy wants "
                      "the event in front of them");
        constexpr Content content =
            contentOf<std::tuple_element_t<0, std::tuple<A&..., Event_>>, A...>(
                isDetected<EventResult, Policies, A&...>);
        return store_.template add<content>([&] {
            return QueuedEvent{getEvent<Policies, Event>(args...),
                               Arguments(std::forward<A>(args)...)};
        }) == PushResult::ok;
    }

    /// Queues the event that `first` is or, by getEvent(), stands for.
    template <class First, class... A>
    auto enqueue(First&& first, A&&... args)
        -> std::enable_if_t<sizeof...(A) == sizeof...(Args), bool> {
        static_assert(Base::ArgumentPassingMode::canExcludeEventType,
                      "enqueue(): there is one argument more than in the prototype, but the policy "
                      "wants the event among them");
        constexpr Content content =
            contentOf<First, A...>(isDetected<EventResult, Policies, First, A&...>);
        return store_.template add<content>([&] {
            return QueuedEvent{getEvent<Policies, Event>(std::forward<First>(first), args...),
                               Arguments(std::forward<A>(args)...)};
        }) == PushResult::ok;
    }

    /// Refuses events from now on.
    void close() noexcept { store_.close(); }
    [[nodiscard]] bool isClosed() const noexcept { return store_.isClosed(); }

    // ---- Consumers: any number of threads, each event goes to one of them

    /// Dispatches the events that are queued now. False when there were none.
    bool process() { return harvest(Amount::all, dispatching()).count != 0; }

    /// Dispatches the first event.
    bool processOne() { return harvest(Amount::one, dispatching()).count != 0; }

    /// Dispatches the events for which predicate(args...), or predicate(), is true; the others
    /// stay, in front of later ones.
    template <class Predicate>
    bool processIf(Predicate&& predicate) {
        bool any = false;
        harvest(Amount::all, [&](auto& events) {
            if (!ask(predicate, events.front().arguments, Indexes())) {
                events.keep();
            } else if (events.hasNext()) {  // unless the predicate has destroyed the queue
                any = true;
                dispatchFront(events);
            }
        });
        return any;
    }

    /// Dispatches events until predicate(args...), or predicate(), is true for one; that one and
    /// the rest stay.
    template <class Predicate>
    bool processUntil(Predicate&& predicate) {
        bool any = false;
        Harvest events(store_, Amount::all);
        while (events.hasNext() && !ask(predicate, events.front().arguments, Indexes()) &&
               events.hasNext()) {  // again: the predicate may have destroyed the queue
            any = true;
            dispatchFront(events);
        }
        return any;
    }

    /// Calls visitor(event, args...) for the events that are queued now, instead of listeners:
    /// without a search, mixins, or canContinueInvoking, and inlined.
    template <class Visitor>
    bool processQueueWith(Visitor&& visitor) {
        return harvest(Amount::all, visiting(visitor)).count != 0;
    }

    /// The same for the first event.
    template <class Visitor>
    bool processOneWith(Visitor&& visitor) {
        return harvest(Amount::one, visiting(visitor)).count != 0;
    }

    /// The loop of a consumer: dispatches events as they come and sleeps while there are none.
    /// Returns when the queue is closed and everything that was accepted has been processed, or
    /// when a listener has destroyed the queue. Any number of threads may run it; not from inside a
    /// listener.
    ///
    /// A listener's exception ends the loop, which may be run again. The pacing lets small batches
    /// grow while events flow; see HarvestPacing, and NoPacing.
    template <class Pacing = HarvestPacing>
    void run(const Pacing& pacing = Pacing()) {
        runLoop(dispatching(), pacing);
    }

    /// The same with a visitor in place of the listeners, as processQueueWith().
    template <class Visitor, class Pacing = HarvestPacing>
    void runWith(Visitor&& visitor, const Pacing& pacing = Pacing()) {
        runLoop(visiting(visitor), pacing);
    }

    /// Copies the first event; it stays. False when there is none. Who wants to take events out
    /// waits until it has been copied.
    bool peekEvent(QueuedEvent* event) {
        static_assert(std::is_copy_assignable_v<QueuedEvent>,
                      "peekEvent() copies the event, but one of its arguments cannot be copied: "
                      "use takeEvent()");
        return store_.peek([event](const QueuedEvent& first) { *event = first; });
    }

    /// Moves the first event out. False when there is none. Stays when moving it throws.
    bool takeEvent(QueuedEvent* event) {
        static_assert(std::is_move_assignable_v<QueuedEvent>,
                      "takeEvent() assigns the event, but one of its arguments cannot be assigned: "
                      "use processOneWith()");
        Harvest events(store_, Amount::one);
        if (!events.hasNext()) {
            return false;
        }
        *event = std::move(events.front());
        events.drop();
        return true;
    }

    using Base::dispatch;

    /// Calls the listeners of an event that was peeked at or taken, any number of times. They may
    /// change arguments that are non-const references in the prototype.
    template <class U>
    auto dispatch(U& event) const
        -> std::enable_if_t<std::is_same_v<std::remove_const_t<U>, QueuedEvent>> {
        dispatchQueued(event, Indexes());
    }
    template <class U>
    auto dispatch(const U& event) const -> std::enable_if_t<std::is_same_v<U, QueuedEvent>> {
        dispatchQueued(event, Indexes());
    }

    /// Destroys all queued events.
    void clearEvents() {
        Harvest events(store_, Amount::all);
        events.discard();
    }

    /// Whether nothing is queued, being queued or being processed.
    [[nodiscard]] bool emptyQueue() const noexcept { return !store_.isBusy(); }

    /// How many events are queued, or were a moment ago.
    [[nodiscard]] std::size_t sizeApprox() const noexcept { return store_.size(); }

    /// How many events made room for others, or were cleared.
    [[nodiscard]] std::uint64_t discardedCount() const noexcept { return store_.discardedCount(); }

    /// Counts of everything, for policies that ask for it. They cost nothing otherwise.
    [[nodiscard]] EventQueueStatistics statistics() const noexcept {
        static_assert(hasStatistics, "statistics() needs `static constexpr bool statistics = true` "
                                     "in the policies of the EventQueue");
        return store_.statistics();
    }

    /// Waits until there is an event, or until the queue is closed.
    void wait() const {
        store_.wait([this] { return store_.isReady() || isClosed(); });
    }

    /// The same with a limit. True when there is an event, or one is still being processed, and
    /// notification is not disabled.
    template <class Rep, class Period>
    bool waitFor(const std::chrono::duration<Rep, Period>& limit) const {
        const auto ready = [this] { return store_.isReady() || isClosed(); };
        if (limit > limit.zero() && !ready()) {
            (void)store_.waitUntil(ready, deadlineAfter<Clock>(limit));
        }
        return store_.isNotifying() && !emptyQueue();
    }

    /// Waits until everything that was accepted has been processed. Not from inside a listener.
    void drain() const {
        store_.wait([this] { return emptyQueue(); });
    }

    /// The same with a limit; false when it passed first.
    template <class Rep, class Period>
    [[nodiscard]] bool drainFor(const std::chrono::duration<Rep, Period>& limit) const {
        return store_.waitUntil([this] { return emptyQueue(); }, deadlineAfter<Clock>(limit));
    }

private:
    using Line = std::remove_pointer_t<decltype(selectLine<QueuedEvent, Policies>())>;
    static constexpr bool hasStatistics = isDetected<StatisticsMember, Policies>;
    using Store =
        EventStore<QueuedEvent, Line, typename Base::Threading, EventCounts<hasStatistics>>;
    using Harvest = typename Store::Harvest;
    using Amount = typename Harvest::Amount;
    using Content = typename Store::Content;
    using Clock = typename EventWaiters<typename Base::Threading>::Clock;

    /// Whether std::forward<From>(value) makes a To without foreign code. Not every constructor of
    /// a trivially copyable type is trivial, so this one is asked for.
    template <class To, class From>
    static constexpr bool isPlain() noexcept {
        using Source = std::decay_t<From>;
        return (std::is_same_v<To, Source> && std::is_trivially_constructible_v<To, From&&> &&
                std::is_trivially_destructible_v<To>) ||
               (std::is_arithmetic_v<To> && std::is_arithmetic_v<Source>);
    }

    /// Of an event that is made of First&&, and arguments that are made of A&&. What is long is
    /// better copied without the lock.
    template <class First, class... A>
    static constexpr Content contentOf(bool hasGetEvent) noexcept {
        constexpr std::size_t maxPlainBytes = 256;
        return !hasGetEvent && sizeof(QueuedEvent) <= maxPlainBytes &&
                       isPlain<std::decay_t<Event_>, First>() &&
                       (isPlain<std::decay_t<Args>, A>() && ...)
                   ? Content::plain
                   : Content::foreign;
    }

    struct Outcome {
        std::size_t count;  ///< the events of the batch
        bool isQueueGone;
    };

    template <class Handle>
    Outcome harvest(Amount amount, Handle handle) {
        Harvest events(store_, amount);
        while (events.hasNext()) {
            handle(events);
        }
        return {events.size(), events.isOrphaned()};
    }

    template <class Handle, class Pacing>
    void runLoop(Handle handle, const Pacing& pacing) {
        while (store_.awaitWork()) {
            const Outcome outcome = harvest(Amount::all, handle);
            if (outcome.isQueueGone) {
                return;
            }
            pacing.harvested(outcome.count);
        }
    }

    auto dispatching() {
        return [this](Harvest& events) { dispatchFront(events); };
    }
    template <class Visitor>
    auto visiting(Visitor& visitor) {
        return [&visitor](Harvest& events) { visitFront(events, visitor, Indexes()); };
    }

    /// The event is used up, also when a listener throws.
    struct Dropped {
        Harvest& events;
        ~Dropped() { events.drop(); }
    };

    void dispatchFront(Harvest& events) {
        const Dropped dropped{events};
        dispatchQueued(events.front(), Indexes());
    }

    template <class Queued, std::size_t... I>
    void dispatchQueued(Queued& queued, std::index_sequence<I...>) const {
        this->directDispatch(queued.event, std::get<I>(queued.arguments)...);
    }

    template <class Visitor, std::size_t... I>
    static void visitFront(Harvest& events, Visitor& visitor, std::index_sequence<I...>) {
        const Dropped dropped{events};
        auto& queued = events.front();
        visitor(queued.event, std::get<I>(queued.arguments)...);
    }

    template <class Predicate, std::size_t... I>
    static bool ask(Predicate& predicate, Arguments& arguments, std::index_sequence<I...>) {
        if constexpr (std::is_invocable_v<Predicate&>) {
            return predicate();
        } else {
            return predicate(static_cast<Args>(std::get<I>(arguments))...);
        }
    }

    Store store_;
};

template <class Event_, class Result, class... Args, class Policies>
class QueueBase<Event_, Result(Args...), Policies>::DisableQueueNotify {
public:
    DisableQueueNotify(QueueBase* queue) noexcept : queue_(*queue) { queue_.store_.silence(); }
    DisableQueueNotify(const DisableQueueNotify&) = delete;
    DisableQueueNotify& operator=(const DisableQueueNotify&) = delete;
    ~DisableQueueNotify() { queue_.store_.unsilence(); }

private:
    QueueBase& queue_;
};

}  // namespace sluice::detail
