#pragma once

#include <sluice/event/detail/listener_map.hpp>
#include <sluice/eventpp/heter_callback_list.hpp>

#include <cstddef>
#include <type_traits>
#include <utility>

namespace sluice {

namespace detail {

/// The base of HeterEventDispatcher and HeterEventQueue. The mixins derive from `Root`, or from
/// HeterDispatcherBase if `Root` is void.
template <class EventType, class ListOfPrototypes, class Policies, class Root = void>
class HeterDispatcherBase
    : public ListenerMap<EventType, HeterCallbackList<ListOfPrototypes, Policies>, Policies> {
    using Base = ListenerMap<EventType, HeterCallbackList<ListOfPrototypes, Policies>, Policies>;

protected:
    using Match = Prototypes<ListOfPrototypes>;
    using typename Base::List;
    using ArgumentPassingMode = ArgumentPassingOf<Policies, ArgumentPassingExcludeEvent>;
    using MixinRoot = std::conditional_t<std::is_void_v<Root>, HeterDispatcherBase, Root>;

    static_assert(!(ArgumentPassingMode::canIncludeEventType &&
                    ArgumentPassingMode::canExcludeEventType),
                  "a heterogeneous class cannot find the event by the number of arguments: "
                  "choose ArgumentPassingIncludeEvent or ArgumentPassingExcludeEvent");
    static constexpr bool includesEvent = ArgumentPassingMode::canIncludeEventType != 0;

public:
    using PrototypeList = ListOfPrototypes;
    using typename Base::Event;
    using typename Base::Handle;

    /// Adds a listener to the event's list. The listener's type selects the prototype.
    template <class C>
    Handle appendListener(const Event& event, C&& callback) {
        return this->listOf(event).append(std::forward<C>(callback));
    }
    template <class C>
    Handle prependListener(const Event& event, C&& callback) {
        return this->listOf(event).prepend(std::forward<C>(callback));
    }
    template <class C>
    Handle insertListener(const Event& event, C&& callback, const Handle& before) {
        return this->listOf(event).insert(std::forward<C>(callback), before);
    }

    template <class Prototype, class F>
    void forEach(const Event& event, F&& f) const {
        if (const List* const list = this->find(event)) {
            list->template forEach<Prototype>(std::forward<F>(f));
        }
    }

    /// Like forEach(), but stops and returns false when `f` returns false.
    template <class Prototype, class F>
    bool forEachIf(const Event& event, F&& f) const {
        const List* const list = this->find(event);
        return list == nullptr || list->template forEachIf<Prototype>(std::forward<F>(f));
    }

    /// Calls the listeners of the event `first`, or of the event that getEvent() returns. The
    /// arguments after `first` select the prototype. With ArgumentPassingIncludeEvent, `first` and
    /// the other arguments together select the prototype.
    template <class First, class... A>
    void dispatch(First&& first, A&&... args) const {
        if constexpr (includesEvent) {
            constexpr std::size_t index = Match::template ofArguments<First&&, A&&...>();
            dispatchIncluded(PrototypeTag<typename Match::template At<index>>(),
                             std::forward<First>(first), std::forward<A>(args)...);
        } else {
            directDispatch(getEvent<Policies, Event>(std::forward<First>(first), args...),
                           std::forward<A>(args)...);
        }
    }

    template <class... A>
    void directDispatch(const Event& event, A&&... args) const {
        constexpr std::size_t index = Match::template ofArguments<A&&...>();
        dispatchTo(PrototypeTag<typename Match::template At<index>>(), event,
                   std::forward<A>(args)...);
    }

protected:
    template <class Prototype, class... A>
    void dispatchTo(PrototypeTag<Prototype> prototype, const Event& event, A&&... args) const {
        this->template callListeners<MixinRoot>(prototype, event, std::forward<A>(args)...);
    }

private:
    /// Finds the list last, because the mixins may change the arguments, which include the event.
    template <class Result, class... Args>
    void dispatchIncluded(PrototypeTag<Result(Args...)> prototype,
                          typename Base::template Same<Args>... args) const {
        if (this->template isAllowed<MixinRoot>(args...)) {
            if (const List* const list = this->find(getEvent<Policies, Event>(args...))) {
                listFor(prototype, *list).callAll(args...);
            }
        }
    }
};

}  // namespace detail

/// An EventDispatcher for arguments of several prototypes.
///
///     using Prototypes = sluice::HeterTuple<void(), void(int, const std::string&)>;
///     sluice::HeterEventDispatcher<int, Prototypes> dispatcher;
///     dispatcher.appendListener(3, [] { ... });
///     dispatcher.appendListener(3, [](int value, const std::string& text) { ... });
///     dispatcher.dispatch(3);              // calls the first one
///     dispatcher.dispatch(3, 42, "text");  // calls the second one
///
/// Listeners and arguments belong to the first prototype that fits: see HeterTuple. By default, the
/// event precedes the arguments. With ArgumentPassingIncludeEvent, the event is one of the
/// arguments. All other behaviour is that of EventDispatcher.
///
/// `Policies` may define EventDispatcher's policies except Callback; getEvent may be overloaded.
template <class Event, class PrototypeList, class Policies = DefaultPolicies>
class HeterEventDispatcher
    : public detail::Mixed<detail::HeterDispatcherBase<Event, PrototypeList, Policies>, Policies>,
      public TagEventDispatcher,
      public TagHeterEventDispatcher {
    using Base =
        detail::Mixed<detail::HeterDispatcherBase<Event, PrototypeList, Policies>, Policies>;

public:
    using Base::Base;

    friend void swap(HeterEventDispatcher& a, HeterEventDispatcher& b) noexcept { a.swap(b); }
};

}  // namespace sluice
