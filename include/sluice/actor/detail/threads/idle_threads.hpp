#pragma once

#include <sluice/actor/executor.hpp>
#include <sluice/base/spin_lock.hpp>
#include <sluice/wait/park.hpp>

#include <atomic>
#include <cstddef>
#include <mutex>

namespace sluice::detail {

/// The threads of a pool that have no task. They sleep. One of them, the timekeeper, sleeps until
/// the earliest alarm. So an alarm wakes one thread only.
///
/// A function with a guard parameter is called while the lock of the pool is held.
///
/// Invariant: if an alarm is set and a thread sleeps, one of these holds: there is a timekeeper;
/// isTimekeeperMissing_ is set; a sleeping thread has been woken.
///
/// Tests: tests/unit/actor/thread_pool_test.cpp, tests/stress/pooled_object_stress_test.cpp.
class IdleThreads {
    using TimePoint = Executor::TimePoint;

public:
    using Guard = std::lock_guard<SpinLock>;

    /// The earliest alarm. TimePoint::max() if no alarm is set.
    [[nodiscard]] TimePoint earliest() const noexcept {
        return earliest_.load(std::memory_order_relaxed);  // relaxed: a hint
    }
    /// Called after each change of the alarms. If the time is earlier than before, the caller calls
    /// callTimekeeperEarlier() afterwards.
    void setEarliest(const Guard& guard, TimePoint time) noexcept {
        earliest_.store(time, std::memory_order_relaxed);  // relaxed: notifyOne() has the fences
        update(guard);
    }
    /// Wakes the timekeeper, so that it sleeps until the earlier alarm.
    void callTimekeeperEarlier() noexcept { nextAlarm_.notifyOne(); }

    /// Returns the object whose notifyOne() wakes a thread for a task. It wakes the timekeeper only
    /// if no other thread sleeps.
    [[nodiscard]] Park& parkToNotify(const Guard& /*guard*/) noexcept {
        return sleepers_ == 0 && hasTimekeeper() ? nextAlarm_ : work_;
    }
    void wakeAll() noexcept {
        work_.notifyAll();
        nextAlarm_.notifyAll();
    }

    /// A thread calls it before it runs a task. If the timekeeper is missing, it wakes another
    /// thread, because a busy thread cannot be the timekeeper.
    void callMissingTimekeeper() noexcept {
        // Relaxed, both: no other data depends on the flag.
        if (isTimekeeperMissing_.load(std::memory_order_relaxed) &&
            isTimekeeperMissing_.exchange(false, std::memory_order_relaxed)) {
            work_.notifyOne();
        }
    }

    /// Sleeps until isOver(), until the earliest alarm, or until a timekeeper is needed. Then calls
    /// leave(guard).
    template <class IsOver, class Leave>
    void sleep(SpinLock& lock, IsOver isOver, Leave leave) {
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
    // Relaxed, all: a thread checks these flags again before it sleeps.
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
    std::size_t sleepers_ = 0;  ///< number of threads that sleep at work_; guarded by the lock
    std::atomic<bool> hasTimekeeper_{false};             ///< written with the lock
    std::atomic<TimePoint> earliest_{TimePoint::max()};  ///< written with the lock
    /// Whether a sleeping thread must become the timekeeper and has not been woken for it. Set
    /// while the lock is held. Cleared by the thread that wakes it.
    std::atomic<bool> isTimekeeperMissing_{false};
};

}  // namespace sluice::detail
