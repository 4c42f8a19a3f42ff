#pragma once

#include <sluice/actor/executor.hpp>

#include <cstdint>
#include <map>
#include <utility>

namespace sluice::detail {

/// The alarms of an executor's tasks. Only add() allocates. Not thread-safe.
class Alarms {
    using Task = TimedExecutorTask;
    using TimePoint = Executor::TimePoint;

public:
    void add(Task& task) {
        task.alarm = {TimePoint::max(), ++added_};
        tasks_.emplace(task.alarm, &task);
    }
    void remove(const Task& task) noexcept { tasks_.erase(task.alarm); }

    void set(Task& task, TimePoint time) noexcept {
        auto node = tasks_.extract(task.alarm);
        task.alarm.first = time;
        node.key() = task.alarm;
        tasks_.insert(std::move(node));
    }

    /// The time of the earliest alarm, or TimePoint::max() if no alarm is set.
    [[nodiscard]] TimePoint earliest() const noexcept {
        return tasks_.empty() ? TimePoint::max() : tasks_.begin()->first.first;
    }

    /// Wakes the task with the earliest alarm, and schedules the task if necessary. Returns false
    /// if no alarm is due.
    template <class Schedule>
    bool wakeNext(TimePoint now, Schedule schedule) {
        if (earliest() == TimePoint::max() || earliest() > now) {
            return false;
        }
        Task& task = *tasks_.begin()->second;
        set(task, TimePoint::max());
        if (task.wake()) {
            schedule(task);
        }
        return true;
    }

private:
    std::map<ExecutorAlarm, Task*> tasks_;  ///< all added tasks, ordered by alarm time
    std::uint64_t added_ = 0;               ///< number of add() calls, for unique keys in tasks_
};

}  // namespace sluice::detail
