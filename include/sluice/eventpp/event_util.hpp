#pragma once

#include <sluice/event/detail/comparing.hpp>

namespace sluice {

namespace detail {

template <class Callback>
constexpr void requireComparable() noexcept {
    static_assert(hasEqual<Callback>,
                  "the Callback has no operator ==, as std::function has none: choose a comparable "
                  "Callback in the policies, or use the handle");
}

}  // namespace detail

/// Removes the first listener that equals `listener`. Returns false if no listener is equal.
///
///     struct Plain {
///         using Callback = void (*)(int);
///     };
///     sluice::CallbackList<void(int), Plain> list;
///     list.append(&onNumber);
///     (void)sluice::removeListener(list, &onNumber);
///
/// The Callback type needs ==. Function pointers have ==, but std::function has none.
template <class Dispatcher>
bool removeListener(Dispatcher& dispatcher, const typename Dispatcher::Event& event,
                    const typename Dispatcher::Callback& listener) {
    detail::requireComparable<typename Dispatcher::Callback>();
    // If another thread has removed an equal listener, tries the next equal one.
    return !dispatcher.forEachIf(event, [&](const auto& handle, const auto& item) {
        return !(item == listener && dispatcher.removeListener(event, handle));
    });
}

template <class List>
bool removeListener(List& list, const typename List::Callback& callback) {
    detail::requireComparable<typename List::Callback>();
    return !list.forEachIf([&](const auto& handle, const auto& item) {
        return !(item == callback && list.remove(handle));
    });
}

template <class Dispatcher>
[[nodiscard]] bool hasListener(const Dispatcher& dispatcher,
                               const typename Dispatcher::Event& event,
                               const typename Dispatcher::Callback& listener) {
    detail::requireComparable<typename Dispatcher::Callback>();
    return !dispatcher.forEachIf(event, [&](const auto& item) { return !(item == listener); });
}

template <class List>
[[nodiscard]] bool hasListener(const List& list, const typename List::Callback& callback) {
    detail::requireComparable<typename List::Callback>();
    return !list.forEachIf([&](const auto& item) { return !(item == callback); });
}

template <class Dispatcher>
[[nodiscard]] bool hasAnyListener(const Dispatcher& dispatcher,
                                  const typename Dispatcher::Event& event) {
    return dispatcher.hasAnyListener(event);
}

template <class List>
[[nodiscard]] bool hasAnyListener(const List& list) {
    return !list.empty();
}

}  // namespace sluice
