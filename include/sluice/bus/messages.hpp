#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>

namespace sluice {

namespace detail {

template <class T, class... Ts>
constexpr std::size_t countOf() noexcept {
    return (std::size_t{std::is_same_v<T, Ts>} + ... + 0);
}

template <class T, class... Ts>
constexpr std::size_t indexOf() noexcept {
    std::size_t index = 0;
    (void)((std::is_same_v<T, Ts> || (++index, false)) || ...);
    return index;
}

}  // namespace detail

/// The types that a bus carries. The position of a type is its index, also in the statistics.
template <class... Ts>
struct Messages {
    static_assert(sizeof...(Ts) != 0, "a bus needs at least one type of message");
    static_assert(sizeof...(Ts) < 255, "a bus carries at most 254 types of message");
    static_assert(((std::is_object_v<Ts> && !std::is_array_v<Ts>)&&...),
                  "messages are objects: no references, functions or arrays");
    static_assert((std::is_same_v<Ts, std::remove_cv_t<Ts>> && ...),
                  "the types of messages are listed without const and volatile");
    static_assert((std::is_nothrow_destructible_v<Ts> && ...),
                  "destroying a message must not throw");
    static_assert(((detail::countOf<Ts, Ts...>() == 1) && ...),
                  "each type of message is listed once");

    static constexpr std::size_t count = sizeof...(Ts);
    static constexpr std::size_t maxSize = std::max({sizeof(Ts)...});
    static constexpr std::size_t maxAlignment = std::max({alignof(Ts)...});
    static constexpr bool areTriviallyDestructible = (std::is_trivially_destructible_v<Ts> && ...);
    static constexpr bool areNothrowMovable = (std::is_nothrow_move_constructible_v<Ts> && ...);

    /// A type as a value.
    template <class T>
    struct Type {
        using Message = T;
    };

    template <class T>
    static constexpr bool contains = detail::countOf<T, Ts...>() == 1;

    /// The index of T in the list.
    template <class T>
    static constexpr std::size_t indexOf = detail::indexOf<T, Ts...>();

    /// Calls f(Type<T>) for the type with this index. Each branch is inlined, and the first types
    /// are compiled as the likely ones.
    template <class F>
    static constexpr void visit(std::size_t index, F&& f) {
        (void)((__builtin_expect(index == indexOf<Ts>, 1) ? (f(Type<Ts>{}), true) : false) || ...);
    }
};

namespace detail {

template <class T>
inline constexpr bool isMessageList = false;
template <class... Ts>
inline constexpr bool isMessageList<Messages<Ts...>> = true;

template <class List, class T>
constexpr bool checkListed() noexcept {
    static_assert(List::template contains<T>,
                  "this type is not among the Messages of the bus: add it to the list");
    return List::template contains<T>;
}

/// The index of T in the list. If T is not listed, an assertion fails; 0 avoids further errors.
template <class List, class T>
constexpr std::size_t listedIndex() noexcept {
    return checkListed<List, T>() ? List::template indexOf<T> : 0;
}

}  // namespace detail

}  // namespace sluice
