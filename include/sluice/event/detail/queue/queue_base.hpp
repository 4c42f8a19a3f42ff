#pragma once

#include <sluice/event/detail/dispatch/dispatcher_base.hpp>
#include <sluice/event/detail/queue/next_event.hpp>
#include <sluice/event/detail/queue/queue_core.hpp>

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace sluice::detail {

/// An event with its arguments, as it is queued. Arguments that are references in the prototype
/// have been copied.
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

/// f(prototype, event, args...). `Queued` is the type below, perhaps const.
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

/// EventQueue without the mixins.
template <class EventType, class Prototype, class Policies>
class QueueBase;

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
    using typename Base::Content;
    using typename Base::Harvest;

public:
    using Event = EventType;
    using QueuedEvent = detail::QueuedEvent<EventType, Result(Args...)>;

    using Base::Base;

    // ---- Producers

    /// Queues an event that is found in the arguments. False when it was refused, because the queue
    /// is closed, or full and told to reject; then the arguments are untouched.
    template <class... A>
    auto enqueue(A&&... args) -> std::enable_if_t<sizeof...(A) == sizeof...(Args), bool> {
        static_assert(Base::ArgumentPassingMode::canIncludeEventType,
                      "enqueue(): the number of arguments is the prototype's, but the policy wants "
                      "the event in front of them");
        constexpr Content content =
            Base::template contentOf<Arguments,
                                     std::tuple_element_t<0, std::tuple<A&..., EventType>>, A...>(
                isDetected<EventResult, Policies, A&...>);
        return this->template add<content>([&] {
            return QueuedEvent{getEvent<Policies, Event>(args...),
                               Arguments(std::forward<A>(args)...)};
        });
    }

    /// Queues the event that `first` is or, by getEvent(), stands for.
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
                               Arguments(std::forward<A>(args)...)};
        });
    }

    // ---- Consumers: any number of threads, each event goes to one of them

    /// Dispatches the events for which predicate(args...), or predicate(), is true; the others
    /// stay, in front of later ones.
    template <class Predicate>
    bool processIf(Predicate&& predicate) {
        return this->processWhere([&predicate](QueuedEvent& queued) {
            return ask(predicate, queued.arguments, Indexes());
        });
    }

    /// Dispatches events until predicate(args...), or predicate(), is true for one; that one and
    /// the rest stay.
    template <class Predicate>
    bool processUntil(Predicate&& predicate) {
        bool any = false;
        Harvest events(this->store_, Amount::all);
        while (events.hasNext() && !ask(predicate, events.front().arguments, Indexes()) &&
               events.hasNext()) {  // again: the predicate may have destroyed the queue
            any = true;
            this->dispatchFront(events);
        }
        return any;
    }

    /// Copies the first event; it stays. False when there is none. Who wants to take events out
    /// waits until it has been copied.
    bool peekEvent(QueuedEvent* event) {
        static_assert(std::is_copy_assignable_v<QueuedEvent>,
                      "peekEvent() copies the event, but one of its arguments cannot be copied: "
                      "use takeEvent()");
        return this->store_.peek([event](const QueuedEvent& first) { *event = first; });
    }

    /// Moves the first event out. False when there is none. Stays when moving it throws.
    bool takeEvent(QueuedEvent* event) {
        static_assert(std::is_move_assignable_v<QueuedEvent>,
                      "takeEvent() assigns the event, but one of its arguments cannot be assigned: "
                      "use processOneWith()");
        Harvest events(this->store_, Amount::one);
        if (!events.hasNext()) {
            return false;
        }
        *event = std::move(events.front());
        events.drop();
        return true;
    }

    /// For coroutines: `while (auto event = co_await queue.next()) ...` takes one event after the
    /// other, waiting for each, until the queue is closed and everything has been dealt with.
    ///
    /// A coroutine that had to wait goes on within enqueue(), or whatever ended its waiting, on
    /// that thread; or where resume(handle) sends it, which is called there instead. Neither may
    /// throw: the event has been accepted, so nobody could be told, and the program ends. Those who
    /// wait are served in order, beside the threads that process. The queue outlives them; one may
    /// be destroyed while it waits, if no other thread uses the queue then.
    template <class Resume = detail::ResumeHere>
    auto next(Resume resume = Resume()) {
        return NextEvent<typename Base::Store, QueuedEvent, Resume>(this->store_,
                                                                    std::move(resume));
    }

    using Base::dispatch;

    /// Calls the listeners of an event that was peeked at or taken, any number of times. They may
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
    template <class Predicate, std::size_t... I>
    static bool ask(Predicate& predicate, Arguments& arguments, std::index_sequence<I...>) {
        if constexpr (std::is_invocable_v<Predicate&>) {
            return predicate();
        } else {
            return predicate(static_cast<Args>(std::get<I>(arguments))...);
        }
    }
};

}  // namespace sluice::detail
