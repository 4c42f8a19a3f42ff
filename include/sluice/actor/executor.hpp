#pragma once

#include <sluice/actor/detail/threads/handler_thread.hpp>
#include <sluice/base/platform.hpp>
#include <sluice/memory/block_pool.hpp>
#include <sluice/wait/park.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace sluice {

/// What an executor is told when it is made.
struct ExecutorOptions {
    /// The largest message of its objects, in bytes, with about 32 bytes for the mailbox.
    std::size_t messageSize = 128;
    /// The largest alignment of a message; a power of two.
    std::size_t messageAlignment = alignof(std::max_align_t);
    /// Messages that may be queued in all of its objects together.
    std::size_t maxMessages = 65536;
};

/// An object that has messages. It is scheduled once until it runs.
class ExecutorTask {
public:
    ExecutorTask(const ExecutorTask&) = delete;
    ExecutorTask& operator=(const ExecutorTask&) = delete;

    /// Handles some messages, and schedules the object again if there are more.
    void run() { run_(*this); }

    /// The next task of the executor that this one is scheduled on.
    ExecutorTask* nextScheduled = nullptr;

protected:
    explicit ExecutorTask(void (*function)(ExecutorTask&)) noexcept : run_(function) {}
    ~ExecutorTask() = default;

private:
    void (*const run_)(ExecutorTask&);
};

/// When an alarm is due, and the number of its task: those of one time are woken in the order of
/// their numbers.
using ExecutorAlarm = std::pair<StdPlatform::Clock::time_point, std::uint64_t>;

/// An object that has timers. It has one alarm, for the earliest of them.
class TimedExecutorTask : public ExecutorTask {
public:
    /// Has the object look at its timers. True if it must be scheduled for that.
    [[nodiscard]] bool wake() { return wake_(*this); }

    /// The executor's.
    ExecutorAlarm alarm{StdPlatform::Clock::time_point::max(), 0};

protected:
    TimedExecutorTask(void (*function)(ExecutorTask&),
                      bool (*wakeFunction)(TimedExecutorTask&)) noexcept
        : ExecutorTask(function), wake_(wakeFunction) {}
    ~TimedExecutorTask() = default;

private:
    bool (*const wake_)(TimedExecutorTask&);
};

/// Runs objects that share threads. See ThreadPool and ManualExecutor.
///
/// Runs objects that have messages, each of them on one thread at a time. PooledObject::start()
/// names the executor of an object. The executor outlives its objects.
class Executor {
public:
    using TimePoint = StdPlatform::Clock::time_point;

    Executor(const Executor&) = delete;
    Executor& operator=(const Executor&) = delete;

    /// Has a task run soon: it has got its first message. By any thread.
    virtual void schedule(ExecutorTask& task) = 0;
    /// Has a task run again after the others: it has had its turn. By the thread that runs it.
    virtual void scheduleLast(ExecutorTask& task) = 0;

    /// The time of the objects' timers.
    [[nodiscard]] virtual TimePoint now() const = 0;
    /// Makes room for the alarm of a task, which is not set. May throw std::bad_alloc.
    virtual void addAlarm(TimedExecutorTask& task) = 0;
    /// Sets the alarm of a task: at that time it is woken, and the alarm is no longer set;
    /// TimePoint::max() is never. By the thread that runs the task.
    virtual void setAlarm(TimedExecutorTask& task, TimePoint time) = 0;
    /// After the return the task is not woken any more. By the thread that runs the task.
    virtual void removeAlarm(TimedExecutorTask& task) = 0;

    /// For a thread that is about to wait for an object: lets other threads run what only this
    /// thread would run next, or runs it if there are no others.
    virtual void beforeWait() = 0;
    /// The same for the executor whose task the calling thread runs, if it runs one. A handler
    /// calls it before it waits for other objects; Future::get() does.
    static void beforeWaitInHandler() {
        if (current_ != nullptr) {
            current_->beforeWait();
        }
    }

    /// Memory for messages of this size; null if there is none.
    [[nodiscard]] void* tryAllocate() noexcept { return messages_.tryAllocate(); }
    void deallocate(void* message) noexcept { messages_.deallocate(message); }
    [[nodiscard]] std::size_t messageSize() const noexcept { return messages_.blockSize(); }
    [[nodiscard]] std::size_t messageAlignment() const noexcept { return messages_.alignment(); }

    /// Told about each object that has ended.
    Park& ends() noexcept { return ends_; }

    /// The calling thread runs a task of this executor as long as it lives. Each object makes one
    /// while it runs: a shared object may have variables of its own, which the code of the executor
    /// does not know.
    class Current {
    public:
        explicit Current(Executor& executor) noexcept
            : before_(std::exchange(current_, &executor)) {}
        ~Current() { current_ = before_; }
        Current(const Current&) = delete;
        Current& operator=(const Current&) = delete;

    private:
        Executor* const before_;
        const detail::HandlerThread handlers_;
    };

protected:
    explicit Executor(const ExecutorOptions& options) : messages_(poolOptions(options)) {}
    virtual ~Executor() = default;

private:
    static BlockPoolOptions poolOptions(const ExecutorOptions& options) {
        BlockPoolOptions result;
        result.blockSize = options.messageSize;
        result.alignment = options.messageAlignment;
        result.capacity = options.maxMessages;
        return result;
    }

    inline static thread_local Executor* current_ = nullptr;

    BlockPool messages_;
    Park ends_;
};

}  // namespace sluice
