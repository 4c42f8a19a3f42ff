#pragma once

#include <sluice/actor/detail/threads/own_thread.hpp>
#include <sluice/actor/thread_options.hpp>

#include <atomic>

namespace sluice::detail {

/// Starts the thread of an object at most once, and lets any number of threads join it.
///
/// Any thread may call any member.
///
/// Invariant: the state goes from idle to starting, to running, to joining, to ended. A refused
/// start goes back to idle. If a thread is never started, the thread that ends the object changes
/// idle to joining and to ended.
///
/// Edges: E1 started: the writes of start() -> state_ released .. acquired by join(). E2 ended: the
/// thread's last write -> pthread_join -> state_ released by one join() -> acquired by others.
template <class Platform, class Wait>
class ThreadLifecycle {
public:
    [[nodiscard]] bool isIdle() const noexcept { return state() == State::idle; }
    [[nodiscard]] bool isIdleOrEnded() const noexcept {
        return state() == State::idle || state() == State::ended;
    }

    /// False if it was started before, or ended without a thread. A refusal by the system is a
    /// set-up error, and leaves the state idle. Calls announce(true) before the thread runs, and
    /// announce(false) after a refusal.
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

    /// Waits until the thread has ended. Another thread calls it. Returns at once if it was never
    /// started.
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
            if (seen != State::starting) {  // otherwise another thread has started it meanwhile
                return;
            }
        }
    }

    /// True if there is no thread and there will be none. Then the caller ends the object itself,
    /// and calls endedWithoutThread(). It waits for a start of another thread, which the system may
    /// refuse.
    [[nodiscard]] bool takeUnstarted() {
        do {
            awaitStart();
            if (state() != State::idle) {
                return false;
            }
        } while (!take(State::idle, State::joining));
        return true;
    }
    void endedWithoutThread() noexcept { become(State::ended); }

    /// For a wait of the thread itself, which other threads end by notify().
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
    OwnThread thread_;  ///< used by the thread that has set the state to starting or joining
};

}  // namespace sluice::detail
