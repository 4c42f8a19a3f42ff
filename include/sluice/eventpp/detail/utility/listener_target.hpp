#pragma once

#include <sluice/event/event_policies.hpp>

#include <type_traits>
#include <utility>

namespace sluice::detail {

template <class Target>
inline constexpr bool isDispatcher = std::is_base_of_v<TagEventDispatcher, Target>;
template <class Target>
inline constexpr bool isCallbackList = std::is_base_of_v<TagCallbackList, Target>;

/// The functions of a utility that add listeners to a list. Self::add(put, listener, options...)
/// makes a callback of the listener, and calls put(target, callback).
template <class Self, class Target>
class ListAdders {
public:
    using Handle = typename Target::Handle;

    template <class Listener, class... Options>
    Handle append(Listener&& listener, Options&&... options) {
        const auto put = [](Target& list, auto&& made) {
            return list.append(std::forward<decltype(made)>(made));
        };
        return self().add(put, std::forward<Listener>(listener), std::forward<Options>(options)...);
    }

    template <class Listener, class... Options>
    Handle prepend(Listener&& listener, Options&&... options) {
        const auto put = [](Target& list, auto&& made) {
            return list.prepend(std::forward<decltype(made)>(made));
        };
        return self().add(put, std::forward<Listener>(listener), std::forward<Options>(options)...);
    }

    template <class Listener, class... Options>
    Handle insert(Listener&& listener, const Handle& before, Options&&... options) {
        const auto put = [&before](Target& list, auto&& made) {
            return list.insert(std::forward<decltype(made)>(made), before);
        };
        return self().add(put, std::forward<Listener>(listener), std::forward<Options>(options)...);
    }

private:
    Self& self() noexcept { return static_cast<Self&>(*this); }
};

/// As ListAdders, for a dispatcher or a queue.
template <class Self, class Target>
class DispatcherAdders {
public:
    using Handle = typename Target::Handle;
    using Event = typename Target::Event;

    template <class Listener, class... Options>
    Handle appendListener(const Event& event, Listener&& listener, Options&&... options) {
        const auto put = [&event](Target& dispatcher, auto&& made) {
            return dispatcher.appendListener(event, std::forward<decltype(made)>(made));
        };
        return self().add(put, std::forward<Listener>(listener), std::forward<Options>(options)...);
    }

    template <class Listener, class... Options>
    Handle prependListener(const Event& event, Listener&& listener, Options&&... options) {
        const auto put = [&event](Target& dispatcher, auto&& made) {
            return dispatcher.prependListener(event, std::forward<decltype(made)>(made));
        };
        return self().add(put, std::forward<Listener>(listener), std::forward<Options>(options)...);
    }

    template <class Listener, class... Options>
    Handle insertListener(const Event& event, Listener&& listener, const Handle& before,
                          Options&&... options) {
        const auto put = [&event, &before](Target& dispatcher, auto&& made) {
            return dispatcher.insertListener(event, std::forward<decltype(made)>(made), before);
        };
        return self().add(put, std::forward<Listener>(listener), std::forward<Options>(options)...);
    }

private:
    Self& self() noexcept { return static_cast<Self&>(*this); }
};

template <class Self, class Target>
struct AddersOf {
    static_assert(isDispatcher<Target> || isCallbackList<Target>,
                  "the target must be a callback list, an event dispatcher or an event queue");
    using Type = std::conditional_t<isDispatcher<Target>, DispatcherAdders<Self, Target>,
                                    ListAdders<Self, Target>>;
};

/// The functions that fit Target.
template <class Self, class Target>
using Adders = typename AddersOf<Self, Target>::Type;

}  // namespace sluice::detail
