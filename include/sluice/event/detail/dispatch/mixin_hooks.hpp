#pragma once

#include <sluice/base/platform.hpp>
#include <sluice/event/detail/list/policy_traits.hpp>

#include <type_traits>

// Calls mixinBeforeDispatch() of each mixin that has one, the first of the list first.

// The namespace is visible, so that a thread has one list of its hooks, even if shared libraries
// hide their symbols.

namespace sluice {
namespace [[gnu::visibility("default")]] detail {

template <class Member>
struct DeclaringClass;
template <class Member, class Class>
struct DeclaringClass<Member Class::*> {
    using Type = Class;
};

template <class Mixin, class... Args>
using HookResult =
    decltype(std::declval<const Mixin&>().mixinBeforeDispatch(std::declval<Args&>()...));
template <class Mixin>
using PlainHook = typename DeclaringClass<decltype(&Mixin::mixinBeforeDispatch)>::Type;
template <class Mixin, class... Args>
using TemplateHook =
    typename DeclaringClass<decltype(&Mixin::template mixinBeforeDispatch<Args&...>)>::Type;

/// Whether the mixin has a hook of its own or from another base. The hook of the class below does
/// not count, because it would be called twice.
template <class Mixin, class Below, class... Args>
constexpr bool hasOwnHook() noexcept {
    if constexpr (!isDetected<HookResult, Mixin, Args...>) {
        return false;
    } else if constexpr (isDetected<PlainHook, Mixin>) {
        return !std::is_base_of_v<PlainHook<Mixin>, Below>;
    } else if constexpr (isDetected<TemplateHook, Mixin, Args...>) {
        return !std::is_base_of_v<TemplateHook<Mixin, Args...>, Below>;
    } else {
        return true;
    }
}

/// The time in which this thread calls the hooks of a dispatcher. The objects of a thread are
/// linked, the innermost first, so that the dispatcher's destructor finds them.
class HookCall {
public:
    explicit HookCall(const void* dispatcher) noexcept
        : dispatcher_(dispatcher), outer_(innermost_) {
        innermost_ = this;
    }
    HookCall(const HookCall&) = delete;
    HookCall& operator=(const HookCall&) = delete;
    ~HookCall() { innermost_ = outer_; }

    /// Whether the dispatcher has been destroyed.
    bool isLost() const noexcept { return dispatcher_ == nullptr; }

    /// Called by the destructor of the dispatcher.
    static void lose(const void* dispatcher) noexcept {
        for (HookCall* call = innermost_; call != nullptr; call = call->outer_) {
            if (call->dispatcher_ == dispatcher) {
                call->dispatcher_ = nullptr;
            }
        }
    }

private:
    inline static SLUICE_THREAD_LOCAL HookCall* innermost_ = nullptr;

    const void* dispatcher_;
    HookCall* const outer_;
};

template <class Root, class List>
struct MixinHooks;

template <class Root>
struct MixinHooks<Root, MixinList<>> {
    template <class... Args>
    static bool allow(const Root&, const HookCall&, Args&...) {
        return true;
    }
};

template <class Root, template <class> class First, template <class> class... Rest>
struct MixinHooks<Root, MixinList<First, Rest...>> {
    using Mixin = typename WithMixins<Root, MixinList<First, Rest...>>::Type;
    using Below = typename WithMixins<Root, MixinList<Rest...>>::Type;

    /// Whether all hooks let the event pass and no hook has destroyed the dispatcher.
    template <class... Args>
    static bool allow(const Root& root, const HookCall& call, Args&... args) {
        if constexpr (hasOwnHook<Mixin, Below, Args...>()) {
            if (!static_cast<const Mixin&>(root).mixinBeforeDispatch(args...) || call.isLost()) {
                return false;
            }
        }
        return MixinHooks<Root, MixinList<Rest...>>::allow(root, call, args...);
    }
};

}  // namespace detail
}  // namespace sluice
