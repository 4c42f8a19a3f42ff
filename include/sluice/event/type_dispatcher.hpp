#pragma once

#include <sluice/event/event_dispatcher.hpp>

#include <memory>
#include <type_traits>
#include <utility>

namespace sluice {

namespace detail {

/// Its address identifies the type, without run-time type information.
template <class T>
struct TypeKey {
    inline static const char key = 0;
};

}  // namespace detail

/// Calls the listeners of a type with an object of this type.
///
///     sluice::TypeDispatcher<> dispatcher;
///     dispatcher.appendListener<Connected>([](const Connected& event) { ... });
///     dispatcher.dispatch(Connected{address});
///
/// Use it if each kind of event has data of its own and no key. Use EventDispatcher if all events
/// have one signature and a key.
///
/// The type is the exact one: a listener for a base class receives no derived events. The rest is
/// like EventDispatcher. A shared library with hidden symbols has types of its own.
template <class Policies = DefaultPolicies>
class TypeDispatcher {
    using Dispatcher = EventDispatcher<const void*, void(const void*), Policies>;

public:
    using Handle = typename Dispatcher::Handle;

    /// Adds listener(const Event&).
    template <class Event, class Listener>
    Handle appendListener(Listener listener) {
        return dispatcher_.appendListener(keyOf<Event>(), typed<Event>(std::move(listener)));
    }
    template <class Event, class Listener>
    Handle prependListener(Listener listener) {
        return dispatcher_.prependListener(keyOf<Event>(), typed<Event>(std::move(listener)));
    }

    template <class Event>
    bool removeListener(const Handle& handle) {
        return dispatcher_.removeListener(keyOf<Event>(), handle);
    }

    template <class Event>
    [[nodiscard]] bool hasAnyListener() const {
        return dispatcher_.hasAnyListener(keyOf<Event>());
    }

    /// Calls the listeners for this type.
    template <class Event>
    void dispatch(const Event& event) const {
        dispatcher_.dispatch(keyOf<Event>(), static_cast<const void*>(std::addressof(event)));
    }

private:
    template <class Event>
    static const void* keyOf() noexcept {
        static_assert(std::is_same_v<Event, std::decay_t<Event>>,
                      "ask for the type itself, without const or a reference");
        return &detail::TypeKey<Event>::key;
    }

    template <class Event, class Listener>
    static auto typed(Listener listener) {
        static_assert(std::is_invocable_v<Listener&, const Event&>,
                      "a listener for a type is called with a const reference to it");
        return [function = std::move(listener)](const void* event) mutable {
            (void)function(*static_cast<const Event*>(event));
        };
    }

    Dispatcher dispatcher_;
};

}  // namespace sluice
