#pragma once

#include <sluice/actor/detail/threads/own_thread.hpp>
#include <sluice/actor/thread_options.hpp>

#include <atomic>

namespace sluice::detail {

/// Starts the thread of an object at most once, and lets any number of threads join it.
///
/// Threads: any thread may call any member.
///
/// Invariant: the state changes from idle to starting, to running, to joining, to ended. After a
/// refused start it changes back to idle. If the object ends without a thread, the thread that ends
/// it changes idle to joining, then to ended.
///
/// Edges: E1 started: the writes of start() -> state_ released .. acquired by join(). E2 ended: the
/// last write of the thread -> pthread_join -> state_ released by one join() -> acquired by other
/// calls of join().
template <class Platform, class Wait>
class ThreadLifecycle {
public:
    [[nodiscard]] bool isIdle() const noexcept { return state() == State::idle; }
    [[nodiscard]] bool isIdleOrEnded() const noexcept {
        return state() == State::idle || state() == State::ended;
    }

    /// Starts the thread. False if it was started before, or if the object ended without a thread.
    /// Calls announce(true) before the thread runs. If the system refuses the thread, it calls
    /// announce(false), sets the state back to idle, and reports a set-up error.
    template <class Announce>
    bool start(const ThreadOptions& options, OwnThread::Work work, void* object,
               const Announce& announce) {
        if (!take(State::idle, State::starting)) {
            return false;
        }
        struct IdleUnlessStarted {
            ThreadLifecycle& lifecycle;
            const Announce& announce;
            bool isStarted = false;
            ~IdleUnlessStarted() {
                if (!isStarted) {
                    announce(false);
                    lifecycle.become(State::idle);
                }
            }
        } attempt{*this, announce};
        announce(true);
        thread_.start(options, work, object);
        attempt.isStarted = true;
        become(State::running);  // E1 started
        return true;
    }

    /// Waits until the thread has ended. The thread itself must not call it. Returns at once if
    /// there was no start.
    void join() {
        for (;;) {
            awaitStart();
            State seen = State::running;
            // Acquire: E1 started.
            if (state_.compare_exchange_strong(seen, State::joining, std::memory_order_acq_rel,
                                               std::memory_order_acquire)) {
                thread_.join();
                become(State::ended);  // E2 ended
                return;
            }
            if (seen == State::joining) {
                changed_.wait([this] { return state() == State::ended; });
                return;
            }
            // In state `starting`, another thread has started it meanwhile: try again.
            if (seen != State::starting) {
                return;
            }
        }
    }

    /// Prevents a later start. True if there is no thread: then the caller ends the object itself
    /// and calls endedWithoutThread(). If another thread is starting the thread, it first waits for
    /// the result.
    [[nodiscard]] bool takeUnstarted() {
        do {
            awaitStart();
            if (state() != State::idle) {
                return false;
            }
        } while (!take(State::idle, State::joining));
        return true;
    }
    /// Called after takeUnstarted() has returned true and the object has ended.
    void endedWithoutThread() noexcept { become(State::ended); }

    /// The thread itself waits here. Other threads end that wait by notifyAll().
    [[nodiscard]] Wait& changed() noexcept { return changed_; }

private:
    enum class State : unsigned char { idle, starting, running, joining, ended };

    [[nodiscard]] State state() const noexcept { return state_.load(std::memory_order_acquire); }
    void become(State next) noexcept {
        state_.store(next, std::memory_order_release);
        changed_.notifyAll();
    }
    [[nodiscard]] bool take(State from, State to) noexcept {
        return state_.compare_exchange_strong(from, to, std::memory_order_acq_rel,
                                              std::memory_order_relaxed);
    }
    void awaitStart() {
        changed_.wait([this] { return state() != State::starting; });
    }

    typename Platform::template Atomic<State> state_{State::idle};
    Wait changed_;      ///< notified of each new state
    OwnThread thread_;  ///< used only by the thread that has set the state to starting or joining
};

}  // namespace sluice::detail
