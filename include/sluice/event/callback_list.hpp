#pragma once

#include <sluice/event/detail/list/callback_chain.hpp>
#include <sluice/event/detail/list/policy_traits.hpp>
#include <sluice/event/event_policies.hpp>

#include <type_traits>
#include <utility>

namespace sluice {

/// Calls callbacks one after the other with the same arguments.
///
///     sluice::CallbackList<void(int)> onChange;
///     auto handle = onChange.append([](int value) { ... });
///     onChange(42);
///     onChange.remove(handle);
///
/// Use it to tell several parts of a program about one kind of event. Use EventDispatcher if there
/// are many such lists, found by a key. Use EventQueue if callbacks run later or on another thread.
///
/// Threads: any thread may call any member at any time, also from inside a callback. While a thread
/// moves, swaps, assigns to or destroys a list, no other thread may use it. A callback may destroy
/// its own list: then the callbacks that were not reached yet are not called.
///
/// Calls: a call sees the callbacks that are in the list when the call begins. It calls no callback
/// that is added during the call, and none that is removed before its turn. If another thread adds
/// or removes a callback during a call, the call may or may not see the change.
///
/// Progress: calls take no lock and write nothing that other threads read, so they run in parallel.
/// Adding and removing take a lock for a few instructions. No code of the user runs under it.
///
/// Destruction: if no thread is calling this list, remove() destroys the callback before it
/// returns. Otherwise the last of these calls destroys the callback when the call ends. Calls of
/// other lists do not delay this, and destroy no callback of this list. One exception: a thread
/// removes more than 256 callbacks in a row, or 5,000 in a second, while other threads use lists.
/// Then a later removal or a later call of this list may destroy some of these callbacks, at the
/// latest the 256th removal. As long as a callback does not return, callbacks that are removed from
/// its list stay: see removedSizeApprox(). The destructor of a list destroys its callbacks, and the
/// callbacks that their destructors add to it. If a callback of this list destroys the list, the
/// last call of the list on this thread destroys the callbacks. Then no destructor of a callback
/// may use the list, and neither may one that is nested in more than 100 such destructors.
///
/// Exceptions: an exception of a callback ends the call and leaves the list unchanged. Adding gives
/// the strong guarantee. Memory: one allocation for each callback. Only the first call of each
/// thread allocates.
///
/// Cost: a call 1-3 ns beyond the callbacks; see docs/guide/events.md.
///
/// `Policies`: Callback, Threading, canContinueInvoking. See event_policies.hpp.
template <class Prototype, class Policies = DefaultPolicies>
class CallbackList {
    static_assert(detail::never<Prototype>,
                  "the prototype of a CallbackList must be a function type such as void(int)");
};

template <class Result, class... Args, class Policies>
class CallbackList<Result(Args...), Policies>
    : public TagCallbackList,
      private detail::CallbackChain<detail::CallbackOf<Policies, Result(Args...)>,
                                    detail::ThreadingOf<Policies>> {
    using Threading = detail::ThreadingOf<Policies>;
    using Chain = detail::CallbackChain<detail::CallbackOf<Policies, Result(Args...)>, Threading>;
    using Node = typename Chain::Node;

    static_assert((!std::is_rvalue_reference_v<Args> && ...),
                  "a prototype cannot have rvalue references, as several callbacks get the same "
                  "arguments");

public:
    using Callback = detail::CallbackOf<Policies, Result(Args...)>;
    using Handle = typename Chain::Handle;
    using Mutex = typename Threading::Mutex;

    /// Whether there is no callback.
    using Chain::empty;

    /// Whether the list is not empty.
    operator bool() const noexcept { return !empty(); }

    /// Adds a callback at the end, or at the beginning. A null callable is not added: then the
    /// handle is empty.
    Handle append(Callback callback) { return Chain::append(std::move(callback)); }
    Handle prepend(Callback callback) { return Chain::prepend(std::move(callback)); }

    /// Adds a callback in front of `before`. If this handle is empty, expired or of another list,
    /// it adds the callback at the end.
    Handle insert(Callback callback, const Handle& before) {
        return Chain::insert(std::move(callback), before);
    }

    /// Adds a callback behind the callbacks of the same or a higher priority. Callbacks that were
    /// added by other functions have priority 0. It holds the lock of the list while it searches
    /// from the end, past each callback of a lower priority: 4.6 ms for a million. Calls of the
    /// list take no lock, so only threads that change the same list wait.
    Handle insertByPriority(Callback callback, int priority) {
        return Chain::insertByPriority(std::move(callback), priority);
    }

    /// Adds a callback that gets its own handle: f(handle, args...). In a copy of the list, it
    /// still gets the handle of the original list.
    template <class F>
    Handle appendWithHandle(F f) {
        return Chain::appendMade([&f](const Handle& handle) {
            return [handle, function = std::move(f)](Args... args) mutable {
                return static_cast<Result>(function(handle, std::forward<Args>(args)...));
            };
        });
    }

    /// Removes a callback. Returns false if the handle names no callback of this list (any more).
    using Chain::remove;

    /// Removes all callbacks.
    using Chain::clear;

    /// Whether the handle names a callback that is in this list. Constant time.
    using Chain::ownsHandle;

    /// Removes a callback and waits until no thread is running it and it has been destroyed. It
    /// waits for calls of this list only, and takes microseconds.
    ///
    /// If the callback was removed before, the result is false, but the call still waits. Inside a
    /// callback of this list, it waits for other threads only. Then the last call of the list on
    /// this thread destroys the removed callback. Two callbacks that wait for each other's end wait
    /// for ever. Builds with assertions end the program with a message.
    using Chain::removeAndWait;

    /// The number of callbacks that have been removed but not destroyed, because earlier calls are
    /// still running.
    using Chain::removedSizeApprox;

    /// Calls f(Handle, Callback&) or f(Callback&) for each callback.
    template <class F>
    void forEach(F&& f) const {
        this->visitWhile([&f](Node& node) {
            visit(f, node);
            return true;
        });
    }

    /// As forEach(), but ends when `f` returns false. Then the result is false.
    template <class F>
    bool forEachIf(F&& f) const {
        return this->visitWhile([&f](Node& node) { return static_cast<bool>(visit(f, node)); });
    }

    /// Calls all callbacks. Each gets the same arguments as lvalues, so no callback can move a
    /// value away from the next one.
    void operator()(Args... args) const {
        static_assert(std::is_invocable_v<Callback&, Args&...>,
                      "the arguments cannot be passed to more than one callback: take them by "
                      "reference");
        callAll(args...);
    }

    /// Called by dispatchers with their copies of the arguments.
    void callAll(Args&... args) const {
        this->visitWhile([&](Node& node) {
            node.callback.get()(args...);
            return detail::canContinueInvoking<Policies, Args...>(args...);
        });
    }

    void swap(CallbackList& other) noexcept { Chain::swap(other); }
    friend void swap(CallbackList& a, CallbackList& b) noexcept { a.swap(b); }

private:
    template <class F>
    static decltype(auto) visit(F& f, Node& node) {
        if constexpr (std::is_invocable_v<F&, Handle, Callback&>) {
            return f(Chain::handleOf(node), node.callback.get());
        } else {
            return f(node.callback.get());
        }
    }
};

}  // namespace sluice
