#pragma once

#include <sluice/actor/detail/alarms.hpp>
#include <sluice/actor/detail/own_thread.hpp>
#include <sluice/actor/executor.hpp>
#include <sluice/actor/thread_options.hpp>
#include <sluice/base/setup_error.hpp>
#include <sluice/base/spin_lock.hpp>
#include <sluice/wait/park.hpp>

#include <atomic>
#include <cstddef>
#include <mutex>
#include <utility>
#include <vector>

namespace sluice::detail {

/// The sleeping threads of a pool. One of them, the timekeeper, sleeps until the earliest alarm, so
/// an alarm wakes one thread only. Functions with a guard parameter need the pool's lock.
class IdleThreads {
    using TimePoint = Executor::TimePoint;

public:
    using Guard = std::lock_guard<SpinLock>;

    /// The earliest alarm. TimePoint::max() if no alarm is set.
    [[nodiscard]] TimePoint earliest() const noexcept {
        return earliest_.load(std::memory_order_relaxed);  // relaxed: a hint
    }
    /// Called after each change of the alarms. If the time is earlier, wakeTimekeeper() follows.
    void setEarliest(const Guard& guard, TimePoint time) noexcept {
        earliest_.store(time, std::memory_order_relaxed);  // relaxed: notifyOne() has the fences
        update(guard);
    }
    /// Wakes the timekeeper, so that it sleeps until the earlier alarm.
    void wakeTimekeeper() noexcept { nextAlarm_.notifyOne(); }

    /// Where to wake a thread for a task: the timekeeper only if no other thread sleeps.
    [[nodiscard]] Park& parkToNotify(const Guard& /*guard*/) noexcept {
        return sleepers_ == 0 && hasTimekeeper() ? nextAlarm_ : work_;
    }
    void wakeAll() noexcept {
        work_.notifyAll();
        nextAlarm_.notifyAll();
    }

    /// Called before a thread runs a task. If the timekeeper is missing, wakes another thread.
    void replaceTimekeeper() noexcept {
        // Relaxed, both: no other data depends on the flag.
        if (isTimekeeperMissing_.load(std::memory_order_relaxed) &&
            isTimekeeperMissing_.exchange(false, std::memory_order_relaxed)) {
            work_.notifyOne();
        }
    }

    /// Sleeps until isOver(), the earliest alarm, or a timekeeper is needed; then calls
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
    // Invariant: if an alarm is set and a thread sleeps, there is a timekeeper,
    // isTimekeeperMissing_ is set, or a sleeping thread has been woken.

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
    /// Whether a sleeper must become timekeeper. Set with the lock, cleared by the waking thread.
    std::atomic<bool> isTimekeeperMissing_{false};
};

/// A first-in, first-out queue of tasks linked by their own pointers, so it never allocates. The
/// caller synchronizes calls.
class TaskQueue {
public:
    [[nodiscard]] bool isEmpty() const noexcept { return oldest_ == nullptr; }
    [[nodiscard]] bool hasSeveral() const noexcept { return oldest_ != newest_; }

    void append(ExecutorTask& task) noexcept {
        task.previousScheduled = newest_;
        (newest_ != nullptr ? newest_->nextScheduled : oldest_) = &task;
        newest_ = &task;
    }

    /// Removes the oldest task; null if there is none.
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

namespace sluice {

/// An executor with a fixed number of threads, which run objects with messages and sleep while
/// there are none.
///
///     sluice::ThreadPool pool(2);
///     sluice::Running<Session> session(pool);
///
/// Order: if a handler posts the first message to an object, this object runs next on the same
/// thread, at most 32 times in a row; all other objects wait in one queue. Timers fire when a
/// thread is free.
///
/// Thread safety: any thread may call any member, except that one thread constructs and destroys
/// the pool. All objects must have ended before it is destroyed. A long handler delays the object
/// that it posted to first; one that waits calls Executor::beforeWaitInHandler(). A handler that
/// waits for the end of another object of the pool may run that object.
///
/// Errors: those of ActiveObject::start() and BlockPool.
///
/// Performance: allocates the threads, the message memory (see BlockPool), and a node for each
/// object with timers when it starts.
class ThreadPool final : public Executor {
public:
    /// Starts the threads, all with the same options. Fails as setupError() describes without
    /// threads, or if the system refuses the options; then no thread is left.
    explicit ThreadPool(std::size_t threads, const ExecutorOptions& options = {},
                        const ThreadOptions& threadOptions = {})
        : Executor(options), threads_(threads) {
        if (threads == 0) {
            setupError("number of threads of a pool", threads, 1);
        }
        struct EndUnlessStarted {
            ThreadPool& pool;
            bool isStarted = false;
            ~EndUnlessStarted() {
                if (!isStarted) {
                    pool.end();
                }
            }
        } attempt{*this};
        for (detail::OwnThread& thread : threads_) {
            thread.start(
                threadOptions, [](void* self) noexcept { static_cast<ThreadPool*>(self)->work(); },
                this);
            ++started_;
        }
        attempt.isStarted = true;
    }

    ~ThreadPool() override {
        expectNoObjects();
        end();
    }

    void schedule(ExecutorTask& task) override {
        Worker* const worker = current_;
        if (worker != nullptr && worker->pool == this && worker->next == nullptr) {
            worker->next = &task;
            return;
        }
        scheduleLast(task);
    }

    void scheduleLast(ExecutorTask& task) override {
        Worker* const worker = current_;
        // Relaxed: a task that another thread adds now runs after the next batch.
        if (worker != nullptr && worker->pool == this && worker->next == nullptr &&
            !hasTasks_.load(std::memory_order_relaxed)) {
            worker->next = &task;
            worker->inARow = mostInARow;
            return;
        }
        enqueue(task);
    }

    [[nodiscard]] TimePoint now() const override { return StdPlatform::Clock::now(); }

    void addAlarm(TimedExecutorTask& task) override {
        const Guard guard(lock_);
        alarms_.add(task);
    }

    void setAlarm(TimedExecutorTask& task, TimePoint time) override {
        bool isEarlier = false;
        {
            const Guard guard(lock_);
            isEarlier = time < alarms_.earliest();
            alarms_.set(task, time);
            idle_.setEarliest(guard, alarms_.earliest());
        }
        if (isEarlier) {
            idle_.wakeTimekeeper();
        }
    }

    void removeAlarm(TimedExecutorTask& task) override {
        const Guard guard(lock_);
        alarms_.remove(task);
        idle_.setEarliest(guard, alarms_.earliest());
    }

    void beforeWait() override {
        if (current_ != nullptr && current_->pool == this && current_->next != nullptr) {
            enqueue(*std::exchange(current_->next, nullptr));
        }
        idle_.replaceTimekeeper();
    }

    bool awaitEnd(ExecutorTask& task, HasEnded hasEnded, TimePoint deadline) override {
        if (current_ == nullptr || current_->pool != this) {
            return Executor::awaitEnd(task, hasEnded, deadline);
        }
        // All threads may wait in handlers, so this one runs the task itself if it is queued.
        const Waiting waiting(*this);
        bool isOver = false;
        for (bool isTaken = true; isTaken;) {
            beforeWait();
            isTaken = false;
            isOver = ends_.waitUntil([&] { return hasEnded(task) || (isTaken = tryTake(task)); },
                                     deadline);
            if (isTaken) {
                task.run();
            }
        }
        return isOver;
    }

private:
    // Edge E1: the writes of the scheduling thread -> lock_ -> the thread that runs the task.

    using Guard = detail::IdleThreads::Guard;

    /// The most tasks that a thread runs for its own handlers before one of the queue.
    static constexpr unsigned mostInARow = 32;

    struct Worker {
        ThreadPool* pool;
        ExecutorTask* next = nullptr;
        unsigned inARow = 0;
    };

    /// While it exists, a handler of this pool waits for the end of an object of this pool.
    class Waiting {
    public:
        explicit Waiting(ThreadPool& pool) : pool_(pool) {
            const Guard guard(pool_.lock_);
            ++pool_.waiting_;
        }
        ~Waiting() {
            const Guard guard(pool_.lock_);
            --pool_.waiting_;
        }
        Waiting(const Waiting&) = delete;
        Waiting& operator=(const Waiting&) = delete;

    private:
        ThreadPool& pool_;
    };

    void end() noexcept {
        isEnding_.store(true, std::memory_order_relaxed);
        idle_.wakeAll();
        for (; started_ != 0; --started_) {
            threads_[started_ - 1].join();
        }
    }

    void enqueue(ExecutorTask& task) {
        Park* park = nullptr;
        {
            const Guard guard(lock_);
            append(guard, task);
            park = &idle_.parkToNotify(guard);
        }
        park->notifyOne();
    }

    bool tryTake(ExecutorTask& task) {
        const Guard guard(lock_);  // E1
        if (!queue_.contains(task)) {
            return false;
        }
        queue_.remove(task);
        hasTasks_.store(!queue_.isEmpty(), std::memory_order_relaxed);  // relaxed: see append()
        return true;
    }

    void append(const Guard& /*guard*/, ExecutorTask& task) noexcept {
        queue_.append(task);
        if (waiting_ != 0) {
            ends_.notifyAll();
        }
        // Relaxed: a thread that reads it without lock_ reads it again before it sleeps.
        hasTasks_.store(true, std::memory_order_relaxed);
    }

    void work() {
        Worker worker{this};
        current_ = &worker;
        while (ExecutorTask* const task = await(worker)) {
            task->run();
        }
    }

    /// Waits for the next task; null at the end.
    ExecutorTask* await(Worker& worker) {
        for (;;) {
            if (ExecutorTask* const task = nextOf(worker)) {
                idle_.replaceTimekeeper();
                return task;
            }
            if (isEnding_.load(std::memory_order_relaxed)) {
                return nullptr;
            }
            sleep();
        }
    }

    void sleep() {
        Park* park = nullptr;
        idle_.sleep(
            lock_,
            [this] {
                return hasTasks_.load(std::memory_order_relaxed) ||
                       isEnding_.load(std::memory_order_relaxed);
            },
            [&](const Guard& guard) {
                // This thread may have been woken for several tasks, and it runs one of them.
                park = queue_.hasSeveral() ? &idle_.parkToNotify(guard) : nullptr;
            });
        if (park != nullptr) {
            park->notifyOne();
        }
    }

    ExecutorTask* nextOf(Worker& worker) {
        if (worker.next != nullptr && worker.inARow < mostInARow) {
            ++worker.inARow;
            return std::exchange(worker.next, nullptr);
        }
        worker.inARow = 0;
        wakeDue();
        if (!hasTasks_.load(std::memory_order_relaxed)) {  // relaxed: see append()
            return std::exchange(worker.next, nullptr);
        }
        // No other thread is woken, because the queue has not grown.
        const Guard guard(lock_);  // E1
        if (worker.next != nullptr) {
            append(guard, *std::exchange(worker.next, nullptr));
        }
        ExecutorTask* const task = queue_.pop();
        hasTasks_.store(!queue_.isEmpty(), std::memory_order_relaxed);
        return task;
    }

    void wakeDue() {
        const TimePoint earliest = idle_.earliest();
        if (earliest == TimePoint::max() || now() < earliest) {
            return;
        }
        Park* park = nullptr;
        std::size_t tasks = 0;
        {
            const Guard guard(lock_);
            alarms_.wakeDue(now(), [&](ExecutorTask& task) {
                append(guard, task);
                ++tasks;
            });
            idle_.setEarliest(guard, alarms_.earliest());
            park = &idle_.parkToNotify(guard);
        }
        for (; tasks > 1; --tasks) {  // this thread runs one of them, or an older one
            park->notifyOne();
        }
    }

    inline static thread_local Worker* current_ = nullptr;

    SpinLock lock_;
    detail::TaskQueue queue_;            ///< guarded by lock_
    detail::Alarms alarms_;              ///< guarded by lock_
    std::size_t waiting_ = 0;            ///< handlers in awaitEnd(); guarded by lock_
    std::atomic<bool> hasTasks_{false};  ///< whether queue_ has a task; written with lock_
    std::atomic<bool> isEnding_{false};  ///< written by end()
    detail::IdleThreads idle_;
    std::vector<detail::OwnThread> threads_;
    std::size_t started_ = 0;  ///< running threads; written by the constructor and by end()
};

}  // namespace sluice
