#pragma once

#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

namespace sluice {

namespace detail {

template <class To, class From, class = void>
inline constexpr bool castsPointer = false;
template <class To, class From>
inline constexpr bool
    castsPointer<std::shared_ptr<To>, std::shared_ptr<From>,
                 std::void_t<decltype(static_cast<To*>(static_cast<From*>(nullptr)))>> =
        !std::is_same_v<To, From>;

/// Prepares an argument for a static_cast to To. Returns an lvalue if To is an lvalue reference,
/// because a cast to an lvalue reference needs an lvalue.
template <class To, class From>
constexpr decltype(auto) adaptArgument(From&& argument) {
    if constexpr (castsPointer<std::decay_t<To>, std::decay_t<From>>) {
        return std::static_pointer_cast<typename std::decay_t<To>::element_type>(
            std::forward<From>(argument));
    } else if constexpr (std::is_lvalue_reference_v<To>) {
        return static_cast<From&>(argument);
    } else {
        return static_cast<From&&>(argument);
    }
}

template <class To, class From, class = void>
inline constexpr bool adapts = false;
template <class To, class From>
inline constexpr bool
    adapts<To, From,
           std::void_t<decltype(static_cast<To>(adaptArgument<To, From>(std::declval<From>())))>> =
        true;

template <class Func, class Prototype>
struct ArgumentAdapterCall {
    static_assert(!std::is_same_v<Prototype, Prototype>,
                  "argumentAdapter: Prototype must be a function type, R(Args...)");
};

template <class Func, class R, class... Params>
struct ArgumentAdapterCall<Func, R(Params...)> {
    template <class... Args>
    static constexpr bool accepts() noexcept {
        if constexpr (sizeof...(Args) == sizeof...(Params)) {
            return (adapts<Params, Args> && ...);
        } else {
            return false;
        }
    }

    // Casts inside the call of `function`, so that temporaries live until `function` returns.
    template <class... Args>
    static void call(Func& function, Args&&... args) {
        std::invoke(function,
                    static_cast<Params>(adaptArgument<Params>(std::forward<Args>(args)))...);
    }
};

}  // namespace detail

/// A listener whose parameter types differ from those of its list.
///
///     void onKey(const KeyEvent& event);
///     sluice::CallbackList<void(const Event&)> list;
///     list.append(sluice::argumentAdapter(onKey));
///     list(KeyEvent{'q'});  // this list is called with key events only
///
/// Arguments are converted by static_cast, which does not check the dynamic type of an argument. A
/// std::shared_ptr, by value or by const reference, is converted by std::static_pointer_cast.
template <class Func, class Prototype>
struct ArgumentAdapter {
    explicit ArgumentAdapter(Func function) : func(std::move(function)) {}

    template <
        class... Args,
        std::enable_if_t<detail::ArgumentAdapterCall<Func, Prototype>::template accepts<Args...>(),
                         int> = 0>
    void operator()(Args&&... args) {
        detail::ArgumentAdapterCall<Func, Prototype>::call(func, std::forward<Args>(args)...);
    }

    Func func;
};

/// Makes an ArgumentAdapter of a function pointer or a wrapper such as std::function. For other
/// callables, write `argumentAdapter<Prototype>(callable)`.
template <template <class> class Func, class R, class... Args>
[[nodiscard]] ArgumentAdapter<Func<R(Args...)>, R(Args...)> argumentAdapter(Func<R(Args...)> func) {
    return ArgumentAdapter<Func<R(Args...)>, R(Args...)>(std::move(func));
}

template <class Prototype, class Func>
[[nodiscard]] ArgumentAdapter<Func, Prototype> argumentAdapter(Func func) {
    return ArgumentAdapter<Func, Prototype>(std::move(func));
}

template <class R, class... Args>
[[nodiscard]] ArgumentAdapter<R (*)(Args...), R(Args...)> argumentAdapter(R (*func)(Args...)) {
    return ArgumentAdapter<R (*)(Args...), R(Args...)>(func);
}

/// A listener that calls a function only if a condition is true.
///
///     sluice::CallbackList<void(int)> list;
///     list.append(sluice::conditionalFunctor([](int level) { std::printf("low: %d\n", level); },
///                                            [](int level) { return level < 10; }));
///     list(50);  // calls the condition only
///
/// The condition receives the arguments as lvalues.
template <class Func, class Condition>
struct ConditionalFunctor {
    ConditionalFunctor(Func function, Condition test)
        : func(std::move(function)), condition(std::move(test)) {}

    template <class... Args, std::enable_if_t<std::is_invocable_v<Condition&, Args&...> &&
                                                  std::is_invocable_v<Func&, Args...>,
                                              int> = 0>
    void operator()(Args&&... args) {
        if (std::invoke(condition, args...)) {
            std::invoke(func, std::forward<Args>(args)...);
        }
    }

    Func func;
    Condition condition;
};

template <class Func, class Condition>
[[nodiscard]] ConditionalFunctor<Func, Condition> conditionalFunctor(Func func,
                                                                     Condition condition) {
    return ConditionalFunctor<Func, Condition>(std::move(func), std::move(condition));
}

}  // namespace sluice
