#pragma once

#include <sluice/event/callback_list.hpp>
#include <sluice/event/detail/listener_map.hpp>

#include <type_traits>
#include <utility>

namespace sluice {

namespace detail {
template <class Event, class Prototype, class Policies, class MixinRoot = void>
class DispatcherBase;
}  // namespace detail

/// A map from events to callback lists.
///
///     sluice::EventDispatcher<int, void(const std::string&)> dispatcher;
///     dispatcher.appendListener(3, [](const std::string& text) { ... });
///     dispatcher.dispatch(3, "hello");
///
/// Use a dispatcher if listeners subscribe to particular events, such as message types or topics.
/// Use CallbackList for one kind of event, and EventQueue if listeners run later or on another
/// thread.
///
/// Order, thread safety, lifetime and errors are those of CallbackList. A mixin's hook must not
/// destroy the dispatcher. An event without listeners keeps about 200 bytes until trimEvents().
///
/// Performance: threads dispatch in parallel, because they find listeners without a lock. If
/// `Event` has no std::hash or a custom comparison, dispatch() searches a std::map under a lock.
///
/// `Event` needs either std::hash and ==, or <, unless `Policies` has a Map. `Policies` may define
/// Callback, Threading, Map, getEvent, canContinueInvoking, ArgumentPassingMode and Mixins.
template <class Event, class Prototype, class Policies = DefaultPolicies>
class EventDispatcher
    : public detail::Mixed<detail::DispatcherBase<Event, Prototype, Policies>, Policies>,
      public TagEventDispatcher {
    using Base = detail::Mixed<detail::DispatcherBase<Event, Prototype, Policies>, Policies>;

public:
    using Base::Base;

    friend void swap(EventDispatcher& a, EventDispatcher& b) noexcept { a.swap(b); }
};

namespace detail {

/// The base of EventDispatcher and EventQueue. The mixins derive from `MixinRoot`.
template <class EventType, class Prototype, class Policies, class MixinRoot>
class DispatcherBase {
    static_assert(never<Prototype>, "the prototype of an EventDispatcher or EventQueue must be a "
                                    "function type such as void(int)");
};

template <class EventType, class Result, class... Args, class Policies, class Root>
class DispatcherBase<EventType, Result(Args...), Policies, Root>
    : public ListenerMap<EventType, CallbackList<Result(Args...), Policies>, Policies> {
    using Base = ListenerMap<EventType, CallbackList<Result(Args...), Policies>, Policies>;

protected:
    using Prototype = Result(Args...);  // also for mixins
    using typename Base::Key;
    using typename Base::List;
    using ArgumentPassingMode = ArgumentPassingOf<Policies, ArgumentPassingAutoDetect>;
    using MixinRoot = std::conditional_t<std::is_void_v<Root>, DispatcherBase, Root>;

    template <class T>
    using Unconverted =
        std::conditional_t<std::is_reference_v<T> || std::is_scalar_v<T>, T, const T&>;
    /// True if A and T are scalar types, or if A is an lvalue reference to T.
    template <class A, class T>
    static constexpr bool isUnconverted =
        (std::is_scalar_v<std::remove_reference_t<A>> && std::is_scalar_v<std::decay_t<T>>) ||
        (std::is_lvalue_reference_v<A> && std::is_same_v<std::decay_t<A>, std::decay_t<T>>);
    template <class... A>
    static constexpr bool accepts() noexcept {
        if constexpr (sizeof...(A) == sizeof...(Args)) {
            return (std::is_convertible_v<A&&, Args> && ...) && !(isUnconverted<A, Args> && ...);
        } else {
            return false;
        }
    }

public:
    using typename Base::Event;
    using typename Base::Handle;
    using Callback = typename List::Callback;

    // ---- Adding: see the functions of CallbackList.

    Handle appendListener(const Event& event, Callback callback) {
        return this->listOf(event).append(std::move(callback));
    }

    Handle prependListener(const Event& event, Callback callback) {
        return this->listOf(event).prepend(std::move(callback));
    }

    Handle insertListener(const Event& event, Callback callback, const Handle& before) {
        return this->listOf(event).insert(std::move(callback), before);
    }

    Handle insertListenerByPriority(const Event& event, Callback callback, int priority) {
        return this->listOf(event).insertByPriority(std::move(callback), priority);
    }

    template <class F>
    void forEach(const Event& event, F&& f) const {
        if (const List* const list = this->find(event)) {
            list->forEach(std::forward<F>(f));
        }
    }

    /// Like forEach(), but stops and returns false when `f` returns false.
    template <class F>
    bool forEachIf(const Event& event, F&& f) const {
        const List* const list = this->find(event);
        return list == nullptr || list->forEachIf(std::forward<F>(f));
    }

    /// Calls the listeners of the event that the arguments contain.
    void dispatch(Args... args) const {
        static_assert(ArgumentPassingMode::canIncludeEventType,
                      "dispatch(): the number of arguments is the prototype's, but the policy "
                      "wants the event in front of them");
        callListeners(getEvent<Policies, Event>(args...), std::forward<Args>(args)...);
    }

    /// Calls the listeners of the event `first`, or of the event that getEvent() returns for the
    /// arguments. dispatch() determines the event before any argument is moved or converted.
    template <class First, class... A, std::enable_if_t<accepts<A...>(), int> = 0>
    void dispatch(First&& first, A&&... args) const {
        dispatchFrom(std::forward<First>(first), std::forward<A>(args)...);
    }
    /// Accepts arguments in braces, bit-fields and constants without a definition.
    template <class First>
    void dispatch(First&& first, Unconverted<Args>... args) const {
        dispatchFrom(std::forward<First>(first), std::forward<Unconverted<Args>>(args)...);
    }

    /// Calls the listeners of `event`.
    template <class... A, std::enable_if_t<accepts<A...>(), int> = 0>
    void directDispatch(const Event& event, A&&... args) const {
        callListeners(event, std::forward<A>(args)...);
    }
    void directDispatch(const Event& event, Unconverted<Args>... args) const {
        callListeners(event, std::forward<Unconverted<Args>>(args)...);
    }

protected:
    /// Calls the listeners with an event and arguments that a queue owns.
    template <class... A>
    void dispatchTo(PrototypeTag<Prototype>, const Event& event, A&... args) const {
        constexpr bool canPass = (std::is_convertible_v<A&, Args> && ...);
        static_assert(canPass,
                      "an argument cannot be passed on to the listeners: in the prototype, "
                      "take by reference what cannot be copied");
        if constexpr (canPass) {
            callListeners(event, args...);
        }
    }

private:
    template <class... A>
    void callListeners(const Event& event, A&&... args) const {
        Base::template callListeners<MixinRoot>(PrototypeTag<Prototype>(), event,
                                                std::forward<A>(args)...);
    }

    template <class First, class... A>
    void dispatchFrom(First&& first, A&&... args) const {
        static_assert(ArgumentPassingMode::canExcludeEventType,
                      "dispatch(): there is one argument more than in the prototype, but the "
                      "policy wants the event among them");
        constexpr bool isConverted = !(std::is_same_v<std::decay_t<A>, std::decay_t<Args>> && ...);
        if constexpr (isConverted && isDetected<EventResult, Policies, First, Args&...>) {
            // Keeps `first`, because converting `args` may move the object that contains `first`.
            using Kept = std::conditional_t<std::is_class_v<std::decay_t<First>>,
                                            std::decay_t<First>, First&&>;
            Kept kept(std::forward<First>(first));
            dispatchFrom<First, Args...>(static_cast<First&&>(kept),
                                         static_cast<Args>(std::forward<A>(args))...);
        } else {
            callListeners(getEvent<Policies, Event>(std::forward<First>(first), args...),
                          std::forward<A>(args)...);
        }
    }
};

}  // namespace detail
}  // namespace sluice
