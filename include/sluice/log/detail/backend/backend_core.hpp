#pragma once

#include <sluice/base/cache_line.hpp>
#include <sluice/log/backend_options.hpp>
#include <sluice/log/detail/backend/action_list.hpp>
#include <sluice/log/detail/backend/backend_registry.hpp>
#include <sluice/log/detail/backend/frontend.hpp>
#include <sluice/log/detail/backend/harvest_mutex.hpp>
#include <sluice/log/detail/backend/harvest_scope.hpp>
#include <sluice/log/detail/backend/harvester.hpp>
#include <sluice/log/detail/backend/idle_pacing.hpp>
#include <sluice/log/detail/backend/manual_harvests.hpp>
#include <sluice/log/detail/backend/worker_thread.hpp>
#include <sluice/wait/event_count.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

namespace sluice::log::detail {

/// A back end: its lanes, its thread and its end. `backend` adds the statistics and the checks of
/// the options.
///
///     Frontend: log calls -> the lanes; flushes and the ends of loggers -> the list of actions
///     Harvester: earlier records and actions, in the order of the stamps -> the sinks
///
/// A manual back end has no worker. The polling thread harvests, in poll().
///
/// Threads: any thread may call any member, unless the member says otherwise. A mutex guards each
/// harvest. These threads harvest:
///
/// - the worker, while there is one;
/// - each thread that logs, after the worker has left;
/// - the forking thread, around fork().
///
/// Errors: the error handler of a logger gets the errors of the logger's sinks.
class BackendCore final : public Frontend,
                          public std::enable_shared_from_this<BackendCore>,
                          private RegistryMember {
public:
    explicit BackendCore(const backend_options& options)
        : Frontend(queueOptions(options, this)), options_(options) {
        BackendRegistry::instance().add(*this);
    }
    ~BackendCore() {
        BackendRegistry::instance().remove(*this);
        actions_.close();
    }

    [[nodiscard]] bool send(std::unique_ptr<OrderedAction>& action) noexcept override {
        if (!actions_.push(action, [this]() noexcept { return queue_.now(); })) {
            return false;
        }
        queue_.wake();
        ensureHarvest();
        return true;
    }

    [[nodiscard]] bool wantFlush(LoggerState& logger) noexcept override {
        if (mode_.load(std::memory_order_seq_cst) == Mode::closed) {
            return false;
        }
        harvester_.wantFlush(logger, queue_.now());
        queue_.wake();
        ensureHarvest();
        return true;
    }

    void retire(LoggerState& logger) noexcept override {
        harvester_.tellOfDrops(logger);
        harvester_.forget(logger);
    }

    const backend_options& options() const noexcept { return options_; }
    const Harvester& harvester() const noexcept { return harvester_; }

    /// Starts the worker. Throws std::system_error if the system refuses a thread. One thread at a
    /// time may call start(), leave() and close().
    void start() {
        setMode(Mode::worker);
        worker_.start(options_, [core = shared_from_this()](const ErrorChannel& errors) {
            core->runHook(core->options_.on_thread_start, errors);
            core->work();
            core->runHook(core->options_.on_thread_stop, errors);
        });
    }

    /// For backend::poll().
    std::size_t poll() noexcept { return options_.manual ? manual_.poll() : 0; }

    /// Ends the worker after it has written all records. From now on each thread that logs writes
    /// its own records. False if `atMost` passed first: then all later records are refused, and the
    /// worker ends when it can.
    bool leave(std::chrono::nanoseconds atMost) {
        setMode(Mode::caller);
        if (endWorker(atMost)) {
            ensureHarvest();  // on_thread_stop of the worker may have logged
            return true;
        }
        queue_.close();
        setMode(Mode::closed);
        closeControls();
        return false;
    }

    /// For backend::shutdown(). Ends the worker after it has written all records.
    bool close(std::chrono::nanoseconds atMost) {
        queue_.close();
        forbidRestart();
        if (options_.manual) {
            return manual_.close(deadlineAfter<std::chrono::steady_clock>(atMost));
        }
        const bool hadWorker = worker_.isRunning();
        const bool isOver = endWorker(atMost);
        setMode(Mode::closed);
        if (isOver && !hadWorker) {
            finish();
        }
        if (isOver) {
            actions_.close();  // also without a worker, as in the child of a fork
        } else {
            closeControls();
        }
        return isOver && harvester_.isFlushed();
    }

    /// For backend::flush_wait().
    bool flushAndWait(std::chrono::nanoseconds atMost) {
        const auto end = deadlineAfter<std::chrono::steady_clock>(atMost);
        auto flush = std::make_unique<Harvester::FlushSinks>(harvester_);
        std::future<bool> result = flush->result();
        std::unique_ptr<OrderedAction> action = std::move(flush);
        if (isInHarvest() || harvester_.isAbandoned() || !send(action)) {
            return false;
        }
        // In these modes no other thread harvests. The first attempt may have left records, because
        // a thread was inside a log call.
        while (mode_.load(std::memory_order_relaxed) == Mode::caller || manual_.isMine()) {
            if (manual_.isMine()) {
                manual_.harvestOnce();
            }
            if (isReady(result, std::min(end, soon()))) {
                break;
            }
            if (std::chrono::steady_clock::now() >= end) {
                return false;
            }
            ensureHarvest();
        }
        return isReady(result, end) && result.get();
    }

private:
    using Guard = HarvestMutex::Guard;
    friend class ManualHarvests<BackendCore>;

    static RecordQueueOptions queueOptions(const backend_options& options, BackendCore* core) {
        RecordQueueOptions result;
        if (options.manual) {
            result.roomMaker = {&ManualHarvests<BackendCore>::makeRoom, &core->manual_};
        }
        result.laneMessages = options.queue_size;
        result.laneBytes = options.bytes_of_room();
        result.maxHold = options.max_hold;
        return result;
    }

    void harvestHere() noexcept override {
        if (mode_.load(std::memory_order_seq_cst) == Mode::nobody) {
            restart();
        }
        if (mode_.load(std::memory_order_seq_cst) == Mode::caller) {
            const Guard guard = harvesting_.lockFirst([this] { queue_.wake(); });
            harvest(guard, Harvester::Writing::atOnce);
            queue_.resign();
        }
    }

    /// Called by the worker: rests for this time, or until a thread has work for it or wants to
    /// harvest.
    void rest(IdlePacing::Rest length) {
        if (length == IdlePacing::untilWoken) {
            const Guard guard = harvesting_.lock();
            queue_.waitForWork(std::chrono::steady_clock::now() + std::chrono::seconds(1));
        } else {
            restUnwoken(length);
        }
    }

    /// Called by the worker: rests for this time. No thread wakes it, so log calls save a fence.
    void restUnwoken(IdlePacing::Rest length) {
        {
            const Guard guard = harvesting_.lock();
            queue_.expectNoWake();
        }
        if (length != IdlePacing::none) {
            std::this_thread::sleep_for(length);
        }
    }

    /// Runs a hook of the options. It counts as a harvest, so log calls of the hook do not wait for
    /// their own thread.
    void runHook(const std::function<void()>& hook, const ErrorChannel& errors) noexcept {
        if (hook) {
            const HarvestScope scope(this);
            guarded(errors, {}, hook);
        }
    }

    /// Starts the worker in a forked child. If the system refuses a thread, each thread that logs
    /// harvests.
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
        queue_.wake();
        // A sink cannot wait for itself, and two sinks could wait for each other.
        const bool mayWait = !isInHarvest();
        if (mayWait && worker_.join(atMost)) {
            return true;
        }
        if (mayWait) {
            harvester_.abandon();
            queue_.wake();
        }
        worker_.giveUp();
        return false;
    }

    /// Makes sure that a forked child which has not logged yet starts no worker.
    void forbidRestart() noexcept {
        const std::lock_guard<std::mutex> lock(restarting_);
        if (mode_.load(std::memory_order_seq_cst) == Mode::nobody) {
            setMode(Mode::closed);
        }
    }

    /// Closes the list of actions when the worker and the thread that gave the worker up have both
    /// called it. Until then a worker that was given up still takes actions.
    void closeControls() noexcept {
        if (isClosing_.exchange(true, std::memory_order_acq_rel)) {
            actions_.close();
        }
    }

    static bool isReady(std::future<bool>& result, std::chrono::steady_clock::time_point until) {
        return result.wait_until(until) == std::future_status::ready;
    }

    static std::chrono::steady_clock::time_point soon() {
        return std::chrono::steady_clock::now() + std::chrono::milliseconds(5);
    }

    /// Writes the earlier records and runs the earlier actions, in order. Returns the watermark.
    /// Sets `begun` to the start time of this harvest. The caller cannot ask harvester_ afterwards,
    /// because another thread may have harvested again.
    Stamp harvest(std::chrono::steady_clock::time_point& begun,
                  Harvester::Writing writing) noexcept {
        const Guard guard = harvesting_.lock();
        const Stamp reached = harvest(guard, writing);
        begun = harvester_.begun();
        return reached;
    }

    Stamp harvest(const Guard& /*guard*/, Harvester::Writing writing) noexcept {
        const HarvestScope scope(this);
        const std::uint64_t rescue = rescueWanted_.load(std::memory_order_acquire);
        const Stamp reached = harvester_.harvest(writing);
        // Relaxed: only harvests write it, and the mutex orders them.
        if (reached != 0 && rescueDone_.load(std::memory_order_relaxed) != rescue) {
            static_cast<void>(loggers_.flush());
            rescueDone_.store(rescue, std::memory_order_release);
        }
        return reached;
    }

    /// The loop of the worker. `last` is 0, or the time after which the worker no longer needs to
    /// harvest.
    void work() {
        IdlePacing pacing(options_.pacing);
        Stamp last = 0;
        for (;;) {
            if (last == 0 && mayLeave_.load(std::memory_order_acquire)) {
                last = queue_.now();
            }
            if (last == 0) {
                harvesting_.letOthersGo();
            }
            const std::uint64_t before = harvester_.seen();
            std::chrono::steady_clock::time_point begun;
            const Stamp reached = harvest(begun, Harvester::Writing::whenDue);
            if (last != 0 && (reached > last || harvester_.isAbandoned())) {
                finish();
                closeControls();
                return;
            }
            rest(pacing.after(harvester_.seen() - before, begun));
        }
    }

    /// The last step of a worker: flushes all sinks.
    void finish() noexcept {
        const Guard guard = harvesting_.lock();
        const HarvestScope scope(this);
        harvester_.finish();
    }

    /// The child begins without records: the parent alone writes the records up to the fork. During
    /// the fork only the forking thread writes. So in the child no lock of a sink is held, and no
    /// sink has text in a buffer that both processes would write.
    ///
    /// Special cases: if a sink forks, the only thread of the child continues in the sink. If a
    /// worker was given up, the fork does not wait for it. If two sinks of different back ends fork
    /// at once, neither waits for the other: in each child the back end of the other sink has
    /// ended.
    bool stopForFork() noexcept override {
        if (HarvestScope::isInside(this) || harvester_.isAbandoned()) {
            return true;
        }
        forkGuard_ = harvesting_.tryLockUntil(soon(), [this] { queue_.wake(); });
        return forkGuard_ || isInHarvest();
    }
    void goOn() noexcept override { forkGuard_ = {}; }
    void settleForFork() noexcept override {
        if (forkGuard_) {
            harvest(forkGuard_, Harvester::Writing::atOnce);
            const HarvestScope scope(this);
            static_cast<void>(loggers_.flush());
            queue_.resign();
        }
    }
    void lockForFork() noexcept override {
        restarting_.lock();
        actions_.lock();
        loggers_.lock();
        queue_.beforeFork();
    }
    void afterForkInParent() noexcept override {
        queue_.afterForkInParent();
        unlockAfterFork();
    }
    void afterForkInChild() noexcept override {
        if (!forkGuard_) {
            queue_.unlockInChild();
            unlockAfterFork();
            if (!HarvestScope::isInside(this)) {
                harvester_.abandon();
                queue_.close();
                setMode(Mode::closed);
            }
            return;
        }
        queue_.afterForkInChild();
        actions_.forget();
        if (worker_.isRunning()) {
            worker_.forget();
            if (!mayLeave_.load(std::memory_order_acquire)) {
                setMode(Mode::nobody);
            }
        }
        manual_.take();
        unlockAfterFork();
        harvester_.forgetAll();
        harvesting_.forgetOthers();
    }
    void unlockAfterFork() noexcept {
        loggers_.unlock();
        actions_.unlock();
        restarting_.unlock();
        goOn();
    }

    void beginRescue() noexcept override {
        rescueWanted_.fetch_add(1, std::memory_order_acq_rel);
        queue_.wake();
    }
    bool isRescued() const noexcept override {
        return mode_.load(std::memory_order_seq_cst) != Mode::worker || manual_.isMine() ||
               HarvestScope::isInside(this) ||
               rescueDone_.load(std::memory_order_acquire) ==
                   rescueWanted_.load(std::memory_order_acquire);
    }

    // These fields are seldom written.
    const backend_options options_;
    ActionList actions_;
    WorkerThread worker_;
    std::mutex restarting_;  ///< guards the start of the worker in a forked child
    Guard forkGuard_;  ///< guard of harvesting_ during a fork(); written by the forking thread
    /// Number of beginRescue() calls; written by crash handlers.
    std::atomic<std::uint64_t> rescueWanted_{0};
    ManualHarvests<BackendCore> manual_{*this};
    std::atomic<bool> mayLeave_{false};   ///< the worker may end when it has written all records
    std::atomic<bool> isClosing_{false};  ///< whether closeControls() was called once

    // Written in each harvest. harvesting_ guards harvester_.
    alignas(cacheLineSize) HarvestMutex harvesting_;
    Harvester harvester_{queue_, loggers_, actions_, options_.notice_interval,
                         options_.write_interval};
    /// The value of rescueWanted_ that the last harvest has fulfilled.
    std::atomic<std::uint64_t> rescueDone_{0};
};

}  // namespace sluice::log::detail
