#pragma once

#include <sluice/base/cache_line.hpp>
#include <sluice/log/backend_options.hpp>
#include <sluice/log/detail/backend/barrier.hpp>
#include <sluice/log/detail/backend/control_list.hpp>
#include <sluice/log/detail/backend/harvest_scope.hpp>
#include <sluice/log/detail/backend/harvest_turns.hpp>
#include <sluice/log/detail/backend/harvester.hpp>
#include <sluice/log/detail/backend/idle_pacing.hpp>
#include <sluice/log/detail/backend/polling.hpp>
#include <sluice/log/detail/backend/port.hpp>
#include <sluice/log/detail/backend/process.hpp>
#include <sluice/log/detail/backend/worker_thread.hpp>
#include <sluice/wait/deadline.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <thread>
#include <utility>

namespace sluice::log::detail {

/// A back end, without its statistics and its checks of options.
///
///     Port: log calls -> the lanes; flushes and the ends of loggers -> the list of controls
///     Harvester: what was logged and sent before, in the order of the stamps -> the sinks
///
/// A manual engine has no worker: the polling thread makes the harvests, in poll().
///
/// Who may call what: any thread any member, unless it says otherwise. Harvests exclude each other:
/// the worker makes them; when it has left for good, whoever logs; around fork(), the caller.
///
/// Errors: those of sinks go to the loggers.
class Engine final : public Port,
                     public std::enable_shared_from_this<Engine>,
                     private ProcessMember {
public:
    explicit Engine(const backend_options& options)
        : Port(intakeOptions(options, this)), options_(options) {
        Process::instance().add(*this);
    }
    ~Engine() {
        Process::instance().remove(*this);
        controls_.close();
    }

    [[nodiscard]] bool send(std::unique_ptr<Control>& control) noexcept override {
        if (!controls_.push(control, [this]() noexcept { return intake_.now(); })) {
            return false;
        }
        intake_.wake();
        attend();
        return true;
    }

    [[nodiscard]] bool wantFlush(LoggerState& logger) noexcept override {
        if (mode_.load(std::memory_order_seq_cst) == Mode::closed) {
            return false;
        }
        harvester_.wantFlush(logger, intake_.now());
        intake_.wake();
        attend();
        return true;
    }

    void retire(LoggerState& logger) noexcept override {
        harvester_.tellOfDrops(logger);
        harvester_.forget(logger);
    }

    const backend_options& options() const noexcept { return options_; }
    const Harvester& harvester() const noexcept { return harvester_; }

    /// Starts the worker. One thread at a time may call this, leave() and close().
    void start() {
        setMode(Mode::worker);
        worker_.start(options_, [engine = shared_from_this()](const ErrorChannel& errors) {
            engine->runHook(engine->options_.on_thread_start, errors);
            engine->work();
            engine->runHook(engine->options_.on_thread_stop, errors);
        });
    }

    /// For a manual engine. See Polling::poll().
    std::size_t poll() noexcept { return options_.manual ? polling_.poll() : 0; }

    /// The worker writes what there is, and ends; from now on whoever logs writes it, too. False
    /// when `atMost` passed first: then nothing more is taken, and the worker ends when it can.
    bool leave(std::chrono::nanoseconds atMost) {
        setMode(Mode::caller);
        if (endWorker(atMost)) {
            attend();  // for what its last hook has logged
            return true;
        }
        intake_.close();
        setMode(Mode::closed);
        closeControls();
        return false;
    }

    /// Nothing more is taken; the worker writes what there is, flushes the sinks, and ends. False
    /// when `atMost` passed first: then what is left is not written. False, too, when a sink
    /// failed, and inside a harvest; what there is gets written when the caller returns.
    bool close(std::chrono::nanoseconds atMost) {
        intake_.close();
        forbidRestart();
        if (options_.manual) {
            return polling_.close(deadlineAfter<std::chrono::steady_clock>(atMost));
        }
        const bool hadWorker = worker_.isRunning();
        const bool isOver = endWorker(atMost);
        setMode(Mode::closed);
        if (isOver && !hadWorker) {
            finish();
        }
        if (isOver) {
            controls_.close();  // also when there never was a worker, as in the child of a fork
        } else {
            closeControls();
        }
        return isOver && harvester_.isFlushed();
    }

    /// Everything logged before by anyone is written, and the sinks are flushed; false when
    /// `atMost` passed first, a sink failed, the back end has ended, or the caller is inside a
    /// harvest.
    bool flushAndWait(std::chrono::nanoseconds atMost) {
        const auto end = deadlineAfter<std::chrono::steady_clock>(atMost);
        const auto done = std::make_shared<Signal>();
        const auto finish = [this]() noexcept { return harvester_.flushSinks(); };
        std::unique_ptr<Control> barrier =
            std::make_unique<Barrier<decltype(finish)>>(finish, done);
        if (isInHarvest() || harvester_.isAbandoned() || !send(barrier)) {
            return false;
        }
        // Where nobody else harvests, a logging thread may have held up the first try.
        while (mode_.load(std::memory_order_relaxed) == Mode::caller || polling_.isMine()) {
            if (polling_.isMine()) {
                polling_.drain();
            }
            if (done->waitUntil(std::min(end, soon()))) {
                break;
            }
            if (std::chrono::steady_clock::now() >= end) {
                return false;
            }
            attend();
        }
        return done->waitUntil(end) && done->isGood();
    }

private:
    friend class Polling<Engine>;

    static IntakeOptions intakeOptions(const backend_options& options, Engine* engine) {
        IntakeOptions result;
        if (options.manual) {
            result.roomMaker = {&Polling<Engine>::makeRoom, &engine->polling_};
        }
        result.laneMessages = options.queue_size;
        result.laneBytes = options.bytes_of_room();
        result.maxHold = options.max_hold;
        return result;
    }

    void attendMyself() noexcept override {
        if (mode_.load(std::memory_order_seq_cst) == Mode::nobody) {
            restart();
        }
        if (mode_.load(std::memory_order_seq_cst) == Mode::caller) {
            harvesting_.take([this] { intake_.wake(); });
            harvestLocked();
            intake_.resign();
            harvesting_.unlock();
        }
    }

    /// The worker waits for work, or until another thread takes its turn.
    void rest(IdlePacing::Rest length) {
        if (length == IdlePacing::untilWoken) {
            const std::lock_guard<HarvestTurns> lock(harvesting_);
            intake_.waitForWork(std::chrono::steady_clock::now() + std::chrono::seconds(1));
        } else if (length != IdlePacing::none) {
            std::this_thread::sleep_for(length);
        }
    }

    /// As in a harvest, the hook does not wait for its own thread.
    void runHook(const std::function<void()>& hook, const ErrorChannel& errors) noexcept {
        if (hook) {
            const HarvestScope scope(this);
            guarded(errors, {}, hook);
        }
    }

    /// Starts the worker of a forked child. Without one, whoever logs does its work.
    void restart() noexcept {
        const std::lock_guard<std::mutex> lock(restarting_);
        if (mode_.load(std::memory_order_seq_cst) == Mode::nobody) {
            try {
                start();
            } catch (const std::exception&) {
                setMode(Mode::caller);
            }
        }
    }

    void setMode(Mode mode) noexcept { mode_.store(mode, std::memory_order_seq_cst); }

    bool endWorker(std::chrono::nanoseconds atMost) {
        mayLeave_.store(true, std::memory_order_release);
        intake_.wake();
        // A sink that waited would wait for itself, or for another one that waits for it.
        const bool mayWait = !isInHarvest();
        if (mayWait && worker_.join(atMost)) {
            return true;
        }
        if (mayWait) {
            harvester_.abandon();
            intake_.wake();
        }
        worker_.giveUp();
        return false;
    }

    /// A forked child that has not logged yet needs no worker any more.
    void forbidRestart() noexcept {
        const std::lock_guard<std::mutex> lock(restarting_);
        if (mode_.load(std::memory_order_seq_cst) == Mode::nobody) {
            setMode(Mode::closed);
        }
    }

    /// Controls are taken as long as somebody comes for them. A worker that was given up still
    /// does: of giving it up and its end, whichever comes second closes the list.
    void closeControls() noexcept {
        if (isClosing_.exchange(true, std::memory_order_acq_rel)) {
            controls_.close();
        }
    }

    static std::chrono::steady_clock::time_point soon() {
        return std::chrono::steady_clock::now() + std::chrono::milliseconds(5);
    }

    /// Writes what was logged and sent before, in order. Returns the watermark it has reached, and
    /// when it began: another thread may harvest, and change the member, as soon as this returns.
    Key harvest(std::chrono::steady_clock::time_point& begun) noexcept {
        const std::lock_guard<HarvestTurns> lock(harvesting_);
        const Key reached = harvestLocked();
        begun = harvester_.begun();
        return reached;
    }

    Key harvestLocked() noexcept {
        const HarvestScope scope(this);
        const std::uint64_t rescue = rescueWanted_.load(std::memory_order_acquire);
        const Key reached = harvester_.harvest();
        // Relaxed: only who harvests writes it.
        if (reached != 0 && rescueDone_.load(std::memory_order_relaxed) != rescue) {
            static_cast<void>(loggers_.flush());
            rescueDone_.store(rescue, std::memory_order_release);
        }
        return reached;
    }

    void work() {
        IdlePacing pacing(options_.pacing);
        Key last = 0;
        for (;;) {
            if (last == 0 && mayLeave_.load(std::memory_order_acquire)) {
                last = intake_.now();
            }
            if (last == 0) {
                harvesting_.letOthersGo();
            }
            const std::uint64_t before = harvester_.seen();
            std::chrono::steady_clock::time_point begun;
            const Key reached = harvest(begun);
            if (last != 0 && (reached > last || harvester_.isAbandoned())) {
                finish();
                closeControls();
                return;
            }
            rest(pacing.after(harvester_.seen() - before, begun));
        }
    }

    /// The last thing that a worker does: whatever held a sink keeps its lines, too.
    void finish() noexcept {
        const std::lock_guard<HarvestTurns> lock(harvesting_);
        const HarvestScope scope(this);
        harvester_.finish();
    }

    /// What was logged until now is written by the parent alone: the child starts with nothing. In
    /// between no other thread writes, so no sink's lock is held, and no sink holds back a text
    /// that both would write. A sink that forks has a child whose only thread goes on in the sink.
    /// A worker that was given up is not waited for. Two sinks that fork cannot wait for each
    /// other: in the child of each the other's back end has ended.
    bool stopForFork() noexcept override {
        if (HarvestScope::isInside(this) || harvester_.isAbandoned()) {
            return true;
        }
        isSettled_ = harvesting_.tryTakeUntil(soon(), [this] { intake_.wake(); });
        return isSettled_ || isInHarvest();
    }
    void goOn() noexcept override {
        if (std::exchange(isSettled_, false)) {
            harvesting_.unlock();
        }
    }
    void settleForFork() noexcept override {
        if (isSettled_) {
            harvestLocked();
            const HarvestScope scope(this);
            static_cast<void>(loggers_.flush());
            intake_.resign();
        }
    }
    void lockForFork() noexcept override {
        restarting_.lock();
        controls_.lock();
        loggers_.lock();
        intake_.beforeFork();
    }
    void afterForkInParent() noexcept override {
        intake_.afterForkInParent();
        unlockAfterFork();
    }
    void afterForkInChild() noexcept override {
        if (!isSettled_) {
            intake_.unlockInChild();
            unlockAfterFork();
            if (!HarvestScope::isInside(this)) {
                harvester_.abandon();
                intake_.close();
                setMode(Mode::closed);
            }
            return;
        }
        intake_.afterForkInChild();
        controls_.forget();
        if (worker_.isRunning()) {
            worker_.forget();
            if (!mayLeave_.load(std::memory_order_acquire)) {
                setMode(Mode::nobody);
            }
        }
        polling_.take();
        unlockAfterFork();
        harvester_.forgetAll();
        harvesting_.forgetOthers();
    }
    void unlockAfterFork() noexcept {
        loggers_.unlock();
        controls_.unlock();
        restarting_.unlock();
        goOn();
    }

    void beginRescue() noexcept override {
        rescueWanted_.fetch_add(1, std::memory_order_acq_rel);
        intake_.wake();
    }
    bool isRescued() const noexcept override {
        return mode_.load(std::memory_order_seq_cst) != Mode::worker || polling_.isMine() ||
               HarvestScope::isInside(this) ||
               rescueDone_.load(std::memory_order_acquire) ==
                   rescueWanted_.load(std::memory_order_acquire);
    }

    // What changes now and then.
    const backend_options options_;
    ControlList controls_;
    WorkerThread worker_;
    std::mutex restarting_;
    bool isSettled_ = false;  // for the fork() that is under way
    std::atomic<std::uint64_t> rescueWanted_{0};
    Polling<Engine> polling_{*this};
    std::atomic<bool> mayLeave_{false};
    std::atomic<bool> isClosing_{false};

    // What who harvests uses, under the mutex.
    alignas(cacheLineSize) HarvestTurns harvesting_;
    Harvester harvester_{intake_, loggers_, controls_, options_.notice_interval};
    std::atomic<std::uint64_t> rescueDone_{0};
};

}  // namespace sluice::log::detail
