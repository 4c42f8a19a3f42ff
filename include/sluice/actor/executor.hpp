#pragma once

#include <sluice/actor/detail/handler_wait.hpp>
#include <sluice/base/assert.hpp>
#include <sluice/base/platform.hpp>
#include <sluice/memory/block_pool.hpp>
#include <sluice/wait/park.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace sluice {

struct ExecutorOptions {
    /// The maximum size of a message in bytes, including about 32 bytes for the mailbox.
    std::size_t messageSize = 128;
    /// The largest alignment of a message, which must be a power of two.
    std::size_t messageAlignment = alignof(std::max_align_t);
    /// The maximum number of queued messages of all objects together. If maxMessages is above
    /// 1,024, each thread may cache memory for 129 messages: see BlockPool.
    std::size_t maxMessages = 65536;
};

/// An object that an executor runs. A scheduled task is not scheduled again until run() is called.
class ExecutorTask {
public:
    ExecutorTask(const ExecutorTask&) = delete;
    ExecutorTask& operator=(const ExecutorTask&) = delete;

    /// Handles a batch of messages, and schedules the object again if messages remain.
    void run() { run_(*this); }

    // The neighbours of this task in the executor's queue. Written by the executor.
    ExecutorTask* nextScheduled = nullptr;
    ExecutorTask* previousScheduled = nullptr;

protected:
    explicit ExecutorTask(void (*function)(ExecutorTask&)) noexcept : run_(function) {}
    ~ExecutorTask() = default;

private:
    void (*const run_)(ExecutorTask&);
};

/// The time of an alarm, and the number of its task, which makes each pair unique.
using ExecutorAlarm = std::pair<StdPlatform::Clock::time_point, std::uint64_t>;

/// A task with an alarm. When the alarm is due, the executor calls wake().
class TimedExecutorTask : public ExecutorTask {
public:
    /// Makes the object check its timers. Returns true if the caller must schedule the object.
    [[nodiscard]] bool wake() { return wake_(*this); }

    /// Written by the executor.
    ExecutorAlarm alarm{StdPlatform::Clock::time_point::max(), 0};

protected:
    TimedExecutorTask(void (*function)(ExecutorTask&),
                      bool (*wakeFunction)(TimedExecutorTask&)) noexcept
        : ExecutorTask(function), wake_(wakeFunction) {}
    ~TimedExecutorTask() = default;

private:
    bool (*const wake_)(TimedExecutorTask&);
};

/// Runs objects that share threads, each object on one thread at a time: see ThreadPool and
/// ManualExecutor. If an executor is destroyed before its objects have ended, the program
/// terminates with a message.
class Executor : public detail::HandlerWait {
public:
    /// Schedules an idle task that has received a message. Any thread may call schedule().
    virtual void schedule(ExecutorTask& task) = 0;
    /// Schedules a task behind all other tasks. Called by the thread that runs the task.
    virtual void scheduleLast(ExecutorTask& task) = 0;

    /// Reserves memory for a task's alarm. May throw std::bad_alloc.
    virtual void addAlarm(TimedExecutorTask& task) = 0;
    /// Sets the time at which the executor wakes the task; TimePoint::max() means never. Only the
    /// thread that runs the task calls setAlarm() and removeAlarm().
    virtual void setAlarm(TimedExecutorTask& task, TimePoint time) = 0;
    /// Removes a task's alarm, which then cannot fire.
    virtual void removeAlarm(TimedExecutorTask& task) = 0;

    using HasEnded = bool (*)(const ExecutorTask&);
    /// Waits until hasEnded(task) returns true. Returns false at the deadline.
    virtual bool awaitEnd(ExecutorTask& task, HasEnded hasEnded, TimePoint deadline) {
        const auto isOver = [&] { return hasEnded(task); };
        if (isManual()) {
            return runUntil(isOver, deadline);
        }
        beforeWait();
        return ends_.waitUntil(isOver, deadline);
    }
    // ---- Called by each object at its start, before its end, and after its end
    void addObject() noexcept { objects_.fetch_add(1, std::memory_order_relaxed); }
    void removeObject() noexcept { objects_.fetch_sub(1, std::memory_order_relaxed); }
    /// The object that `ended` points to may already be destroyed.
    virtual void notifyEnd(const ExecutorTask* /*ended*/) noexcept { ends_.notifyAll(); }

    /// Returns memory for one message, or null if no memory is free.
    [[nodiscard]] void* tryAllocate() noexcept { return messages_.tryAllocate(); }
    void deallocate(void* message) noexcept { messages_.deallocate(message); }
    [[nodiscard]] std::size_t messageSize() const noexcept { return messages_.blockSize(); }
    [[nodiscard]] std::size_t messageAlignment() const noexcept { return messages_.alignment(); }

    // ---- Any thread
    [[nodiscard]] std::size_t objectCount() const noexcept {
        return objects_.load(std::memory_order_relaxed);
    }
    [[nodiscard]] BlockPoolStatistics messageStatistics() const noexcept {
        return messages_.statistics();
    }

protected:
    explicit Executor(const ExecutorOptions& options) : messages_(poolOptions(options)) {}
    virtual ~Executor() = default;

    void expectNoObjects() const noexcept {
        if (objects_.load(std::memory_order_relaxed) != 0) {
            failAssertion({"all objects have ended",
                           "an executor is destroyed before its objects have ended: declare the "
                           "executor before its objects, or stop and join them",
                           __FILE__, __LINE__});
        }
    }

    Park ends_;  ///< notified when an object has ended

private:
    static BlockPoolOptions poolOptions(const ExecutorOptions& options) {
        BlockPoolOptions result;
        result.blockSize = options.messageSize;
        result.alignment = options.messageAlignment;
        result.capacity = options.maxMessages;
        result.isExact = options.maxMessages <= 1024;
        return result;
    }

    BlockPool messages_;
    /// The number of objects that have started and not yet ended. Relaxed: value only.
    std::atomic<std::size_t> objects_{0};
};

}  // namespace sluice
