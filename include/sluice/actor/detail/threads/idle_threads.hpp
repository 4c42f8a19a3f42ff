#pragma once

#include <sluice/actor/executor.hpp>
#include <sluice/base/priority_mutex.hpp>
#include <sluice/wait/park.hpp>

#include <atomic>
#include <cstddef>
#include <mutex>

namespace sluice::detail {

/// The threads of a pool that have no task. They sleep. One of them, the timekeeper, sleeps until
/// the earliest alarm; so an alarm wakes one thread, however many there are.
///
/// Functions with a guard are called with the lock of the pool.
///
/// Invariant: if an alarm is set and a thread sleeps, then there is a timekeeper, or the flag
/// isTimekeeperMissing_ is set, or a sleeping thread has been called.
///
/// Tests: tests/unit/actor/thread_pool_test.cpp, tests/stress/pooled_object_stress_test.cpp.
class IdleThreads {
    using TimePoint = Executor::TimePoint;

public:
    using Guard = std::lock_guard<PriorityMutex>;

    /// TimePoint::max() if no alarm is set.
    [[nodiscard]] TimePoint earliest() const noexcept {
        return earliest_.load(std::memory_order_relaxed);  // relaxed: a hint
    }
    /// Called after each change of the alarms. If the time is earlier than before,
    /// callTimekeeperEarlier() follows.
    void setEarliest(const Guard& guard, TimePoint time) noexcept {
        earliest_.store(time, std::memory_order_relaxed);  // relaxed: the wake-up has the fences
        update(guard);
    }
    void callTimekeeperEarlier() noexcept { nextAlarm_.notifyOne(); }

    /// The place of a thread that can run a task, for notifyOne(). The timekeeper is the last
    /// choice.
    [[nodiscard]] Park& place(const Guard& /*guard*/) noexcept {
        return sleepers_ == 0 && hasTimekeeper() ? nextAlarm_ : work_;
    }
    void wakeAll() noexcept {
        work_.notifyAll();
        nextAlarm_.notifyAll();
    }

    /// Called by a thread before it is busy, because it cannot become the timekeeper then.
    void callMissingTimekeeper() noexcept {
        // Relaxed, both: no data follows.
        if (isTimekeeperMissing_.load(std::memory_order_relaxed) &&
            isTimekeeperMissing_.exchange(false, std::memory_order_relaxed)) {
            work_.notifyOne();
        }
    }

    /// Sleeps until isOver(), until the earliest alarm, or until a timekeeper is needed. Then calls
    /// leave(guard).
    template <class IsOver, class Leave>
    void sleep(PriorityMutex& lock, IsOver isOver, Leave leave) {
        bool isTimekeeper = false;
        TimePoint alarm{};
        {
            const Guard guard(lock);
            isTimekeeper = needsTimekeeper();
            alarm = earliest();
            count(guard, isTimekeeper, true);
        }
        if (isTimekeeper) {
            (void)nextAlarm_.waitUntil([&] { return isOver() || earliest() < alarm; }, alarm);
        } else {
            work_.wait([&] { return isOver() || needsTimekeeper(); });
        }
        const Guard guard(lock);
        count(guard, isTimekeeper, false);
        leave(guard);
    }

private:
    // Relaxed, all: flags that a thread checks again before it sleeps.
    [[nodiscard]] bool hasTimekeeper() const noexcept {
        return hasTimekeeper_.load(std::memory_order_relaxed);
    }
    [[nodiscard]] bool needsTimekeeper() const noexcept {
        return !hasTimekeeper() && earliest() != TimePoint::max();
    }
    void update(const Guard& /*guard*/) noexcept {
        isTimekeeperMissing_.store(sleepers_ != 0 && needsTimekeeper(), std::memory_order_relaxed);
    }
    void count(const Guard& guard, bool isTimekeeper, bool isAsleep) noexcept {
        if (isTimekeeper) {
            hasTimekeeper_.store(isAsleep, std::memory_order_relaxed);
        } else {
            sleepers_ = isAsleep ? sleepers_ + 1 : sleepers_ - 1;
        }
        update(guard);
    }

    Park work_;                 ///< the threads except the timekeeper sleep here
    Park nextAlarm_;            ///< the timekeeper sleeps here
    std::size_t sleepers_ = 0;  ///< the threads that sleep at work_; guarded by the lock
    std::atomic<bool> hasTimekeeper_{false};             ///< written with the lock
    std::atomic<TimePoint> earliest_{TimePoint::max()};  ///< written with the lock
    /// A sleeping thread must become the timekeeper, and has not been called. Set with the lock.
    /// Cleared by the thread that calls.
    std::atomic<bool> isTimekeeperMissing_{false};
};

}  // namespace sluice::detail
