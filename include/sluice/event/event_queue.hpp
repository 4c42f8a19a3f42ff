#pragma once

#include <sluice/event/detail/queue_core.hpp>
#include <sluice/event/event_dispatcher.hpp>

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace sluice {

namespace detail {
template <class Event, class Prototype, class Policies>
class QueueBase;
}  // namespace detail

/// An EventDispatcher with a queue: events wait until a thread dispatches them.
///
///     sluice::EventQueue<int, void(const std::string&)> queue;
///     queue.appendListener(3, [](const std::string& text) { ... });
///     queue.enqueue(3, "hello");   // any thread
///     queue.process();             // calls the listeners
///
/// Use an EventQueue if listeners run later, or on another thread than the producer. Use
/// EventDispatcher if listeners run immediately, and Bus for typed messages with priorities.
///
/// Order: first in, first out. Each event is dispatched once, by one of the processing threads. If
/// a listener queues an event, the next process() or a nested process() dispatches the event.
///
/// Thread safety: any thread may call any member at any time, and so may listeners. No other thread
/// may use a queue while it is copied, moved, swapped, assigned to or destroyed. A listener may
/// destroy the queue. The queue is locked for a few instructions, and never during user code.
///
/// Errors: if a listener throws, process() propagates the exception, the event counts as
/// dispatched, and later events stay queued in order. If an argument's constructor throws, nothing
/// is queued.
///
/// Memory: events are stored in reusable blocks of some kilobytes: see EventQueueOptions.
///
/// `Policies` may define QueueList and all members of EventDispatcher's policies.
template <class Event, class Prototype, class Policies = DefaultPolicies>
class EventQueue : public detail::Mixed<detail::QueueBase<Event, Prototype, Policies>, Policies>,
                   public TagEventDispatcher,
                   public TagEventQueue {
    using Base = detail::Mixed<detail::QueueBase<Event, Prototype, Policies>, Policies>;

public:
    using Base::Base;
};

namespace detail {

template <class Event, class Prototype>
struct QueuedEvent;

template <class Event, class Result, class... Args>
struct QueuedEvent<Event, Result(Args...)> {
    std::decay_t<Event> event;
    std::tuple<std::decay_t<Args>...> arguments;

    Event getEvent() const { return this->event; }

    template <std::size_t N>
    std::tuple_element_t<N, std::tuple<Args...>> getArgument() const {
        return std::get<N>(arguments);
    }
};

template <class Queued, class Prototype, class F, std::size_t... I>
void visitArguments(PrototypeTag<Prototype> prototype, Queued& queued, F& f,
                    std::index_sequence<I...>) {
    f(prototype, queued.event, std::get<I>(queued.arguments)...);
}
template <class Event, class Result, class... Args, class F>
void visitQueued(QueuedEvent<Event, Result(Args...)>& queued, F f) {
    visitArguments(PrototypeTag<Result(Args...)>(), queued, f, std::index_sequence_for<Args...>());
}
template <class Event, class Result, class... Args, class F>
void visitQueued(const QueuedEvent<Event, Result(Args...)>& queued, F f) {
    visitArguments(PrototypeTag<Result(Args...)>(), queued, f, std::index_sequence_for<Args...>());
}

template <class EventType, class Result, class... Args, class Policies>
class QueueBase<EventType, Result(Args...), Policies>
    : public QueueCore<DispatcherBase<EventType, Result(Args...), Policies,
                                      QueueBase<EventType, Result(Args...), Policies>>,
                       QueuedEvent<EventType, Result(Args...)>, Policies> {
    using Base = QueueCore<DispatcherBase<EventType, Result(Args...), Policies, QueueBase>,
                           detail::QueuedEvent<EventType, Result(Args...)>, Policies>;
    using Arguments = std::tuple<std::decay_t<Args>...>;
    using Indexes = std::index_sequence_for<Args...>;
    using typename Base::Amount;
    using typename Base::Batch;
    using typename Base::Content;

public:
    using Event = EventType;
    using QueuedEvent = detail::QueuedEvent<EventType, Result(Args...)>;

    using Base::Base;

    // ---- Producers

    /// Queues the event that the arguments contain. Returns false if the queue is closed or full:
    /// see Overflow. A refused event leaves the arguments unchanged.
    template <class... A>
    auto enqueue(A&&... args)
        -> std::enable_if_t<sizeof...(A) == sizeof...(Args) &&
                                (sizeof...(A) != 0 || isDetected<EventResult, Policies>),
                            bool> {
        static_assert(Base::ArgumentPassingMode::canIncludeEventType,
                      "enqueue(): the number of arguments is the prototype's, but the policy wants "
                      "the event in front of them");
        constexpr Content content =
            Base::template contentOf<Arguments,
                                     std::tuple_element_t<0, std::tuple<A&..., EventType>>, A...>(
                isDetected<EventResult, Policies, A&...>);
        return this->template add<content>([&] {
            return QueuedEvent{getEvent<Policies, Event>(args...), keep(std::forward<A>(args)...)};
        });
    }

    /// Queues the event `first`, or the event that getEvent() returns for all arguments.
    template <class First, class... A>
    auto enqueue(First&& first, A&&... args)
        -> std::enable_if_t<sizeof...(A) == sizeof...(Args), bool> {
        static_assert(Base::ArgumentPassingMode::canExcludeEventType,
                      "enqueue(): there is one argument more than in the prototype, but the policy "
                      "wants the event among them");
        constexpr Content content = Base::template contentOf<Arguments, First, A...>(
            isDetected<EventResult, Policies, First, A&...>);
        return this->template add<content>([&] {
            return QueuedEvent{getEvent<Policies, Event>(std::forward<First>(first), args...),
                               keep(std::forward<A>(args)...)};
        });
    }

    // A template, so that derived classes may add an enqueue() without arguments. Because of
    // the int parameter, &enqueue<First, A...> cannot mean this overload.
    template <int = 0>
    bool enqueue(...) = delete;  // pass the prototype's arguments, alone or after the event

    // ---- Consumers. Any number of threads may consume; each event is passed to one thread.

    /// Dispatches events for which predicate(args...) or predicate() is true; others stay queued.
    template <class Predicate>
    bool processIf(Predicate&& predicate) {
        bool isGone = false;
        const auto test = [&predicate](QueuedEvent& queued) {
            return ask(predicate, queued.arguments, Indexes());
        };
        return this->processWhere(test, isGone);
    }

    /// Dispatches events until predicate(args...), or predicate(), is true for an event. That event
    /// and all later events stay queued.
    template <class Predicate>
    bool processUntil(Predicate&& predicate) {
        bool any = false;
        Batch events(this->store_, Amount::all);
        while (events.hasNext() && !ask(predicate, events.front().arguments, Indexes()) &&
               events.hasNext()) {  // false if the predicate has destroyed the queue
            any = true;
            this->dispatchFront(events);
        }
        return any;
    }

    /// Copies the first event without removing it. Returns false if the queue is empty. Consumers
    /// wait during the copy. The event's copy assignment must not take events out of the queue.
    bool peekEvent(QueuedEvent* event) {
        static_assert(std::is_copy_assignable_v<QueuedEvent>,
                      "peekEvent() copies the event, but one of its arguments cannot be copied: "
                      "use takeEvent()");
        return this->store_.peek([event](const QueuedEvent& first) { *event = first; });
    }

    /// Moves the first event out; returns false if there is none. A throwing move removes nothing.
    bool takeEvent(QueuedEvent* event) {
        static_assert(std::is_move_assignable_v<QueuedEvent>,
                      "takeEvent() assigns the event, but one of its arguments cannot be assigned: "
                      "use processOneWith()");
        Batch events(this->store_, Amount::one);
        if (!events.hasNext()) {
            return false;
        }
        *event = std::move(events.front());
        events.drop();
        return true;
    }

    using Base::dispatch;

    /// Calls the listeners of an event that peekEvent() or takeEvent() has returned. Listeners may
    /// change arguments that are non-const references in the prototype.
    template <class U>
    auto dispatch(U& event) const
        -> std::enable_if_t<std::is_same_v<std::remove_const_t<U>, QueuedEvent>> {
        this->dispatchQueued(event);
    }
    template <class U>
    auto dispatch(const U& event) const -> std::enable_if_t<std::is_same_v<U, QueuedEvent>> {
        this->dispatchQueued(event);
    }

private:
    template <class... A>
    static Arguments keep(A&&... args) {
        if constexpr (Base::template canKeep<Arguments, A...>()) {
            return Arguments(std::forward<A>(args)...);
        } else {
            SLUICE_UNREACHABLE();  // a static_assert has failed
        }
    }

    template <class Predicate, std::size_t... I>
    static bool ask(Predicate& predicate, Arguments& arguments, std::index_sequence<I...>) {
        if constexpr (std::is_invocable_v<Predicate&>) {
            return predicate();
        } else {
            return predicate(static_cast<Args>(std::get<I>(arguments))...);
        }
    }
};

}  // namespace detail
}  // namespace sluice
