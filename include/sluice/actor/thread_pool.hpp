#pragma once

#include <sluice/actor/detail/alarms.hpp>
#include <sluice/actor/detail/own_thread.hpp>
#include <sluice/actor/executor.hpp>
#include <sluice/actor/thread_options.hpp>
#include <sluice/base/assert.hpp>
#include <sluice/base/platform.hpp>
#include <sluice/base/setup_error.hpp>
#include <sluice/base/spin_lock.hpp>
#include <sluice/wait/park.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <mutex>
#include <utility>
#include <vector>

namespace sluice::detail {

/// The sleeping threads of a pool: workers, and handlers that wait for the end of an object. Only
/// one sleeping thread, the timekeeper, wakes at the earliest alarm. A `guard` parameter means that
/// the caller holds the pool's lock.
class IdleThreads {
    using TimePoint = Executor::TimePoint;

public:
    using Guard = std::lock_guard<SpinLock>;

    explicit IdleThreads(std::size_t workers) noexcept : awake_(workers) {}

    /// A handler that waits for the end of a task.
    class Waiter {
    public:
        explicit Waiter(const ExecutorTask& task) noexcept : task_(&task) {}

    private:
        friend IdleThreads;
        const ExecutorTask* task_;
        Park own_;
        Park* park_ = nullptr;  ///< &own_ or &nextAlarm_, to sleep on; guarded by the pool's lock
        Waiter* next_ = nullptr;
    };

    [[nodiscard]] TimePoint earliest() const noexcept {
        return earliest_.load(std::memory_order_relaxed);  // hint
    }
    /// A caller that sets an earlier time than before must then call wakeTimekeeper().
    void setEarliest(const Guard& guard, TimePoint time) noexcept {
        earliest_.store(time, std::memory_order_relaxed);  // value only
        update(guard);
    }
    void wakeTimekeeper() noexcept { nextAlarm_.notifyOne(); }

    /// Returns the Park to notify of a task: nextAlarm_ if only the timekeeper sleeps, else work_.
    [[nodiscard]] Park& parkToNotify(const Guard& /*guard*/) noexcept {
        return sleepers_ == 0 && hasTimekeeper() ? nextAlarm_ : work_;
    }
    void wakeWaiters(const Guard& /*guard*/, const ExecutorTask* task) noexcept {
        for (Waiter* waiter = waiters_; waiter != nullptr; waiter = waiter->next_) {
            if (waiter->task_ == task) {
                waiter->park_->notifyOne();
            }
        }
    }
    void wakeAll() noexcept {
        work_.notifyAll();
        nextAlarm_.notifyAll();
    }
    /// Returns true if all workers sleep. Workers fall asleep and wake up under the pool's lock.
    [[nodiscard]] bool areAllAsleep() const noexcept {
        return awake_.load(std::memory_order_relaxed) == 0;  // hint
    }
    /// allAsleep() is notified when the last worker falls asleep.
    [[nodiscard]] Park& allAsleep() noexcept { return allAsleep_; }

    /// If no timekeeper exists, wakes a thread to become one. Called before a task runs.
    void replaceTimekeeper(SpinLock& lock) noexcept {
        if (isTimekeeperMissing_.load(std::memory_order_relaxed) &&  // value only, both
            isTimekeeperMissing_.exchange(false, std::memory_order_relaxed)) {
            const Guard guard(lock);
            (sleepers_ == 0 && waiters_ != nullptr ? *waiters_->park_ : work_).notifyOne();
        }
    }

    /// Sleeps until isOver() returns true or the deadline is reached, and then calls leave(guard).
    /// The timekeeper sleeps at most until the earliest alarm. Any other thread wakes early if the
    /// timekeeper is missing. `waiter` is null for a worker.
    template <class IsOver, class Leave>
    void sleep(SpinLock& lock, Waiter* waiter, TimePoint deadline, IsOver isOver, Leave leave) {
        bool isTimekeeper = false;
        TimePoint alarm{};
        Park& own = waiter != nullptr ? waiter->own_ : work_;
        {
            const Guard guard(lock);
            isTimekeeper = needsTimekeeper();
            alarm = earliest();
            if (waiter != nullptr) {
                waiter->park_ = isTimekeeper ? &nextAlarm_ : &own;
            }
            count(guard, waiter, isTimekeeper, true);
        }
        if (areAllAsleep()) {
            allAsleep_.notifyAll();
        }
        if (isTimekeeper) {
            (void)nextAlarm_.waitUntil([&] { return isOver() || earliest() < alarm; },
                                       std::min(alarm, deadline));
        } else {
            (void)own.waitUntil([&] { return isOver() || needsTimekeeper(); }, deadline);
        }
        const Guard guard(lock);
        count(guard, waiter, isTimekeeper, false);
        leave(guard);
    }

private:
    [[nodiscard]] bool hasTimekeeper() const noexcept {
        return hasTimekeeper_.load(std::memory_order_relaxed);  // hint
    }
    [[nodiscard]] bool needsTimekeeper() const noexcept {
        return !hasTimekeeper() && earliest() != TimePoint::max();
    }
    void update(const Guard& /*guard*/) noexcept {
        const bool isAnyAsleep = sleepers_ != 0 || waiters_ != nullptr;
        // Relaxed: value only.
        isTimekeeperMissing_.store(isAnyAsleep && needsTimekeeper(), std::memory_order_relaxed);
    }
    void count(const Guard& guard, Waiter* waiter, bool isTimekeeper, bool isAsleep) noexcept {
        if (isTimekeeper) {
            hasTimekeeper_.store(isAsleep, std::memory_order_relaxed);  // value only
        } else if (waiter == nullptr) {
            sleepers_ = isAsleep ? sleepers_ + 1 : sleepers_ - 1;
        }
        if (waiter == nullptr) {
            const std::size_t before = awake_.load(std::memory_order_relaxed);  // under the lock
            awake_.store(isAsleep ? before - 1 : before + 1, std::memory_order_relaxed);
        } else {
            Waiter** place = &waiters_;
            if (isAsleep) {
                waiter->next_ = std::exchange(waiters_, waiter);
            } else {
                while (*place != waiter) {
                    place = &(*place)->next_;
                }
                *place = waiter->next_;
            }
        }
        update(guard);
    }

    Park work_;                  ///< the workers except the timekeeper sleep here
    Park nextAlarm_;             ///< the timekeeper sleeps here
    Park allAsleep_;             ///< threads wait here until the pool is idle
    std::size_t sleepers_ = 0;   ///< workers that sleep on work_; guarded by the pool's lock
    Waiter* waiters_ = nullptr;  ///< sleeping handlers, newest first; guarded by the pool's lock
    std::atomic<std::size_t> awake_;          ///< awake workers; written under the pool's lock
    std::atomic<bool> hasTimekeeper_{false};  ///< written under the pool's lock
    std::atomic<TimePoint> earliest_{TimePoint::max()};  ///< written under the pool's lock
    /// True if a sleeping thread must become the timekeeper (invariant: docs/algorithms/actors.md).
    std::atomic<bool> isTimekeeperMissing_{false};
};

/// A first-in, first-out queue that links tasks by their own pointers and never allocates. Not
/// thread-safe.
class TaskQueue {
public:
    [[nodiscard]] bool isEmpty() const noexcept { return oldest_ == nullptr; }
    [[nodiscard]] bool hasSeveral() const noexcept { return oldest_ != newest_; }

    void append(ExecutorTask& task) noexcept {
        task.previousScheduled = newest_;
        (newest_ != nullptr ? newest_->nextScheduled : oldest_) = &task;
        newest_ = &task;
    }

    /// Removes and returns the oldest task, or null if the queue is empty.
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

/// The task that a worker runs next. A handler sets its worker's next task by posting to an idle
/// object. Only the owning worker calls set() and take().
template <class Platform, class Task>
class NextTask {
public:
    [[nodiscard]] bool isSet() const noexcept {
        return task_.load(std::memory_order_relaxed) != nullptr;  // hint
    }
    void set(Task& task) noexcept { task_.store(&task, std::memory_order_release); }  // E2 next
    /// Removes and returns the next task, or null if no task is set.
    Task* take() noexcept {
        return isSet() ? task_.exchange(nullptr, std::memory_order_acquire) : nullptr;  // E2 next
    }

    /// Passes the next task to append() if the previous check() saw the same task. Returns true if
    /// a next task is still set. Callers must hold the pool's lock.
    template <class Append>
    bool check(const Append& append) noexcept {
        Task* task = task_.load(std::memory_order_relaxed);  // hint
        if (task == nullptr || task != seen_ ||
            !task_.compare_exchange_strong(task, nullptr,
                                           std::memory_order_acquire,     // E2 next
                                           std::memory_order_relaxed)) {  // value only
            seen_ = task;
            return task != nullptr;
        }
        append(*std::exchange(seen_, nullptr));
        return false;
    }

private:
    typename Platform::template Atomic<Task*> task_{nullptr};
    Task* seen_ = nullptr;  ///< the task at the last check(); guarded by the pool's lock
};

/// Records whether an idle thread watches the next tasks of all workers.
template <class Platform>
class NextTaskWatch {
public:
    /// Returns true if a worker that has called NextTask::set() must also call begin().
    [[nodiscard]] bool isMissing() const noexcept {
        Platform::Fence::light();                       // E3 watch
        return !isOn_.load(std::memory_order_relaxed);  // by E3
    }
    /// Callers of begin() and check() must hold the pool's lock.
    void begin() noexcept { isOn_.store(true, std::memory_order_relaxed); }  // value only
    /// Calls each worker's check(). If no worker has a next task, stops watching and returns false.
    template <class Workers, class Append>
    bool check(Workers& workers, const Append& append) noexcept {
        const auto checkAll = [&] {
            bool isAnySet = false;
            for (auto& worker : workers) {
                isAnySet = worker.next.check(append) || isAnySet;
            }
            return isAnySet;
        };
        bool isAnySet = checkAll();
        if (!isAnySet) {
            isOn_.store(false, std::memory_order_relaxed);  // by E3
            Platform::Fence::heavy();                       // E3 watch
            isAnySet = checkAll();
            isOn_.store(isAnySet, std::memory_order_relaxed);  // value only
        }
        return isAnySet;
    }

private:
    typename Platform::template Atomic<bool> isOn_{false};
};

}  // namespace sluice::detail

namespace sluice {

/// An executor with a fixed number of threads.
///
///     sluice::ThreadPool pool(2);
///     sluice::Running<Session> session(pool);
///
/// Order: if a handler posts to an idle object, that object runs next on the handler's thread, for
/// at most 32 objects in a row. Objects that do not run next wait in one queue. If a handler runs
/// for longer than a millisecond, an idle thread takes over the object that would run next. A free
/// thread alternates between a due timer and an object of the queue.
///
/// Thread safety: any thread may call any member except constructor and destructor. All objects
/// must have ended before the destructor. A handler must call Executor::beforeWaitInHandler()
/// before it waits. A thread whose handler waits for the end of another object of the pool may run
/// that object.
///
/// Errors: as for ActiveObject::start() and BlockPool.
///
/// Performance: allocates the memory of all messages, and a node for each object with timers.
class ThreadPool final : public Executor {
public:
    /// Starts the threads, all with the same options. If `threads` is 0 or the system refuses the
    /// options, calls setupError() and leaves no thread running.
    explicit ThreadPool(std::size_t threads, const ExecutorOptions& options = {},
                        const ThreadOptions& threadOptions = {})
        : Executor(options), idle_(threads), workers_(threads), threads_(threads) {
        if (threads == 0) {
            setupError("number of threads of a pool", threads, 1);
        }
        if (threads == 1) {
            watch_.begin();  // prevents calls of watch(): no other thread could call check()
        }
        bool areStarted = false;
        const detail::OnExit endUnlessStarted{[&] {
            if (!areStarted) {
                end();
            }
        }};
        for (std::size_t i = 0; i != threads; ++i) {
            workers_[i].pool = this;
            threads_[i].start(
                threadOptions,
                [](void* worker) noexcept {
                    current_ = static_cast<Worker*>(worker);
                    current_->pool->work(*current_);
                },
                &workers_[i]);
            ++started_;
        }
        areStarted = true;
    }

    ~ThreadPool() override {
        expectNoObjects();
        end();
    }

    /// Waits until no object runs or has messages or due timers. If the result is true, the caller
    /// sees all writes of the handlers. Does not wait for suspended coroutines or planned restarts.
    /// Returns false at the deadline. In a handler of the pool, asserts and returns false.
    [[nodiscard]] bool waitUntilIdle(TimePoint deadline) {
        const bool isOwnHandler = current_ != nullptr && current_->pool == this;
        SLUICE_ASSERT(!isOwnHandler,
                      "a handler waits until its own pool is idle, which the handler "
                      "prevents: wait on another thread");
        if (isOwnHandler) {
            return false;
        }
        beforeWaitInHandler();  // the calling handler may belong to another executor
        return idle_.allAsleep().waitUntil([this] { return isIdle(); }, deadline);
    }

    void schedule(ExecutorTask& task) override {
        Worker* const worker = current_;
        if (worker == nullptr || worker->pool != this || worker->next.isSet()) {
            enqueue(task);
            return;
        }
        worker->next.set(task);
        if (watch_.isMissing()) {
            watch();
        }
    }

    void scheduleLast(ExecutorTask& task) override {
        Worker* const worker = current_;
        if (worker == nullptr || worker->pool != this || worker->next.isSet() ||
            hasTasks_.load(std::memory_order_relaxed)) {  // hint
            enqueue(task);
            return;
        }
        worker->next.set(task);
        worker->inARow = mostInARow;
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
            alarms_.set(task, time);
            isEarlier = updateEarliest(guard);
        }
        if (isEarlier) {
            idle_.wakeTimekeeper();
        }
    }

    void removeAlarm(TimedExecutorTask& task) override {
        const Guard guard(lock_);
        alarms_.remove(task);
        (void)updateEarliest(guard);
    }

    void beforeWait() override {
        if (current_ != nullptr && current_->pool == this) {
            if (ExecutorTask* const next = current_->next.take()) {
                enqueue(*next);
            }
        }
        idle_.replaceTimekeeper(lock_);
    }

    bool awaitEnd(ExecutorTask& task, HasEnded hasEnded, TimePoint deadline) override {
        if (current_ == nullptr || current_->pool != this) {
            return Executor::awaitEnd(task, hasEnded, deadline);
        }
        // All threads may be waiting in handlers, so this thread runs the awaited task itself, and
        // wakes tasks whose alarms are due.
        const detail::NestedWait nested;
        detail::IdleThreads::Waiter waiter(task);
        for (;;) {
            beforeWait();
            if (hasEnded(task)) {
                return true;
            }
            if (tryTake(task)) {
                task.run();
            } else if (now() >= deadline) {
                return false;
            } else if (!wakeDue(false)) {
                idle_.sleep(
                    lock_, &waiter, deadline, [&] { return hasEnded(task) || isQueued(task); },
                    [](const Guard& /*guard*/) {});
            }
        }
    }

    void notifyEnd(const ExecutorTask* ended) noexcept override {
        {
            const Guard guard(lock_);
            idle_.wakeWaiters(guard, ended);
        }
        Executor::notifyEnd(ended);
    }

private:
    // Happens-before edges (proof: docs/algorithms/actors.md):
    //   E1 queue: append -> nextOf/tryTake.
    //   E2 next: set -> take/check.
    //   E3 watch: isMissing <-> check.
    //   E4 idle: IdleThreads::sleep -> isIdle.

    using Guard = detail::IdleThreads::Guard;

    /// The maximum number of next tasks that a worker runs in a row before a queued task.
    static constexpr unsigned mostInARow = 32;
    /// An idle thread takes the next task of a worker whose handler has run for 1 to 2 intervals.
    static constexpr std::chrono::milliseconds watchInterval{1};

    struct alignas(cacheLineSize) Worker {
        ThreadPool* pool = nullptr;
        detail::NextTask<StdPlatform, ExecutorTask> next;
        unsigned inARow = 0;
    };

    void end() noexcept {
        isEnding_.store(true, std::memory_order_relaxed);  // value only
        idle_.wakeAll();
        for (; started_ != 0; --started_) {
            threads_[started_ - 1].join();
        }
    }

    /// While this thread holds lock_, no worker wakes up. A sleeping worker has no task.
    [[nodiscard]] bool isIdle() {
        if (!idle_.areAllAsleep()) {
            return false;
        }
        const Guard guard(lock_);  // E4 idle
        return idle_.areAllAsleep() && queue_.isEmpty() && now() < idle_.earliest();
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

    [[nodiscard]] bool isQueued(const ExecutorTask& task) {
        const Guard guard(lock_);
        return queue_.contains(task);
    }
    bool tryTake(ExecutorTask& task) {
        const Guard guard(lock_);  // E1 queue
        if (!queue_.contains(task)) {
            return false;
        }
        queue_.remove(task);
        hasTasks_.store(!queue_.isEmpty(), std::memory_order_relaxed);  // value only
        return true;
    }

    void append(const Guard& guard, ExecutorTask& task) noexcept {
        queue_.append(task);
        idle_.wakeWaiters(guard, &task);
        hasTasks_.store(true, std::memory_order_relaxed);  // value only
    }

    void work(Worker& worker) {
        while (ExecutorTask* const task = await(worker)) {
            task->run();
        }
    }

    /// Waits for the worker's next task. Returns null when the pool ends.
    ExecutorTask* await(Worker& worker) {
        for (;;) {
            if (ExecutorTask* const task = nextOf(worker)) {
                idle_.replaceTimekeeper(lock_);
                return task;
            }
            if (isEnding_.load(std::memory_order_relaxed)) {  // value only
                return nullptr;
            }
            sleep();
        }
    }

    void sleep() {
        Park* park = nullptr;
        idle_.sleep(
            lock_, nullptr, TimePoint::max(),
            [this] {
                return hasTasks_.load(std::memory_order_relaxed) ||  // hint
                       isEnding_.load(std::memory_order_relaxed);    // value only
            },
            [&](const Guard& guard) {
                // The woken thread runs one task, and wakes another thread for the next task.
                park = queue_.hasSeveral() ? &idle_.parkToNotify(guard) : nullptr;
            });
        if (park != nullptr) {
            park->notifyOne();
        }
    }

    ExecutorTask* nextOf(Worker& worker) {
        if (worker.inARow < mostInARow) {
            if (ExecutorTask* const next = worker.next.take()) {
                ++worker.inARow;
                return next;
            }
        }
        worker.inARow = 0;
        (void)wakeDue(true);
        if (!hasTasks_.load(std::memory_order_relaxed)) {  // hint
            return worker.next.take();
        }
        const Guard guard(lock_);  // E1 queue
        if (ExecutorTask* const next = worker.next.take()) {
            append(guard, *next);
        }
        ExecutorTask* const task = queue_.pop();
        hasTasks_.store(!queue_.isEmpty(), std::memory_order_relaxed);  // value only
        return task;
    }

    /// Appends the task of only one due alarm to the queue, so that no post waits behind many
    /// alarms. Returns false if no alarm is due.
    bool wakeDue(bool isWorker) {
        const TimePoint earliest = idle_.earliest();
        if (earliest == TimePoint::max() || now() < earliest) {
            return false;
        }
        Park* park = nullptr;
        {
            const Guard guard(lock_);
            const TimePoint present = now();
            const bool hadTasks = !queue_.isEmpty();
            (void)alarms_.wakeNext(present, [&](ExecutorTask& task) { append(guard, task); });
            if (watchTime_ <= present) {
                const auto take = [&](ExecutorTask& task) { append(guard, task); };
                watchTime_ =
                    watch_.check(workers_, take) ? present + watchInterval : TimePoint::max();
            }
            (void)updateEarliest(guard);
            const bool isOwn = isWorker && !hadTasks && !queue_.hasSeveral();
            park = queue_.isEmpty() || isOwn ? nullptr : &idle_.parkToNotify(guard);
        }
        if (park != nullptr) {
            park->notifyOne();
        }
        return true;
    }

    /// Returns true if the earliest alarm or watchTime_ has moved to an earlier time.
    bool updateEarliest(const Guard& guard) noexcept {
        const TimePoint before = idle_.earliest();
        const TimePoint earliest = std::min(alarms_.earliest(), watchTime_);
        idle_.setEarliest(guard, earliest);
        return earliest < before;
    }

    /// Makes an idle thread check after watchInterval whether a handler is still running.
    [[gnu::noinline]] void watch() {
        {
            const Guard guard(lock_);
            watch_.begin();
            watchTime_ = now() + watchInterval;
            if (!updateEarliest(guard)) {
                return;
            }
        }
        idle_.wakeTimekeeper();
        idle_.replaceTimekeeper(lock_);
    }

    inline static thread_local Worker* current_ = nullptr;

    SpinLock lock_;
    detail::TaskQueue queue_;  ///< guarded by lock_
    detail::Alarms alarms_;    ///< guarded by lock_
    /// The time of the next check for long handlers; guarded by lock_.
    TimePoint watchTime_ = TimePoint::max();
    detail::NextTaskWatch<StdPlatform> watch_;
    std::atomic<bool> hasTasks_{false};  ///< whether queue_ has a task; written under lock_
    std::atomic<bool> isEnding_{false};  ///< written by end()
    detail::IdleThreads idle_;
    std::vector<Worker> workers_;
    std::vector<detail::OwnThread> threads_;
    std::size_t started_ = 0;  ///< number of running threads
};

}  // namespace sluice
