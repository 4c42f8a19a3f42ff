#pragma once

#include <sluice/base/assert.hpp>

#include <cstddef>
#include <cstring>
#include <functional>
#include <new>
#include <type_traits>
#include <utility>

namespace sluice {

template <class Signature, std::size_t Bytes>
class FixedFunction;

namespace detail {

/// The type by which operator() forwards an argument: scalars by value, other types by reference.
template <class Arg>
using Passed = std::conditional_t<std::is_scalar_v<Arg>, Arg, Arg&&>;

template <bool IsConst, bool IsNoexcept, class R, class... Args>
struct SignatureForm {
    using Invoke = R (*)(void*, Passed<Args>...) noexcept(IsNoexcept);

    template <class F>
    using Target = std::conditional_t<IsConst, const F, F>&;

    /// Returns true if F can be called with this signature and returns no dangling reference.
    template <class F>
    static constexpr bool accepts() noexcept {
        if constexpr (!std::is_invocable_r_v<R, Target<F>, Args...>) {
            return false;
        } else if constexpr (IsNoexcept && !std::is_nothrow_invocable_r_v<R, Target<F>, Args...>) {
            return false;
        } else if constexpr (std::is_reference_v<R>) {
            // R must not refer to a temporary: only conversions to a base or to const create none.
            using Result = std::invoke_result_t<Target<F>, Args...>;
            return std::is_reference_v<Result> &&
                   std::is_convertible_v<std::remove_reference_t<Result>*,
                                         std::remove_reference_t<R>*>;
        } else {
            return true;
        }
    }

    // A class, because clang cannot take a function template's address if noexcept is dependent.
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

    /// The function that an empty FixedFunction calls, so that operator() needs no check.
    [[noreturn]] static R invokeNothing(void*, Passed<Args>...) noexcept(IsNoexcept) {
        failAssertion({"call of a FixedFunction",
                       "the FixedFunction is empty; assign a callable, or ask its bool first",
                       __FILE__, __LINE__});
    }
};

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
        // Invoker::invoke() calls the callable as const, so the const_cast is safe.
        Self& self = const_cast<Self&>(static_cast<const Self&>(*this));
        return self.invoke_(self.storage_, std::forward<Args>(args)...);
    }
};

/// A target with a null `relocate` is moved by memcpy; with a null `destroy`, it is not destroyed.
struct TargetOperations {
    void (*relocate)(void* to, void* from) noexcept;
    void (*destroy)(void* target) noexcept;
};

template <class F>
void relocateTarget(void* to, void* from) noexcept {
    F& source = *static_cast<F*>(from);
    ::new (to) F(std::move(source));
    source.~F();
}

template <class F>
void destroyTarget(void* target) noexcept {
    static_cast<F*>(target)->~F();
}

template <class F>
inline constexpr TargetOperations targetOperations{
    std::is_trivially_copyable_v<F> ? nullptr : &relocateTarget<F>,
    std::is_trivially_destructible_v<F> ? nullptr : &destroyTarget<F>};

template <class F, class = void>
inline constexpr bool comparesWithNull = false;
template <class F>
inline constexpr bool comparesWithNull<
    F,
    std::enable_if_t<std::is_convertible_v<decltype(std::declval<const F&>() == nullptr), bool>>> =
    true;

/// True for pointers, and for wrappers such as std::function that can be constructed from nullptr.
/// False for lambdas, although lambdas without captures compare with nullptr.
template <class F>
inline constexpr bool canBeEmpty =
    comparesWithNull<F> && (!std::is_class_v<F> || std::is_constructible_v<F, std::nullptr_t>);

template <class F>
bool isEmptyCallable([[maybe_unused]] const F& callable) noexcept {
    if constexpr (canBeEmpty<F>) {
        return callable == nullptr;
    } else {
        return false;
    }
}

/// Returns true if Self can store the argument as an F. Tests F against Self first, because
/// is_constructible would call storable() again.
template <class Self, class Form, class F, class Argument>
constexpr bool storable() noexcept {
    if constexpr (std::is_same_v<F, Self>) {
        return false;
    } else if constexpr (!std::is_constructible_v<F, Argument&&>) {
        return false;
    } else {
        return Form::template accepts<F>();
    }
}

}  // namespace detail

/// A move-only function object that stores its callable inside itself, without a heap.
///
///     sluice::FixedFunction<void(int)> handler = [this](int value) { show(value); };
///     handler(42);
///
/// Use a template parameter if the callable need not be stored. Use std::function for callables
/// that are copied or of unlimited size.
///
/// Signature is `R(Args...)`, optionally with `const` (calls the callable as const) and `noexcept`
/// (accepts only noexcept callables). A callable must fit into Bytes bytes, not be over-aligned,
/// and have a noexcept move. Anything that std::invoke can call is accepted.
///
/// Errors: calling an empty FixedFunction ends the program, also in release builds. A FixedFunction
/// is empty if it was moved from, default-constructed, or constructed from nullptr, a null pointer
/// or an empty wrapper such as std::function.
///
/// Performance: a call costs one indirect call, and one more move for each by-value argument.
/// Trivially copyable callables are moved by memcpy. A default FixedFunction takes 64 bytes.
template <class Signature, std::size_t Bytes = 48>
class FixedFunction : public detail::SignatureCall<FixedFunction<Signature, Bytes>, Signature> {
    static_assert(Bytes > 0, "FixedFunction: Bytes must be at least 1");

    using Call = detail::SignatureCall<FixedFunction, Signature>;
    friend Call;

public:
    constexpr FixedFunction() noexcept : none_(0) {}
    constexpr FixedFunction(std::nullptr_t) noexcept : none_(0) {}

    template <class Callable, class F = std::decay_t<Callable>,
              std::enable_if_t<detail::storable<FixedFunction, typename Call::Form, F, Callable>(),
                               int> = 0>
    FixedFunction(Callable&& callable) noexcept(std::is_nothrow_constructible_v<F, Callable&&>)
        : none_(0) {
        static_assert(sizeof(F) <= Bytes,
                      "FixedFunction: the callable is too large; capture less or enlarge Bytes");
        static_assert(alignof(F) <= alignof(std::max_align_t),
                      "FixedFunction: the callable is over-aligned; capture a pointer instead");
        static_assert(std::is_nothrow_move_constructible_v<F>,
                      "FixedFunction: moving the callable must not throw; mark its move noexcept");
        if (detail::isEmptyCallable<F>(callable)) {
            return;
        }
        ::new (static_cast<void*>(storage_)) F(std::forward<Callable>(callable));
        invoke_ = &Call::Form::template Invoker<F>::invoke;
        operations_ = &detail::targetOperations<F>;
    }

    FixedFunction(FixedFunction&& other) noexcept : none_(0) { takeFrom(other); }
    FixedFunction& operator=(FixedFunction&& other) noexcept {
        if (this != &other) {
            FixedFunction taken(std::move(other));      // the callable of *this may own `other`
            const FixedFunction old(std::move(*this));  // ~old() may assign to *this
            takeFrom(taken);
        }
        return *this;
    }

    ~FixedFunction() {
        if (operations_ != nullptr && operations_->destroy != nullptr) {
            operations_->destroy(storage_);
        }
    }

    /// Destroys the callable. A callable may reset its own FixedFunction while it runs, but must
    /// not use its captures afterwards.
    void reset() noexcept { const FixedFunction old(std::move(*this)); }

    void swap(FixedFunction& other) noexcept {
        FixedFunction kept(std::move(other));
        other = std::move(*this);
        *this = std::move(kept);
    }
    friend void swap(FixedFunction& left, FixedFunction& right) noexcept { left.swap(right); }

    [[nodiscard]] explicit operator bool() const noexcept { return operations_ != nullptr; }

    friend bool operator==(const FixedFunction& function, std::nullptr_t) noexcept {
        return !function;
    }
    friend bool operator!=(const FixedFunction& function, std::nullptr_t) noexcept {
        return static_cast<bool>(function);
    }

private:
    void takeFrom(FixedFunction& other) noexcept {
        if (other.operations_ == nullptr) {
            return;
        }
        if (other.operations_->relocate != nullptr) {
            other.operations_->relocate(storage_, other.storage_);
        } else {
            std::memcpy(storage_, other.storage_, Bytes);
        }
        invoke_ = std::exchange(other.invoke_, &Call::Form::invokeNothing);
        operations_ = std::exchange(other.operations_, nullptr);
    }

    union {
        char none_;  // lets constexpr constructors leave the storage uninitialised
        alignas(std::max_align_t) unsigned char storage_[Bytes];
    };
    typename Call::Form::Invoke invoke_ = &Call::Form::invokeNothing;
    // Null in an empty FixedFunction. invoke_ cannot show emptiness, because invokeNothing may have
    // several addresses in a program with shared libraries.
    const detail::TargetOperations* operations_ = nullptr;
};

}  // namespace sluice
