#pragma once

#include <functional>
#include <type_traits>
#include <utility>

namespace sluice {

/// Several callables of class type as one, to be chosen from by the type of the argument:
///
///     bus.processWith(sluice::overload([](const Alarm&) { ... }, [](const Sample&) { ... }));
template <class... Fs>
struct Overload : Fs... {
    using Fs::operator()...;
};

template <class... Fs>
[[nodiscard]] Overload<std::decay_t<Fs>...> overload(Fs&&... fs) {
    return {std::forward<Fs>(fs)...};
}

/// A visitor that is meant to know some of the messages only. The others are delivered to nobody.
template <class Visitor>
struct Partial {
    Visitor visitor;
};

template <class Visitor>
[[nodiscard]] Partial<std::decay_t<Visitor>> partial(Visitor&& visitor) {
    return {std::forward<Visitor>(visitor)};
}

namespace detail {

template <class Visitor>
inline constexpr bool isPartial = false;
template <class Visitor>
inline constexpr bool isPartial<Partial<Visitor>> = true;

/// Calls visitor(message, header) or visitor(message), whichever it understands.
template <class Visitor, class Message, class Header>
void callVisitor(Visitor& visitor, Message& message, const Header& header) {
    if constexpr (isPartial<std::remove_const_t<Visitor>>) {
        if constexpr (std::is_invocable_v<decltype((visitor.visitor)), Message&, const Header&> ||
                      std::is_invocable_v<decltype((visitor.visitor)), Message&>) {
            callVisitor(visitor.visitor, message, header);
        }
    } else if constexpr (std::is_invocable_v<Visitor&, Message&, const Header&>) {
        static_cast<void>(std::invoke(visitor, message, header));
    } else {
        constexpr bool takesIt = std::is_invocable_v<Visitor&, Message&>;
        static_assert(takesIt, "the visitor does not take every message of the bus: add an "
                               "overload, or wrap it in sluice::partial()");
        if constexpr (takesIt) {  // or there would be other errors besides
            static_cast<void>(std::invoke(visitor, message));
        }
    }
}

}  // namespace detail

}  // namespace sluice
