#pragma once

#include <sluice/base/assert.hpp>
#include <sluice/base/platform.hpp>
#include <sluice/base/role_check.hpp>

#include <functional>
#include <utility>

namespace sluice::detail {

/// The scope of a wait in which a handler runs other objects. Terminates the program before nested
/// waits overflow the stack.
class NestedWait {
public:
    NestedWait() noexcept {
        if (++depth_ > most) {
            failAssertion({"few nested waits",
                           "1,000 handlers of one thread wait for each other's objects: use "
                           "messages or coroutines instead of waits in handlers",
                           __FILE__, __LINE__});
        }
    }
    ~NestedWait() { --depth_; }
    NestedWait(const NestedWait&) = delete;
    NestedWait& operator=(const NestedWait&) = delete;

private:
    static constexpr unsigned most = 1000;
    inline static thread_local unsigned depth_ = 0;
};

/// The functions of an executor that a waiting handler needs. HandlerWait is separate from
/// Executor, so that <sluice/actor/active_object.hpp> does not include BlockPool.
class HandlerWait {
public:
    using TimePoint = StdPlatform::Clock::time_point;

    HandlerWait(const HandlerWait&) = delete;
    HandlerWait& operator=(const HandlerWait&) = delete;

    /// Must be called before a thread waits for an object. In a ThreadPool, passes the thread's
    /// next task to another thread. In a ManualExecutor, runs all objects.
    virtual void beforeWait() = 0;
    /// The executor's current time, for the timers and requests of its objects.
    [[nodiscard]] virtual TimePoint now() const = 0;

    using Condition = std::function<bool()>;
    /// Returns true for a ManualExecutor, where a waiting thread must run the objects itself.
    [[nodiscard]] virtual bool isManual() const noexcept { return false; }
    /// In a ManualExecutor, runs objects and advances the clock from timer to timer, until isOver()
    /// returns true or the deadline is reached. Returns the last result of isOver().
    virtual bool runUntil(const Condition& isOver, TimePoint /*deadline*/) { return isOver(); }

    /// Calls beforeWait() of the executor that runs the calling handler, if any. A handler must
    /// make this call before it waits for other objects, unless it waits in Future::get().
    static void beforeWaitInHandler() {
        if (current_ != nullptr) {
            current_->beforeWait();
        }
    }

    /// Marks the calling thread as running a task of an executor. Created in the object's code, not
    /// the executor's, because a handler reads the `current_` of its own shared library.
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
