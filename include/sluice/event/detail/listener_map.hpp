#pragma once

#include <sluice/event/detail/event_map.hpp>
#include <sluice/event/detail/policy_traits.hpp>

#include <cstddef>
#include <type_traits>
#include <utility>

namespace sluice::detail {

template <class P>
using PassingMember = typename P::ArgumentPassingMode;
template <class Policies, class Default>
using ArgumentPassingOf = typename PolicyOr<Default, PassingMember, Policies>::Type;

template <class P>
using MixinsMember = typename P::Mixins;
template <class Policies>
using MixinsOf = typename PolicyOr<MixinList<>, MixinsMember, Policies>::Type;

// ---- getEvent(args...)

/// True if Event is a reference that would bind to a temporary made from From.
template <class Event, class From>
inline constexpr bool bindsToTemporary =
    std::is_reference_v<Event> &&
    !std::is_convertible_v<std::add_pointer_t<From>, std::add_pointer_t<Event>>;

template <class P, class... Args>
using EventResult = decltype(P::getEvent(std::declval<Args>()...));

/// Returns the policy's getEvent() result, or the first argument if getEvent() does not accept the
/// arguments. The policy's getEvent() may move from arguments that are passed as rvalues.
template <class Policies, class Event, class First, class... Rest>
Event getEvent(First&& first, Rest&&... rest) {
    if constexpr (isDetected<EventResult, Policies, First, Rest...>) {
        return Policies::getEvent(std::forward<First>(first), std::forward<Rest>(rest)...);
    } else {
        static_assert(std::is_convertible_v<First&&, Event> && !bindsToTemporary<Event, First>,
                      "the first argument is no event, and the policies have no getEvent() that "
                      "takes just these arguments");
        if constexpr (std::is_arithmetic_v<Event> && std::is_arithmetic_v<std::decay_t<First>>) {
            return static_cast<Event>(first);  // converting between number types is intended
        } else {
            return std::forward<First>(first);
        }
    }
}

// ---- Mixins

/// Derives the mixins of the list from Root; the first mixin is the most derived class.
template <class Root, class List>
struct WithMixins;
template <class Root>
struct WithMixins<Root, MixinList<>> {
    using Type = Root;
};
template <class Root, template <class> class First, template <class> class... Rest>
struct WithMixins<Root, MixinList<First, Rest...>> {
    using Type = First<typename WithMixins<Root, MixinList<Rest...>>::Type>;
};

template <class Root, class Policies>
using Mixed = typename WithMixins<Root, MixinsOf<Policies>>::Type;

template <class Member>
struct DeclaringClass;
template <class Member, class Class>
struct DeclaringClass<Member Class::*> {
    using Type = Class;
};

template <class Mixin, class... Args>
using HookResult =
    decltype(std::declval<const Mixin&>().mixinBeforeDispatch(std::declval<Args&>()...));
template <class Mixin>
using PlainHook = typename DeclaringClass<decltype(&Mixin::mixinBeforeDispatch)>::Type;
template <class Mixin, class... Args>
using TemplateHook =
    typename DeclaringClass<decltype(&Mixin::template mixinBeforeDispatch<Args&...>)>::Type;

template <class Mixin, class Below, class... Args>
constexpr bool hasOwnHook() noexcept {
    if constexpr (!isDetected<HookResult, Mixin, Args...>) {
        return false;
    } else if constexpr (isDetected<PlainHook, Mixin>) {
        return !std::is_base_of_v<PlainHook<Mixin>, Below>;
    } else if constexpr (isDetected<TemplateHook, Mixin, Args...>) {
        return !std::is_base_of_v<TemplateHook<Mixin, Args...>, Below>;
    } else {
        return true;
    }
}

template <class Root, class List>
struct MixinHooks;

template <class Root>
struct MixinHooks<Root, MixinList<>> {
    template <class... Args>
    static bool allow(const Root&, Args&...) {
        return true;
    }
};

template <class Root, template <class> class First, template <class> class... Rest>
struct MixinHooks<Root, MixinList<First, Rest...>> {
    using Mixin = typename WithMixins<Root, MixinList<First, Rest...>>::Type;
    using Below = typename WithMixins<Root, MixinList<Rest...>>::Type;

    /// Calls the mixinBeforeDispatch() hooks in order until one returns false.
    template <class... Args>
    static bool allow(const Root& root, Args&... args) {
        if constexpr (hasOwnHook<Mixin, Below, Args...>()) {
            if (!static_cast<const Mixin&>(root).mixinBeforeDispatch(args...)) {
                return false;
            }
        }
        return MixinHooks<Root, MixinList<Rest...>>::allow(root, args...);
    }
};

/// Returns `list` itself, because a CallbackList has only one prototype.
template <class Prototype, class List>
const List& listFor(PrototypeTag<Prototype>, const List& list) noexcept {
    return list;
}

/// The base of all dispatchers and queues: maps events to lists of listeners. A list is a
/// CallbackList or a HeterCallbackList.
template <class EventType, class ListType, class Policies>
class ListenerMap {
protected:
    // Mixins also use these types.
    using Threading = ThreadingOf<Policies>;
    using List = ListType;
    using Key = std::decay_t<EventType>;

public:
    using Event = EventType;
    using Handle = typename List::Handle;
    using Mutex = typename Threading::Mutex;

    void swap(ListenerMap& other) noexcept { lists_.swap(other.lists_); }

    /// Returns false if the handle names no listener of this event.
    bool removeListener(const Event& event, const Handle& handle) {
        List* const list = find(event);
        return list != nullptr && list->remove(handle);
    }

    /// See CallbackList::removeAndWait().
    bool removeListenerAndWait(const Event& event, const Handle& handle) {
        List* const list = find(event);
        return list != nullptr && list->removeAndWait(handle);
    }

    /// The number of an event's listeners that were removed but not destroyed yet.
    [[nodiscard]] std::size_t removedSizeApprox(const Event& event) const {
        const List* const list = find(event);
        return list == nullptr ? 0 : list->removedSizeApprox();
    }

    void removeAllListeners(const Event& event) {
        if (List* const list = find(event)) {
            list->clear();
        }
    }

    /// Frees the memory of events that have no listeners, and of their removed listeners. Returns
    /// the number of freed events. Listeners may call trimEvents(), but code that copies, converts
    /// or compares events, arguments or callables must not. During trimEvents(), no other thread
    /// may use the dispatcher. If trimEvents() throws std::bad_alloc, nothing has changed.
    std::size_t trimEvents() {
        return lists_.removeIf([](const List& list) { return list.empty(); });
    }

    [[nodiscard]] bool hasAnyListener(const Event& event) const {
        const List* const list = find(event);
        return list != nullptr && !list->empty();
    }

    [[nodiscard]] bool ownsHandle(const Event& event, const Handle& handle) const {
        const List* const list = find(event);
        return list != nullptr && list->ownsHandle(handle);
    }

protected:
    List& listOf(const Event& event) { return lists_.findOrAdd(event); }

    /// Returns null if the event has no list. A list keeps its address until trimEvents().
    List* find(const Event& event) const { return lists_.find(event); }

    template <class Root, class... Args>
    bool isAllowed(Args&... args) const {
        return MixinHooks<Root, MixinsOf<Policies>>::allow(static_cast<const Root&>(*this),
                                                           args...);
    }

    /// Calls the mixins and listeners with arguments converted to the prototype's types. Reads the
    /// event before the conversions, because a conversion may move the event.
    template <class Root, class Result, class... Args, class... A>
    void callListeners(PrototypeTag<Result(Args...)> prototype, const Event& event,
                       A&&... args) const {
        if constexpr (!std::is_same_v<MixinsOf<Policies>, MixinList<>>) {
            const Key kept(event);
            callAllowed<Root>(prototype, kept, static_cast<Args>(std::forward<A>(args))...);
        } else if (const List* const list = find(event)) {
            callAll(prototype, *list, static_cast<Args>(std::forward<A>(args))...);
        }
    }

    template <class T>
    using Same = std::enable_if_t<true, T>;

    template <class Result, class... Args>
    SLUICE_ALWAYS_INLINE static void callAll(PrototypeTag<Result(Args...)> prototype,
                                             const List& list, Same<Args>... args) {
        listFor(prototype, list).callAll(args...);
    }

private:
    template <class Root, class Result, class... Args>
    void callAllowed(PrototypeTag<Result(Args...)> prototype, const Key& event,
                     Same<Args>... args) const {
        const List* const list = isAllowed<Root>(args...) ? find(event) : nullptr;
        if (list != nullptr) {
            listFor(prototype, *list).callAll(args...);
        }
    }

    EventMap<Key, List, Policies> lists_;
};

}  // namespace sluice::detail
