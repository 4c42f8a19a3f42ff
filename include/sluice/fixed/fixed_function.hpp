#pragma once

#include <sluice/fixed/detail/function_signature.hpp>

#include <cstddef>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

namespace sluice {

template <class Signature, std::size_t Bytes>
class FixedFunction;

namespace detail {

/// How to move and destroy a target. Null `relocate`: copy the bytes. Null `destroy`: do nothing.
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

/// True of pointers, and of wrappers such as std::function that can be made from nullptr. A lambda
/// is never empty, but it compares with nullptr because it converts to a function pointer.
template <class F>
inline constexpr bool canBeEmpty =
    comparesWithNull<F> && (!std::is_class_v<F> || std::is_constructible_v<F, std::nullptr_t>);

/// Whether the callable is an empty wrapper or a null pointer.
template <class F>
bool isEmptyCallable([[maybe_unused]] const F& callable) noexcept {
    if constexpr (canBeEmpty<F>) {
        return callable == nullptr;
    } else {
        return false;
    }
}

/// Whether Self takes this argument as a callable F. It tests step by step, because the traits of
/// Self must not be tested while the compiler looks up the constructors of Self.
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

/// Holds one callable inside the object itself and calls it, without a heap.
///
///     sluice::FixedFunction<void(int)> handler = [this](int value) { show(value); };
///     handler(42);
///
/// Use it for stored handlers, for example in messages and tables that must not use the heap. Use a
/// template parameter if the callable need not be stored. Use std::function if the callable must be
/// copyable or of unlimited size.
///
/// Signature is `R(Args...)`. It may add `const`: then the callable is called as const, and a const
/// FixedFunction can be called. It may add `noexcept`: then only callables that are noexcept are
/// accepted.
///
/// It stores each callable that std::invoke accepts: lambdas, also move-only ones, functions,
/// pointers to members. The callable has at most Bytes bytes, at most the alignment of
/// std::max_align_t, and a move constructor that cannot throw. The compiler checks all three.
///
/// A FixedFunction is empty if it was built without a callable, from nullptr, from a null pointer
/// or from an empty wrapper such as std::function, or if it was moved from. Calling an empty one is
/// misuse: it ends the program through the assertion handler, also in release builds, because the
/// check costs nothing.
///
/// Cost: a call is one call through a pointer. Arguments by value are moved once more than in a
/// direct call; scalars and references are not. Trivially copyable callables move as bytes.
/// Trivially destructible callables are destroyed without a call. Size: Bytes rounded up to a
/// multiple of the alignment of std::max_align_t (16 on x86-64), plus two pointers. With the
/// default of 48 bytes it is 64 bytes on 64-bit machines.
///
/// Not synchronised. A callable may replace or reset the FixedFunction that runs it, if the
/// callable does not use its captures afterwards.
template <class Signature, std::size_t Bytes = 48>
class FixedFunction : public detail::SignatureCall<FixedFunction<Signature, Bytes>, Signature> {
    static_assert(Bytes > 0, "FixedFunction: Bytes must be at least 1");

    using Call = detail::SignatureCall<FixedFunction, Signature>;
    friend Call;

public:
    constexpr FixedFunction() noexcept : none_(0) {}
    constexpr FixedFunction(std::nullptr_t) noexcept : none_(0) {}

    /// Stores a callable, which it moves or copies.
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
            FixedFunction taken(std::move(other));      // the old callable may own `other`
            const FixedFunction old(std::move(*this));  // its destructor may assign to *this
            takeFrom(taken);
        }
        return *this;
    }

    ~FixedFunction() {
        if (operations_ != nullptr && operations_->destroy != nullptr) {
            operations_->destroy(storage_);
        }
    }

    /// Destroys the callable. Before that, this object is already empty and may be assigned to.
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
    friend bool operator==(std::nullptr_t, const FixedFunction& function) noexcept {
        return !function;
    }
    friend bool operator!=(const FixedFunction& function, std::nullptr_t) noexcept {
        return static_cast<bool>(function);
    }
    friend bool operator!=(std::nullptr_t, const FixedFunction& function) noexcept {
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
        char none_;  // lets the constexpr constructors leave the storage alone
        alignas(std::max_align_t) unsigned char storage_[Bytes];
    };
    typename Call::Form::Invoke invoke_ = &Call::Form::invokeNothing;
    // Null when empty. invoke_ cannot tell: the address of a function template's instance may
    // differ between shared libraries.
    const detail::TargetOperations* operations_ = nullptr;
};

}  // namespace sluice
