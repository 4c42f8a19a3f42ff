#pragma once

#include <sluice/event/detail/queue_core.hpp>
#include <sluice/eventpp/heter_event_dispatcher.hpp>
#include <sluice/eventpp/queue_names.hpp>

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

namespace sluice {

namespace detail {

template <class Event, class PrototypeList>
struct HeterQueuedEvent;

template <class Event, class... P>
struct HeterQueuedEvent<Event, HeterTuple<P...>> {
    std::decay_t<Event> event;
    std::variant<typename PrototypeTraits<P>::Arguments...> arguments;
};

template <class... P, class Queued, class F, std::size_t... I>
void visitOneOf(Queued& queued, F& f, std::index_sequence<I...>) {
    const auto visit = [&](auto prototype, auto* arguments) {
        if (arguments != nullptr) {
            std::apply([&](auto&... args) { f(prototype, queued.event, args...); }, *arguments);
        }
        return arguments != nullptr;
    };
    (void)(... || visit(PrototypeTag<P>(), std::get_if<I>(&queued.arguments)));
}

/// Calls f(prototype, event, args...).
template <class Event, class... P, class F>
void visitQueued(HeterQueuedEvent<Event, HeterTuple<P...>>& queued, F f) {
    visitOneOf<P...>(queued, f, std::index_sequence_for<P...>());
}

template <class EventType, class PrototypeList, class Policies>
class HeterQueueBase
    : public QueueCore<HeterDispatcherBase<EventType, PrototypeList, Policies,
                                           HeterQueueBase<EventType, PrototypeList, Policies>>,
                       HeterQueuedEvent<EventType, PrototypeList>, Policies> {
    using Queued = HeterQueuedEvent<EventType, PrototypeList>;
    using Base = QueueCore<HeterDispatcherBase<EventType, PrototypeList, Policies, HeterQueueBase>,
                           Queued, Policies>;
    using typename Base::Content;
    using typename Base::Match;

    template <std::size_t I>
    using Traits = PrototypeTraits<typename Match::template At<I>>;

public:
    using Event = EventType;

    using Base::Base;

    /// Queues the event `first`, or the event that getEvent() returns. As in dispatch(), the
    /// arguments select the prototype. If the queue is closed or full, returns false and leaves the
    /// arguments unchanged.
    template <class First, class... A>
    bool enqueue(First&& first, A&&... args) {
        if constexpr (Base::includesEvent) {
            constexpr std::size_t index = Match::template ofArguments<First&&, A&&...>();
            constexpr bool hasGetEvent = isDetected<EventResult, Policies, First&, A&...>;
            return queue<index, contentOf<index, First, First, A...>(hasGetEvent)>(
                [&] { return getEvent<Policies, Event>(first, args...); },
                std::forward<First>(first), std::forward<A>(args)...);
        } else {
            constexpr std::size_t index = Match::template ofArguments<A&&...>();
            constexpr bool hasGetEvent = isDetected<EventResult, Policies, First, A&...>;
            return queue<index, contentOf<index, First, A...>(hasGetEvent)>(
                [&]() -> Event {
                    return getEvent<Policies, Event>(std::forward<First>(first), args...);
                },
                std::forward<A>(args)...);
        }
    }

    /// Dispatches the events for which predicate(args...) is true; other events stay in front of
    /// later events. Tests the events one prototype at a time, skipping prototypes that the
    /// predicate does not accept, and stops after the first prototype with a dispatched event.
    template <class Predicate>
    bool processIf(Predicate&& predicate) {
        return processIfOfAny(predicate, std::make_index_sequence<Match::size>());
    }

private:
    template <std::size_t I, class First, class... A>
    static constexpr Content contentOf(bool hasGetEvent) noexcept {
        return Base::template contentOf<typename Traits<I>::Arguments, First, A...>(hasGetEvent);
    }

    template <std::size_t I, Content How, class FindEvent, class... A>
    bool queue(FindEvent findEvent, A&&... args) {
        using Arguments = decltype(Queued::arguments);
        if constexpr (Base::template canKeep<typename Traits<I>::Arguments, A...>()) {
            return this->template add<How>([&] {
                return Queued{findEvent(),
                              Arguments(std::in_place_index<I>, std::forward<A>(args)...)};
            });
        } else {
            return false;  // a static_assert has failed
        }
    }

    template <class Predicate, std::size_t... I>
    bool processIfOfAny(Predicate& predicate, std::index_sequence<I...>) {
        bool isGone = false;
        return (... || (!isGone && processIfOf<I>(PrototypeTag<typename Match::template At<I>>(),
                                                  predicate, isGone)));
    }

    template <std::size_t I, class Predicate, class Result, class... Args>
    bool processIfOf(PrototypeTag<Result(Args...)>, Predicate& predicate, bool& isGone) {
        if constexpr (std::is_invocable_v<Predicate&, Args...>) {
            const auto test = [&predicate](Queued& queued) {
                auto* const arguments = std::get_if<I>(&queued.arguments);
                const auto ask = [&predicate](auto&... args) -> bool {
                    return predicate(static_cast<Args>(args)...);
                };
                return arguments != nullptr && std::apply(ask, *arguments);
            };
            return this->processWhere(test, isGone);
        } else {
            return false;
        }
    }
};

}  // namespace detail

/// A HeterEventDispatcher with a queue: events with arguments of several prototypes wait until a
/// thread dispatches them.
///
///     using Prototypes = sluice::HeterTuple<void(), void(int, const std::string&)>;
///     sluice::HeterEventQueue<int, Prototypes> queue;
///     queue.appendListener(3, [](int value, const std::string& text) { ... });
///     queue.enqueue(3, 42, "text");  // any thread
///     queue.process();               // calls the listeners
///
/// All events are in one queue. Each queued event takes as much memory as the arguments of the
/// largest prototype. All other behaviour is that of EventQueue.
///
/// `Policies` may define QueueList and all members of HeterEventDispatcher's policies.
template <class Event, class PrototypeList, class Policies = DefaultPolicies>
class HeterEventQueue
    : public detail::Mixed<detail::HeterQueueBase<Event, PrototypeList, Policies>, Policies>,
      public TagEventDispatcher,
      public TagEventQueue,
      public TagHeterEventDispatcher,
      public TagHeterEventQueue {
    using Base = detail::Mixed<detail::HeterQueueBase<Event, PrototypeList, Policies>, Policies>;

public:
    using Base::Base;
};

namespace void_enqueue {

/// A HeterEventQueue with eventpp's interface: enqueue() returns nothing.
template <class Event, class PrototypeList, class Policies = DefaultPolicies>
class HeterEventQueue
    : public detail::VoidEnqueue<sluice::HeterEventQueue<Event, PrototypeList, Policies>> {
    using Base = detail::VoidEnqueue<sluice::HeterEventQueue<Event, PrototypeList, Policies>>;

public:
    using Base::Base;
};

}  // namespace void_enqueue

}  // namespace sluice
