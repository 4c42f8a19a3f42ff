#pragma once

#include <sluice/base/platform.hpp>
#include <sluice/base/role_check.hpp>

#include <utility>

namespace sluice::detail {

/// The part of an executor that a waiting call needs. It is apart from Executor, so that an active
/// object does not include the executor's memory.
class HandlerWait {
public:
    HandlerWait(const HandlerWait&) = delete;
    HandlerWait& operator=(const HandlerWait&) = delete;

    /// Called by a thread before it waits for an object. Lets other threads run the task that this
    /// thread would run next; without other threads, runs this task itself.
    virtual void beforeWait() = 0;
    /// Calls beforeWait() of the executor whose task the calling thread runs, if there is one. A
    /// handler calls it before it waits for other objects, and so does Future::get().
    static void beforeWaitInHandler() {
        if (current_ != nullptr) {
            current_->beforeWait();
        }
    }

    /// While it exists, its thread runs a task of this executor. The running object creates it,
    /// because a shared library may have a `current_` of its own, unknown to the executor's code.
    class Current {
    public:
        explicit Current(HandlerWait& executor) noexcept
            : before_(std::exchange(current_, &executor)) {}
        ~Current() { current_ = before_; }
        Current(const Current&) = delete;
        Current& operator=(const Current&) = delete;

    private:
        HandlerWait* const before_;
        const HandlerThread<StdPlatform> handlers_;
    };

protected:
    HandlerWait() = default;
    ~HandlerWait() = default;

private:
    inline static thread_local HandlerWait* current_ = nullptr;
};

}  // namespace sluice::detail
