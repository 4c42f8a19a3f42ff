#pragma once

#include <sluice/actor/detail/alarms.hpp>
#include <sluice/actor/executor.hpp>
#include <sluice/base/assert.hpp>
#include <sluice/wait/park.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace sluice {

/// An executor that runs objects on the calling thread, step by step, for repeatable tests.
///
///     sluice::ManualExecutor executor(seed);
///     sluice::Running<Session> session(executor);
///     (void)session.post(Packet{});
///     executor.runAll();
///     executor.runFor(std::chrono::minutes(10));  // advances the clock without waiting
///
/// Order: each step runs a random object with messages, and handles at most Traits::batch messages.
/// The same seed and the same posts give the same order.
///
/// Waits: join(), stopAfterDrain(), postFor() and Future::get() run the objects and advance the
/// clock until the wait ends or its deadline is reached.
///
/// Thread safety: a single thread must call all functions of the executor and of its objects.
class ManualExecutor final : public Executor {
public:
    explicit ManualExecutor(std::uint64_t seed = 0, const ExecutorOptions& options = {})
        : Executor(options), random_(seed) {}
    ~ManualExecutor() override { expectNoObjects(); }

    void schedule(ExecutorTask& task) override { ready_.push_back(&task); }
    void scheduleLast(ExecutorTask& task) override { ready_.push_back(&task); }
    void beforeWait() override {
        const detail::NestedWait nested;
        (void)runAll();
    }

    [[nodiscard]] bool isManual() const noexcept override { return true; }
    bool runUntil(const Condition& isOver, TimePoint deadline) override {
        const detail::NestedWait nested;
        while (!isOver()) {
            if (step() || wakeDue(deadline)) {
                continue;
            }
            if (deadline == TimePoint::max()) {
                failAssertion({"something to wait for",
                               "a call waits for objects of a ManualExecutor, but none of them has "
                               "a message or a timer",
                               __FILE__, __LINE__});
            }
            now_ = std::max(now_, std::min(deadline, lastTime));
            return false;
        }
        return true;
    }

    /// The clock starts at zero and stops at 146 years. Only runFor() and waits advance the clock.
    [[nodiscard]] TimePoint now() const override { return now_; }
    void addAlarm(TimedExecutorTask& task) override { alarms_.add(task); }
    void setAlarm(TimedExecutorTask& task, TimePoint time) override { alarms_.set(task, time); }
    void removeAlarm(TimedExecutorTask& task) override { alarms_.remove(task); }

    /// The number of objects with messages.
    [[nodiscard]] std::size_t readyCount() const noexcept { return ready_.size(); }

    /// Runs one object. Returns false if no object has messages.
    bool step() {
        if (ready_.empty()) {
            return false;
        }
        // std::uniform_int_distribution would give other results with another standard library.
        ExecutorTask* const task = std::exchange(
            ready_[static_cast<std::size_t>(random_() % ready_.size())], ready_.back());
        ready_.pop_back();
        task->run();
        return true;
    }

    /// Calls step() until no object has messages, at most `atMost` times. Returns the step count.
    std::size_t runAll(std::size_t atMost = SIZE_MAX) {
        std::size_t steps = 0;
        while (steps < atMost && step()) {
            ++steps;
        }
        return steps;
    }

    /// Advances the clock by `time` in steps from timer to timer, and runs all objects at each
    /// step. A handler must not call runFor().
    template <class Rep, class Period>
    void runFor(std::chrono::duration<Rep, Period> time) {
        const TimePoint end = std::min(deadlineAfter(now_, time), lastTime);
        do {
            (void)runAll();
        } while (wakeDue(end));
        now_ = std::max(now_, end);
    }

private:
    /// Half of the range of the clock, so that differences between times do not overflow.
    static constexpr TimePoint lastTime{TimePoint::duration::max() / 2};

    /// Wakes all tasks due at the earliest alarm. Returns false if that alarm is later than `end`.
    bool wakeDue(TimePoint end) {
        const TimePoint earliest = alarms_.earliest();
        if (earliest > std::min(end, lastTime)) {
            return false;
        }
        now_ = std::max(now_, earliest);
        while (alarms_.wakeNext(now_, [this](ExecutorTask& task) { schedule(task); })) {
        }
        return true;
    }

    std::mt19937_64 random_;
    std::vector<ExecutorTask*> ready_;
    detail::Alarms alarms_;
    TimePoint now_{};
};

}  // namespace sluice
