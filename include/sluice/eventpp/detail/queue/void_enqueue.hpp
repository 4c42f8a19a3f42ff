#pragma once

#include <type_traits>
#include <utility>

namespace sluice::detail {

/// A queue whose enqueue() returns nothing, as eventpp's does. If a mixin's enqueue() returns
/// another type than bool, it still does.
template <class Queue>
class VoidEnqueue : public Queue {
    template <class Result>
    using NotBool = std::conditional_t<std::is_same_v<Result, bool>, void, Result>;
    template <class... A>
    using ResultOf = NotBool<decltype(std::declval<Queue&>().enqueue(std::declval<A>()...))>;

public:
    using Queue::Queue;

    template <class... A>
    ResultOf<A...> enqueue(A&&... args) {
        return static_cast<ResultOf<A...>>(Queue::enqueue(std::forward<A>(args)...));
    }
    // A template, so that a program may add an enqueue() without arguments. It takes no types, so
    // that &enqueue<First, A...> names one function.
    template <int = 0>
    void enqueue(...) = delete;  // it takes the prototype's arguments, or the event and these
};

}  // namespace sluice::detail
