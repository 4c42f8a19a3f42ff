#pragma once

#include <functional>
#include <type_traits>
#include <utility>

namespace sluice {

/// A listener for some of the events of a list: it calls a function if a condition holds.
///
///     sluice::CallbackList<void(int)> list;
///     list.append(sluice::conditionalFunctor([](int level) { std::printf("low: %d\n", level); },
///                                            [](int level) { return level < 10; }));
///     list(50);  // calls the condition only
///
/// The condition gets every argument as an lvalue, so nothing is moved before the function gets it.
/// Function and condition are callables that std::invoke accepts.
///
/// Threads: as for the two callables; nothing is synchronised. Errors: exceptions of the two
/// callables. Cost: the two calls.
///
/// Tests: tests/unit/eventpp/conditional_functor_test.cpp.
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
