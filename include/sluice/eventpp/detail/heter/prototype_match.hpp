#pragma once

#include <sluice/event/detail/list/policy_traits.hpp>
#include <sluice/eventpp/heter_tuple.hpp>

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <tuple>
#include <type_traits>

// Finds the prototype of a HeterTuple that a callable or arguments belong to.

namespace sluice::detail {

template <class Prototype>
struct PrototypeTraits {
    static_assert(never<Prototype>,
                  "the prototypes of a HeterTuple must be function types such as void(int)");
};

template <class Result, class... Args>
struct PrototypeTraits<Result(Args...)> {
    /// The arguments as a queue keeps them.
    using Arguments = std::tuple<std::decay_t<Args>...>;

    /// Whether such a callable can be a callback.
    template <class Callable>
    static constexpr bool isFor = std::is_invocable_r_v<Result, Callable&, Args...>;

    /// The same, for any result.
    template <class Callable>
    static constexpr bool canCall = std::is_invocable_v<Callable&, Args...>;

    /// Whether the prototype accepts these arguments.
    template <class... A>
    static constexpr bool takes = std::is_invocable_v<Result(Args...), A...>;
};

/// The position of the first true value; their number if there is none.
constexpr std::size_t firstTrue(std::initializer_list<bool> values) noexcept {
    std::size_t position = 0;
    for (const bool value : values) {
        if (value) {
            return position;
        }
        ++position;
    }
    return position;
}

template <class PrototypeList>
struct Prototypes {
    static_assert(never<PrototypeList>,
                  "the prototypes must be given as a HeterTuple such as HeterTuple<void(int)>");
};

template <class... P>
struct Prototypes<HeterTuple<P...>> {
    static_assert(sizeof...(P) > 0, "a HeterTuple must have a prototype");

    static constexpr std::size_t size = sizeof...(P);

    template <std::size_t I>
    using At = std::tuple_element_t<I, std::tuple<P...>>;

    template <class Callable>
    static constexpr std::size_t ofCallable() noexcept {
        constexpr std::size_t found =
            firstTrue({PrototypeTraits<P>::template isFor<std::decay_t<Callable>>...});
        static_assert(found < size, "the callable fits none of the prototypes");
        return found;
    }

    template <class... A>
    static constexpr std::size_t ofArguments() noexcept {
        constexpr std::size_t found = firstTrue({PrototypeTraits<P>::template takes<A...>...});
        static_assert(found < size, "the arguments fit none of the prototypes");
        return found;
    }

    /// The prototype itself if it is there, otherwise the first one with whose arguments a function
    /// of this type can be called.
    template <class Prototype>
    static constexpr std::size_t ofPrototype() noexcept {
        constexpr std::size_t same = firstTrue({std::is_same_v<P, Prototype>...});
        constexpr std::size_t found =
            same < size ? same : firstTrue({PrototypeTraits<P>::template canCall<Prototype>...});
        static_assert(found < size, "there is no such prototype");
        return found;
    }
};

/// The policies of the list for one prototype: all except Callback, because one Callback fits one
/// prototype only.
template <class Policies, class Prototype>
struct WithoutCallback : Policies {
    using Callback = std::function<Prototype>;
};
template <class Policies, class Prototype>
using HeterListPolicies = std::conditional_t<isDetected<CallbackMember, Policies>,
                                             WithoutCallback<Policies, Prototype>, Policies>;

}  // namespace sluice::detail
