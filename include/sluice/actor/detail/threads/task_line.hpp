#pragma once

#include <sluice/actor/executor.hpp>

namespace sluice::detail {

/// Tasks in the order in which they were scheduled, linked by their own pointers. The caller
/// synchronises.
class TaskLine {
public:
    [[nodiscard]] bool isEmpty() const noexcept { return oldest_ == nullptr; }

    void append(ExecutorTask& task) noexcept {
        task.nextScheduled = nullptr;
        (oldest_ != nullptr ? newest_->nextScheduled : oldest_) = &task;
        newest_ = &task;
    }

    /// Null if there is none.
    ExecutorTask* pop() noexcept {
        ExecutorTask* const task = oldest_;
        if (task != nullptr) {
            oldest_ = task->nextScheduled;
        }
        return task;
    }

private:
    ExecutorTask* oldest_ = nullptr;
    ExecutorTask* newest_ = nullptr;  ///< the last task; meaningless in an empty line
};

}  // namespace sluice::detail
