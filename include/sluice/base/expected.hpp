#pragma once

#include <sluice/base/assert.hpp>

#include <memory>
#include <type_traits>
#include <utility>
#include <variant>

namespace sluice {

/// Marks a value as the error of an Expected: `return Unexpected(ParseError::tooShort);`
template <class E>
class Unexpected {
    static_assert(std::is_object_v<E> && std::is_same_v<E, std::remove_cv_t<E>>,
                  "Unexpected<E>: E must be a plain object type");

public:
    constexpr explicit Unexpected(E error) noexcept(std::is_nothrow_move_constructible_v<E>)
        : error_(std::move(error)) {}

    constexpr E& error() & noexcept { return error_; }
    constexpr const E& error() const& noexcept { return error_; }
    constexpr E&& error() && noexcept { return std::move(error_); }

private:
    E error_;
};

template <class T, class E>
class Expected;

namespace detail {

template <class T>
inline constexpr bool isExpectedOrUnexpected = false;
template <class T, class E>
inline constexpr bool isExpectedOrUnexpected<Expected<T, E>> = true;
template <class E>
inline constexpr bool isExpectedOrUnexpected<Unexpected<E>> = true;

}  // namespace detail

/// The result of a function that may fail: a value of type T or an error of type E.
///
///     sluice::Expected<int, ParseError> parse(const char* text);
///     const auto number = parse("42");
///     use(number ? *number : 0);  // otherwise number.error()
///
/// Use Expected for functions that often fail, or that must report errors without exceptions. An
/// Expected is trivially copyable and destructible if T and E are. T may be void or equal to E.
///
/// Errors: calling value() on a failure or error() on a success ends the program, also in release
/// builds. An assignment that throws may leave neither value nor error; hasValue() then returns
/// false.
template <class T, class E>
class [[nodiscard]] Expected {
    static_assert(std::is_object_v<T> && std::is_same_v<T, std::remove_cv_t<T>>,
                  "Expected<T, E>: T must be a plain object type or void");

public:
    template <class U = T, std::enable_if_t<std::is_convertible_v<U&&, T> &&
                                                !detail::isExpectedOrUnexpected<std::decay_t<U>>,
                                            int> = 0>
    constexpr Expected(U&& value) : state_(std::in_place_index<0>, std::forward<U>(value)) {}

    template <class... Args, std::enable_if_t<std::is_constructible_v<T, Args&&...>, int> = 0>
    constexpr explicit Expected(std::in_place_t, Args&&... args)
        : state_(std::in_place_index<0>, std::forward<Args>(args)...) {}

    template <class G, std::enable_if_t<std::is_convertible_v<G&&, E>, int> = 0>
    constexpr Expected(Unexpected<G> failure)
        : state_(std::in_place_index<1>, E(std::move(failure).error())) {}

    [[nodiscard]] constexpr bool hasValue() const noexcept { return state_.index() == 0; }
    constexpr explicit operator bool() const noexcept { return hasValue(); }

    [[nodiscard]] constexpr const E& error() const& noexcept {
        SLUICE_ASSERT(state_.index() == 1, "Expected holds no error; ask hasValue() first");
        return std::get<1>(state_).error();
    }
    [[nodiscard]] constexpr E& error() & noexcept {
        return const_cast<E&>(std::as_const(*this).error());
    }
    [[nodiscard]] constexpr E&& error() && noexcept { return std::move(error()); }

    [[nodiscard]] constexpr const T& value() const& noexcept {
        SLUICE_ASSERT(state_.index() == 0, "Expected holds an error; ask hasValue() first");
        return std::get<0>(state_);
    }
    [[nodiscard]] constexpr T& value() & noexcept {
        return const_cast<T&>(std::as_const(*this).value());
    }
    [[nodiscard]] constexpr T&& value() && noexcept { return std::move(value()); }

    constexpr T& operator*() & noexcept { return value(); }
    constexpr const T& operator*() const& noexcept { return value(); }
    constexpr T&& operator*() && noexcept { return std::move(value()); }
    constexpr T* operator->() noexcept { return std::addressof(value()); }
    constexpr const T* operator->() const noexcept { return std::addressof(value()); }

private:
    std::variant<T, Unexpected<E>> state_;
};

template <class E>
class [[nodiscard]] Expected<void, E> : public Expected<std::monostate, E> {
public:
    using Expected<std::monostate, E>::Expected;
    constexpr Expected() noexcept : Expected<std::monostate, E>(std::in_place) {}
};

}  // namespace sluice
