#pragma once

#include <sluice/event/detail/list/callback_chain.hpp>
#include <sluice/event/detail/list/policy_traits.hpp>
#include <sluice/event/event_policies.hpp>

#include <type_traits>
#include <utility>

namespace sluice {

/// Callbacks that are called one after the other with the same arguments.
///
///     sluice::CallbackList<void(int)> onChange;
///     auto handle = onChange.append([](int value) { ... });
///     onChange(42);
///     onChange.remove(handle);
///
/// Use it to tell everybody that asked to be told. Use EventDispatcher when there are many such
/// lists, found by a key; use EventQueue when callbacks run later or on another thread.
///
/// Threads: any thread anything at any time, also from inside a callback; but moving,
/// swapping, assigning to and destroying a list need it for themselves as far as other threads go.
/// A callback may destroy the list it is called from: callbacks that were not reached yet are then
/// not called.
///
/// A call sees the callbacks that are in the list when it begins. Callbacks added meanwhile, by
/// callbacks or by other threads, are not called; a callback removed before its turn is not called
/// either. An add or remove on another thread that races with a call may or may not be seen by it.
///
/// Progress: calls take no lock and write nothing that other threads read, so they run in parallel.
/// Adding and removing take a lock for a few instructions, in which no foreign code runs.
///
/// A removed callback is destroyed before remove() returns when no thread is calling this list.
/// Otherwise the last of these calls that ends destroys it. Calls of other lists delay nothing and
/// destroy nothing. One exception: a thread removes more than 256 callbacks in a row, or 5,000 in a
/// second, while other threads use lists. Then a later removal or a later call of this list may
/// destroy some of them, at the latest the 256th removal. A callback that does not return keeps
/// what is removed from its own list: see removedSizeApprox(). A list that ends destroys its
/// callbacks, unless a callback of this list ends it. Then the last call of the list on this thread
/// destroys them.
///
/// Exceptions: an exception of a callback ends the call and leaves the list as it is. Adding gives
/// the strong guarantee. Memory: one allocation for each callback, none for a call but the first
/// one of each thread.
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

    /// Adds a callback at the end, or at the beginning. A null callable is not added; the handle is
    /// then empty.
    Handle append(const Callback& callback) { return Chain::append(callback); }
    Handle append(Callback&& callback) { return Chain::append(std::move(callback)); }
    Handle prepend(const Callback& callback) { return Chain::prepend(callback); }
    Handle prepend(Callback&& callback) { return Chain::prepend(std::move(callback)); }

    /// Adds a callback in front of `before`; at the end when that handle is empty, expired or of
    /// another list.
    Handle insert(const Callback& callback, const Handle& before) {
        return Chain::insert(callback, before);
    }
    Handle insert(Callback&& callback, const Handle& before) {
        return Chain::insert(std::move(callback), before);
    }

    /// Adds a callback behind those of the same or a higher priority. Callbacks that were added
    /// otherwise have priority 0. Holds the lock of the list while it goes back from the end, past
    /// each callback of a lower priority: 4.6 ms for a million. Calls of the list take no lock, so
    /// only threads that change the same list wait.
    Handle insertByPriority(const Callback& callback, int priority) {
        return Chain::insertByPriority(callback, priority);
    }
    Handle insertByPriority(Callback&& callback, int priority) {
        return Chain::insertByPriority(std::move(callback), priority);
    }

    /// Adds a callback that is told its own handle: f(handle, args...). A copy of the list calls it
    /// with the handle of the original.
    template <class F>
    Handle appendWithHandle(F f) {
        return Chain::appendMade([&f](const Handle& handle) {
            return [handle, function = std::move(f)](Args... args) mutable {
                return static_cast<Result>(function(handle, std::forward<Args>(args)...));
            };
        });
    }

    /// Removes a callback. False when the handle names none of this list (any more).
    using Chain::remove;

    /// Removes all callbacks.
    using Chain::clear;

    /// Whether the handle names a callback that is in this list. Constant time.
    using Chain::ownsHandle;

    /// Removes a callback and waits until no thread is running it and it has been destroyed. Waits
    /// for calls of this list alone. When somebody else has removed the callback, the result is
    /// false, and the call waits all the same. When a callback of this list calls it, the callback
    /// waits for the other threads only, and the removed one is destroyed when the last call of the
    /// list on this thread ends. Two callbacks that wait for each other's ends wait for ever;
    /// builds with assertions end the program with a message. Costs microseconds.
    using Chain::removeAndWait;

    /// How many callbacks have been removed but not destroyed, because calls that had begun before
    /// are running.
    using Chain::removedSizeApprox;

    /// Calls f(Handle, Callback&) or f(Callback&) for each callback.
    template <class F>
    void forEach(F&& f) const {
        this->visitWhile([&f](Node& node) {
            visit(f, node);
            return true;
        });
    }

    /// The same until `f` returns false; then the result is false.
    template <class F>
    bool forEachIf(F&& f) const {
        return this->visitWhile([&f](Node& node) { return static_cast<bool>(visit(f, node)); });
    }

    /// Calls all callbacks. Each gets the same arguments as lvalues, so that none can take a value
    /// away from the next.
    void operator()(Args... args) const {
        static_assert(std::is_invocable_v<Callback&, Args&...>,
                      "the arguments cannot be passed to more than one callback: take them by "
                      "reference");
        callAll(args...);
    }

    /// For dispatchers, which have copies of the arguments.
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
