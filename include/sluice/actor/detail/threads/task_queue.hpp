#pragma once

#include <sluice/actor/executor.hpp>

#include <utility>

namespace sluice::detail {

/// A queue of tasks in the order in which they were scheduled. The tasks are linked by their own
/// pointers, so it never allocates. The caller must synchronise the calls. A task that is not in
/// the queue has no neighbours.
class TaskQueue {
public:
    [[nodiscard]] bool isEmpty() const noexcept { return oldest_ == nullptr; }
    [[nodiscard]] bool hasSeveral() const noexcept { return oldest_ != newest_; }

    void append(ExecutorTask& task) noexcept {
        task.previousScheduled = newest_;
        (newest_ != nullptr ? newest_->nextScheduled : oldest_) = &task;
        newest_ = &task;
    }

    /// Removes and returns the oldest task. Null if there is none.
    ExecutorTask* pop() noexcept {
        ExecutorTask* const task = oldest_;
        if (task != nullptr) {
            remove(*task);
        }
        return task;
    }

    [[nodiscard]] bool contains(const ExecutorTask& task) const noexcept {
        return task.previousScheduled != nullptr || oldest_ == &task;
    }
    /// Removes a task that is in the queue.
    void remove(ExecutorTask& task) noexcept {
        ExecutorTask* const next = std::exchange(task.nextScheduled, nullptr);
        ExecutorTask* const previous = std::exchange(task.previousScheduled, nullptr);
        (previous != nullptr ? previous->nextScheduled : oldest_) = next;
        (next != nullptr ? next->previousScheduled : newest_) = previous;
    }

private:
    ExecutorTask* oldest_ = nullptr;
    ExecutorTask* newest_ = nullptr;
};

}  // namespace sluice::detail
