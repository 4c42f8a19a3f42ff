#pragma once

#include <sluice/base/assert.hpp>

#include <functional>
#include <type_traits>
#include <utility>

namespace sluice::detail {

/// Scalars are passed by value, in registers. The caller builds any other argument once. It is then
/// passed by reference until the target takes it.
template <class Arg>
using Passed = std::conditional_t<std::is_scalar_v<Arg>, Arg, Arg&&>;

/// The part that all forms of a signature share. Target is `F&` or, if IsConst, `const F&`.
template <bool IsConst, bool IsNoexcept, class R, class... Args>
struct SignatureForm {
    using Invoke = R (*)(void*, Passed<Args>...) noexcept(IsNoexcept);

    template <class F>
    using Target = std::conditional_t<IsConst, const F, F>&;

    /// Whether F can be called with this signature. Refuses a result that refers to a temporary.
    template <class F>
    static constexpr bool accepts() noexcept {
        if constexpr (!std::is_invocable_r_v<R, Target<F>, Args...>) {
            return false;
        } else if constexpr (IsNoexcept && !std::is_nothrow_invocable_r_v<R, Target<F>, Args...>) {
            return false;
        } else if constexpr (std::is_reference_v<R>) {
            // A conversion makes a temporary unless it is to the same type, to a base or to const.
            using Result = std::invoke_result_t<Target<F>, Args...>;
            return std::is_reference_v<Result> &&
                   std::is_convertible_v<std::remove_reference_t<Result>*,
                                         std::remove_reference_t<R>*>;
        } else {
            return true;
        }
    }

    // A class: clang takes no address of a function template with a dependent noexcept.
    template <class F>
    struct Invoker {
        static R invoke(void* target, Passed<Args>... args) noexcept(IsNoexcept) {
            auto&& callable = static_cast<Target<F>>(*static_cast<F*>(target));
            if constexpr (std::is_void_v<R>) {
                std::invoke(callable, std::forward<Args>(args)...);
            } else {
                return std::invoke(callable, std::forward<Args>(args)...);
            }
        }
    };

    /// The target of an empty function, so that a call needs no test.
    [[noreturn]] static R invokeNothing(void*, Passed<Args>...) noexcept(IsNoexcept) {
        failAssertion({"call of a FixedFunction",
                       "the FixedFunction is empty; assign a callable, or ask its bool first",
                       __FILE__, __LINE__});
    }
};

/// Turns a signature into its form and its operator(). Self is the FixedFunction.
template <class Self, class Signature>
struct SignatureCall {
    static_assert(!std::is_same_v<Signature, Signature>,
                  "FixedFunction: Signature must be R(Args...), with const or noexcept or both");
};

template <class Self, class R, class... Args, bool IsNoexcept>
struct SignatureCall<Self, R(Args...) noexcept(IsNoexcept)> {
    using Form = SignatureForm<false, IsNoexcept, R, Args...>;

    R operator()(Args... args) noexcept(IsNoexcept) {
        Self& self = static_cast<Self&>(*this);
        return self.invoke_(self.storage_, std::forward<Args>(args)...);
    }
};

template <class Self, class R, class... Args, bool IsNoexcept>
struct SignatureCall<Self, R(Args...) const noexcept(IsNoexcept)> {
    using Form = SignatureForm<true, IsNoexcept, R, Args...>;

    R operator()(Args... args) const noexcept(IsNoexcept) {
        // Form::invoke gives the target its const back.
        Self& self = const_cast<Self&>(static_cast<const Self&>(*this));
        return self.invoke_(self.storage_, std::forward<Args>(args)...);
    }
};

}  // namespace sluice::detail
