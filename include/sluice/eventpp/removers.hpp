#pragma once

#include <sluice/base/assert.hpp>
#include <sluice/event/callback_list.hpp>
#include <sluice/event/event_policies.hpp>
#include <sluice/event/scoped_connection.hpp>

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <type_traits>
#include <utility>
#include <vector>

namespace sluice {

namespace detail {

/// The functions by which a remover adds listeners. Each function calls Self::add(put, listener,
/// options...), which makes a callback from the listener and calls put(target, callback).
template <class Self, class Target>
class Adders {
    static_assert(std::is_base_of_v<TagEventDispatcher, Target> ||
                      std::is_base_of_v<TagCallbackList, Target>,
                  "the target must be a callback list, an event dispatcher or an event queue");

public:
    using Handle = typename Target::Handle;

    template <class Listener, class... Options>
    Handle append(Listener&& listener, Options&&... options) {
        const auto put = [](auto& list, auto&& made) {
            return list.append(std::forward<decltype(made)>(made));
        };
        return self().add(put, std::forward<Listener>(listener), std::forward<Options>(options)...);
    }

    template <class Listener, class... Options>
    Handle prepend(Listener&& listener, Options&&... options) {
        const auto put = [](auto& list, auto&& made) {
            return list.prepend(std::forward<decltype(made)>(made));
        };
        return self().add(put, std::forward<Listener>(listener), std::forward<Options>(options)...);
    }

    template <class Listener, class... Options>
    Handle insert(Listener&& listener, const Handle& before, Options&&... options) {
        const auto put = [&before](auto& list, auto&& made) {
            return list.insert(std::forward<decltype(made)>(made), before);
        };
        return self().add(put, std::forward<Listener>(listener), std::forward<Options>(options)...);
    }

    template <class Listener, class... Options, class T = Target>
    Handle appendListener(const typename T::Event& event, Listener&& listener,
                          Options&&... options) {
        const auto put = [&event](auto& dispatcher, auto&& made) {
            return dispatcher.appendListener(event, std::forward<decltype(made)>(made));
        };
        return self().add(put, std::forward<Listener>(listener), std::forward<Options>(options)...);
    }

    template <class Listener, class... Options, class T = Target>
    Handle prependListener(const typename T::Event& event, Listener&& listener,
                           Options&&... options) {
        const auto put = [&event](auto& dispatcher, auto&& made) {
            return dispatcher.prependListener(event, std::forward<decltype(made)>(made));
        };
        return self().add(put, std::forward<Listener>(listener), std::forward<Options>(options)...);
    }

    template <class Listener, class... Options, class T = Target>
    Handle insertListener(const typename T::Event& event, Listener&& listener, const Handle& before,
                          Options&&... options) {
        const auto put = [&event, &before](auto& dispatcher, auto&& made) {
            return dispatcher.insertListener(event, std::forward<decltype(made)>(made), before);
        };
        return self().add(put, std::forward<Listener>(listener), std::forward<Options>(options)...);
    }

private:
    Self& self() noexcept { return static_cast<Self&>(*this); }
};

enum class Turn : unsigned char { none, usual, last };

/// A listener that removes itself. Before each call, the Gate decides whether the listener runs,
/// and whether this call is the last one. Copies of a list or dispatcher share the listener.
///
/// Other threads may call the listener before the adding thread has stored handle_. The adding
/// thread and the thread of the last call change state_; the later one removes the listener.
template <class Handle, class Listener, class Gate>
class SelfRemoving {
public:
    template <class From, class... GateArgs>
    explicit SelfRemoving(From&& listener, GateArgs&&... gate)
        : gate_{std::forward<GateArgs>(gate)...}, listener_(std::forward<From>(listener)) {}

    template <class... Args>
    void call(Args&&... args) {
        const Turn turn = gate_.next(args...);
        if (turn == Turn::none) {
            return;
        }
        if (turn == Turn::last) {
            requestRemoval();
        }
        std::invoke(listener_, std::forward<Args>(args)...);
    }

    /// Called once by the thread that added the listener.
    void added(const Handle& handle) {
        handle_ = handle;
        State expected = State::adding;
        // E1 handle. Relaxed on failure, because this thread wrote handle_.
        if (!state_.compare_exchange_strong(expected, State::added, std::memory_order_release,
                                            std::memory_order_relaxed)) {
            handle_.remove();
        }
    }

private:
    // Happens-before edge E1 handle: added -> requestRemoval.

    enum class State : unsigned char { adding, added, requested };

    void requestRemoval() {
        State expected = State::adding;
        // E1 handle
        if (!state_.compare_exchange_strong(expected, State::requested,
                                            std::memory_order_acquire)) {
            handle_.remove();
        }
    }

    Gate gate_;
    Listener listener_;
    Handle handle_{};
    std::atomic<State> state_{State::adding};
};

template <class Gate, class Target, class Put, class Listener, class... GateArgs>
typename Target::Handle addSelfRemoving(Target& target, const Put& put, Listener&& listener,
                                        GateArgs&&... gate) {
    using Kept = std::decay_t<Listener>;
    using Shared = SelfRemoving<typename Target::Handle, Kept, Gate>;
    if (isNull<Kept>(listener)) {
        return {};
    }
    const auto shared =
        std::make_shared<Shared>(std::forward<Listener>(listener), std::forward<GateArgs>(gate)...);
    auto call =
        [shared](
            auto&&... args) -> std::enable_if_t<std::is_invocable_v<Kept&, decltype(args)...>> {
        shared->call(std::forward<decltype(args)>(args)...);
    };
    auto handle = put(target, std::move(call));
    shared->added(handle);
    return handle;
}

}  // namespace detail

/// A remover that removes its listeners in its destructor.
///
///     class Display {
///         sluice::ScopedRemover<Dispatcher> listeners_{dispatcher};  // the last member
///         Display() { listeners_.appendListener(3, [this](int value) { show(value); }); }
///     };
///
/// The destructor does not wait for a listener that runs on another thread, unlike removeAndWait().
/// Use ScopedConnection for a single listener.
///
/// Thread safety: any thread and any listener may add, remove and call reset(). All other members
/// need exclusive access to the remover. The target may be destroyed before the remover, but
/// removeListener() needs the target. During a call of the remover, no other thread may destroy,
/// move or swap the target.
///
/// Errors: adding without a target fails an assertion; release builds return an empty handle.
///
/// Performance: removing a listener is linear in the number of the remover's listeners.
template <class Target>
class ScopedRemover : public detail::Adders<ScopedRemover<Target>, Target> {
    friend detail::Adders<ScopedRemover, Target>;

public:
    using Handle = typename Target::Handle;

    ScopedRemover() = default;
    explicit ScopedRemover(Target& target) noexcept : target_(&target) {}

    /// Takes over the listeners of `other`, which keeps its target.
    ScopedRemover(ScopedRemover&& other) noexcept : target_(other.target_) {
        handles_.swap(other.handles_);
    }
    /// Removes the listeners of this remover, and takes over the listeners of `other`.
    ScopedRemover& operator=(ScopedRemover&& other) noexcept {
        ScopedRemover(std::move(other)).swap(*this);
        return *this;
    }

    ~ScopedRemover() { reset(); }

    void swap(ScopedRemover& other) noexcept {
        std::swap(target_, other.target_);
        handles_.swap(other.handles_);
    }
    friend void swap(ScopedRemover& a, ScopedRemover& b) noexcept { a.swap(b); }

    /// Removes all listeners that this remover has added, and keeps the target.
    void reset() {
        for (const Handle& handle : takeAll()) {
            handle.remove();  // without the lock, because a listener's destructor is user code
        }
    }

    /// Sets the target. If the target changes, removes the listeners from the old target.
    void setDispatcher(Target& dispatcher) { setTarget(dispatcher); }
    void setCallbackList(Target& list) { setTarget(list); }

    /// Returns false if the event lacks the listener, or if another remover added it.
    template <class T = Target>
    bool removeListener(const typename T::Event& event, const Handle& handle) {
        return isOwn(handle) && target_->removeListener(event, handle);
    }
    bool remove(const Handle& handle) { return isOwn(handle) && handle.remove(); }

private:
    using Mutex = typename Target::Mutex;

    void setTarget(Target& target) {
        if (target_ != &target) {
            target_ = &target;
            reset();  // called last, because a listener's destructor may destroy this object
        }
    }

    template <class Put, class Listener>
    Handle add(const Put& put, Listener&& listener) {
        SLUICE_ASSERT(target_ != nullptr, "this ScopedRemover has no target: set one first");
        if (target_ == nullptr) {
            return Handle();
        }
        ScopedConnection<Handle> added(put(*target_, std::forward<Listener>(listener)));
        keep(added.handle());  // if keep() throws, `added` removes the listener
        return added.release();
    }

    void keep(const Handle& handle) {
        const std::lock_guard<Mutex> guard(mutex_);
        // Before the capacity is doubled, drops handles of removed listeners, so that keep() takes
        // constant time on average.
        if (handles_.size() == handles_.capacity()) {
            handles_.erase(std::remove_if(handles_.begin(), handles_.end(),
                                          [](const Handle& kept) { return kept.expired(); }),
                           handles_.end());
            handles_.reserve(2 * handles_.size() + 1);
        }
        handles_.push_back(handle);
    }

    /// Returns false for an expired handle, whose target may have been destroyed.
    bool isOwn(const Handle& handle) {
        if (handle.expired()) {
            return false;
        }
        const std::lock_guard<Mutex> guard(mutex_);
        return std::find(handles_.begin(), handles_.end(), handle) != handles_.end();
    }

    std::vector<Handle> takeAll() {
        const std::lock_guard<Mutex> guard(mutex_);
        return std::exchange(handles_, {});
    }

    Target* target_ = nullptr;
    Mutex mutex_;
    std::vector<Handle> handles_;
};

/// Adds listeners that remove themselves after a number of calls.
///
///     sluice::EventDispatcher<int, void()> dispatcher;
///     sluice::counterRemover(dispatcher).appendListener(7, [] { std::puts("seven"); }, 2);
///     dispatcher.dispatch(7);
///     dispatcher.dispatch(7);  // calls the listener for the last time
///
/// The number of calls is the last argument of each function, and 1 by default. The listener is
/// removed before its last call. The number of calls is exact even if several threads call the
/// listener. A call that throws also counts. Copies of the target share the count, but only the
/// original removes the listener. While a copy is called, no other thread may destroy the original.
template <class Target>
class CounterRemover : public detail::Adders<CounterRemover<Target>, Target> {
    friend detail::Adders<CounterRemover, Target>;

public:
    explicit CounterRemover(Target& target) noexcept : target_(&target) {}

private:
    struct Countdown {
        template <class... Args>
        detail::Turn next(const Args&...) noexcept {
            int left = callsLeft.load(std::memory_order_relaxed);  // value only
            while (left > 0 &&
                   !callsLeft.compare_exchange_weak(left, left - 1, std::memory_order_relaxed)) {
            }
            return left > 1    ? detail::Turn::usual
                   : left == 1 ? detail::Turn::last
                               : detail::Turn::none;
        }

        std::atomic<int> callsLeft;
    };

    template <class Put, class Listener>
    auto add(const Put& put, Listener&& listener, int triggerCount = 1) {
        return detail::addSelfRemoving<Countdown>(*target_, put, std::forward<Listener>(listener),
                                                  triggerCount < 1 ? 1 : triggerCount);
    }

    Target* target_;
};

template <class Target>
[[nodiscard]] CounterRemover<Target> counterRemover(Target& target) noexcept {
    return CounterRemover<Target>(target);
}

/// Adds listeners that remove themselves when a condition is true.
///
///     sluice::CallbackList<void(int)> list;
///     sluice::conditionalRemover(list).append([](int left) { std::printf("%d left\n", left); },
///                                             [](int left) { return left == 0; });
///     list(1);
///     list(0);  // calls the listener for the last time
///
/// The condition is the last argument of each function. Each call first evaluates the condition,
/// which receives the arguments as lvalues or takes no arguments. If the condition is true, the
/// listener is removed and called for the last time. If the condition throws, the listener is
/// neither removed nor called.
template <class Target>
class ConditionalRemover : public detail::Adders<ConditionalRemover<Target>, Target> {
    friend detail::Adders<ConditionalRemover, Target>;

public:
    explicit ConditionalRemover(Target& target) noexcept : target_(&target) {}

private:
    template <class Condition>
    struct Until {
        template <class... Args>
        detail::Turn next(Args&... args) {
            if (ended.load(std::memory_order_relaxed)) {  // value only
                return detail::Turn::none;
            }
            if (!holds(args...)) {
                return detail::Turn::usual;
            }
            return ended.exchange(true, std::memory_order_relaxed) ? detail::Turn::none
                                                                   : detail::Turn::last;
        }

        template <class... Args>
        bool holds(Args&... args) {
            if constexpr (std::is_invocable_v<Condition&, Args&...>) {
                return static_cast<bool>(std::invoke(condition, args...));
            } else {
                static_assert(std::is_invocable_v<Condition&>,
                              "ConditionalRemover: the condition must take the listener's "
                              "arguments as lvalues, or none");
                return static_cast<bool>(std::invoke(condition));
            }
        }

        Condition condition;
        std::atomic<bool> ended{false};
    };

    template <class Put, class Listener, class Condition>
    auto add(const Put& put, Listener&& listener, Condition&& condition) {
        return detail::addSelfRemoving<Until<std::decay_t<Condition>>>(
            *target_, put, std::forward<Listener>(listener), std::forward<Condition>(condition));
    }

    Target* target_;
};

template <class Target>
[[nodiscard]] ConditionalRemover<Target> conditionalRemover(Target& target) noexcept {
    return ConditionalRemover<Target>(target);
}

}  // namespace sluice
