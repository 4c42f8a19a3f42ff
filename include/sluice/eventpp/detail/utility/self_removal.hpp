#pragma once

#include <atomic>
#include <memory>
#include <type_traits>
#include <utility>

namespace sluice::detail {

/// Lets a listener remove itself. Threads may call it before the adding thread has its handle. So
/// the adding thread and the first thread that asks for the removal both set a mark. The second of
/// them removes the listener, and no thread waits.
///
/// Edge E1 handle: handle_ is written -> handle_ is read by a thread that calls the listener.
template <class Handle>
class SelfRemoval {
public:
    /// Called once by the thread that added the listener.
    void added(const Handle& handle) {
        handle_ = handle;
        State expected = State::adding;
        // E1 handle, source. Relaxed on failure: this thread alone has the handle then.
        if (!state_.compare_exchange_strong(expected, State::added, std::memory_order_release,
                                            std::memory_order_relaxed)) {
            handle_.remove();
        }
    }

    /// Called at most once, from the listener.
    void request() {
        State expected = State::adding;
        // E1 handle, target.
        if (!state_.compare_exchange_strong(expected, State::requested,
                                            std::memory_order_acquire)) {
            handle_.remove();
        }
    }

private:
    enum class State : unsigned char { adding, added, requested };

    Handle handle_{};
    std::atomic<State> state_{State::adding};
};

/// Owns the state that the copies of a self-removing listener share. State has a `removal`, a
/// `listener` and a function `call(args...)`. The listener and the state live to the end of a
/// running call, also if a thread removes the listener.
template <class State>
class SharedListener {
    using Listener = decltype(State::listener);

public:
    explicit SharedListener(std::shared_ptr<State> state) : state_(std::move(state)) {}

    template <class... Args, std::enable_if_t<std::is_invocable_v<Listener&, Args...>, int> = 0>
    void operator()(Args&&... args) const {
        state_->call(std::forward<Args>(args)...);
    }

private:
    std::shared_ptr<State> state_;
};

/// Adds a SharedListener of State{values...} with put(target, listener).
template <class State, class Target, class Put, class... Values>
auto addShared(Target& target, const Put& put, Values&&... values) {
    const std::shared_ptr<State> state(new State{std::forward<Values>(values)...});
    auto handle = put(target, SharedListener<State>(state));
    state->removal.added(handle);
    return handle;
}

}  // namespace sluice::detail
