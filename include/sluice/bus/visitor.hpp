#pragma once

#include <cstddef>
#include <functional>
#include <type_traits>
#include <utility>

namespace sluice {

/// Combines several callables into one overloaded callable:
///
///     bus.processWith(sluice::overload([](const Alarm&) { ... }, [](const Sample&) { ... }));
///
/// Callables that take (message, header) are preferred to callables that take only a message.
template <class... Fs>
struct Overload : Fs... {
    using Fs::operator()...;
};

template <class... Fs>
[[nodiscard]] Overload<std::decay_t<Fs>...> overload(Fs&&... fs) {
    return {std::forward<Fs>(fs)...};
}

/// Calls `visitor` for messages that it accepts without a conversion; skips all other messages.
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

/// True if the callable's first parameter is Message or a base class of Message. Also true for
/// templates and overloaded operators, because their parameter type is unknown.
template <class F, class Message>
struct TakesUnconverted : std::true_type {};
template <class Parameter, class Message>
struct IsUnconverted : std::bool_constant<std::is_same_v<std::decay_t<Parameter>, Message> ||
                                          std::is_base_of_v<std::decay_t<Parameter>, Message>> {};
template <class R, class First, class... Rest, bool IsNoexcept, class Message>
struct TakesUnconverted<R (*)(First, Rest...) noexcept(IsNoexcept), Message>
    : IsUnconverted<First, Message> {};
template <class C, class R, class First, class... Rest, bool IsNoexcept, class Message>
struct TakesUnconverted<R (C::*)(First, Rest...) noexcept(IsNoexcept), Message>
    : IsUnconverted<First, Message> {};
template <class C, class R, class First, class... Rest, bool IsNoexcept, class Message>
struct TakesUnconverted<R (C::*)(First, Rest...) const noexcept(IsNoexcept), Message>
    : IsUnconverted<First, Message> {};

template <class F, class Message, class = void>
inline constexpr bool takesUnconverted =
    std::is_member_pointer_v<F> || TakesUnconverted<std::decay_t<F>, Message>::value;
template <class F, class Message>
inline constexpr bool takesUnconverted<F, Message, std::void_t<decltype(&F::operator())>> =
    TakesUnconverted<decltype(&F::operator()), Message>::value;
template <class... Fs, class Message>
inline constexpr bool takesUnconverted<Overload<Fs...>, Message> =
    (takesUnconverted<Fs, Message> || ...);

template <class Handler, class Message, class Header, std::size_t HandlerSize>
constexpr bool checkHandler() noexcept {
    constexpr bool takesIt = std::is_invocable_v<Handler&, const Message&, const Header&> ||
                             std::is_invocable_v<Handler&, const Message&>;
    constexpr bool isUnconverted = !takesIt || takesUnconverted<Handler, Message>;
    constexpr bool fits = sizeof(Handler) <= HandlerSize;
    static_assert(takesIt, "a handler takes (const T&) or (const T&, const Header&)");
    static_assert(isUnconverted, "the handler takes the message only by converting it: "
                                 "subscribe it for its own type");
    static_assert(fits, "a handler's captures take more than handlerSize of the traits: capture a "
                        "pointer, or raise it");
    return takesIt && isUnconverted && fits;
}

template <class T, class Header, class Handler>
decltype(auto) withHeader(Handler&& handler) {
    using H = std::decay_t<Handler>;
    if constexpr (std::is_invocable_v<H&, const T&, const Header&>) {
        return std::forward<Handler>(handler);
    } else {
        return [h = H(std::forward<Handler>(handler))](const T& message, const Header&) mutable {
            static_cast<void>(std::invoke(h, message));
        };
    }
}

/// Calls visitor(message, header) or visitor(message). Returns false if a partial visitor skips the
/// message.
template <class Visitor, class Message, class Header>
bool callVisitor(Visitor& visitor, Message& message, const Header& header) {
    using Plain = std::remove_const_t<Visitor>;
    if constexpr (isPartial<Plain>) {
        using Part = decltype((visitor.visitor));
        if constexpr (takesUnconverted<std::decay_t<Part>, Message> &&
                      (std::is_invocable_v<Part, Message&, const Header&> ||
                       std::is_invocable_v<Part, Message&>)) {
            return callVisitor(visitor.visitor, message, header);
        }
        return false;
    } else {
        constexpr bool takesHeader = std::is_invocable_v<Visitor&, Message&, const Header&>;
        constexpr bool takesIt =
            std::disjunction_v<std::is_invocable<Visitor&, Message&, const Header&>,
                               std::is_invocable<Visitor&, Message&>>;
        constexpr bool isUnconverted = !takesIt || takesUnconverted<Plain, Message>;
        static_assert(takesIt, "the visitor does not take every message of the bus: add an "
                               "overload, or wrap it in sluice::partial()");
        static_assert(isUnconverted, "the visitor takes a message only by converting it: add an "
                                     "overload for its type, or wrap it in sluice::partial()");
        if constexpr (!takesIt || !isUnconverted) {  // avoids follow-up errors
        } else if constexpr (takesHeader) {
            static_cast<void>(std::invoke(visitor, message, header));
        } else {
            static_cast<void>(std::invoke(visitor, message));
        }
        return true;
    }
}

}  // namespace detail

}  // namespace sluice
