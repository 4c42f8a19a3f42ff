#pragma once

#include <sluice/base/blocked_signals.hpp>
#include <sluice/base/platform.hpp>
#include <sluice/base/spin_lock.hpp>
#include <sluice/log/backend_options.hpp>
#include <sluice/log/detail/backend/backend_registry.hpp>
#include <sluice/log/detail/backend/batch_writer.hpp>
#include <sluice/log/detail/backend/frontend.hpp>
#include <sluice/wait/park.hpp>

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

#if SLUICE_HAS_POSIX
#include <csignal>
#include <pthread.h>
#endif

namespace sluice::log::detail {

/// Computes the worker's pause between two batches, according to `pacing_policy`.
///
/// With pacing_policy::park, the worker sleeps until a log call wakes it. At a high record rate,
/// the worker takes naps, because a wake-up for each record would cost more than the record. The
/// rate is high while the log is more than `flowStart` records ahead of one record per `flowGap`.
/// Linux makes each nap 50 microseconds longer.
class IdlePacing {
public:
    using TimePoint = std::chrono::steady_clock::time_point;
    using Rest = std::chrono::nanoseconds;

    static constexpr Rest none{0};
    static constexpr Rest untilWoken = Rest::max();

    static constexpr Rest flowGap = std::chrono::microseconds(50);
    static constexpr std::uint64_t flowStart = 32;
    /// After a batch of this many records or more, the worker does not pause.
    static constexpr std::uint64_t large = 512;
    static constexpr Rest shortestNap = std::chrono::microseconds(15);
    static constexpr Rest longestNap = 32 * shortestNap;

    explicit IdlePacing(pacing_policy policy) noexcept : policy_(policy) {}

    /// Returns the pause after a batch that began at `now` and wrote `delivered` records.
    Rest after(std::uint64_t delivered, TimePoint now) noexcept {
        if (policy_ == pacing_policy::spin) {
            return none;
        }
        if (policy_ == pacing_policy::nap) {
            nap_ = delivered == 0 ? std::min(2 * nap_, longestNap) : shortestNap;
            return delivered < large ? nap_ : none;
        }
        const auto counted = static_cast<Rest::rep>(std::min(delivered, 2 * flowStart));
        flowUntil_ = std::min(std::max(flowUntil_, now) + counted * flowGap,
                              now + Rest::rep{2 * flowStart} * flowGap);
        if (delivered == 0) {
            return untilWoken;
        }
        if (delivered >= large) {
            return none;
        }
        return flowUntil_ - now > Rest::rep{flowStart} * flowGap ? shortestNap : untilWoken;
    }

private:
    const pacing_policy policy_;
    Rest nap_ = shortestNap;
    /// The time at which all records so far would have arrived at a rate of one per `flowGap`.
    TimePoint flowUntil_{};
};

/// A named thread that can be joined with a timeout or detached. Not thread-safe.
class WorkerThread {
public:
    ~WorkerThread() { giveUp(); }

    /// Runs body(errors) on a new thread. The WorkerThread and objects used by `body` must outlive
    /// the thread, even after giveUp(). Throws std::system_error if no thread can start.
    template <class Body>
    void start(const backend_options& options, Body body) {
        std::promise<void> end;
        end_ = end.get_future();
        // Blocks the worker's signals: a handler that calls exit() would wait for its own thread.
        const sluice::detail::BlockedSignals inherited;
#if SLUICE_HAS_POSIX
        callersSignals_ = inherited.before();
#elif defined(_WIN32)
        sluice::detail::windows::keepLoaded();
#endif
        thread_ = std::make_unique<std::thread>(
            [this, &options, end = std::move(end), run = std::move(body)]() mutable {
                current_ = this;
                const ErrorChannel errors(options.thread_name, &noHandler);
#if defined(__linux__)
                pthread_setname_np(pthread_self(), options.thread_name.substr(0, 15).c_str());
#elif defined(__APPLE__)
                pthread_setname_np(options.thread_name.substr(0, 63).c_str());
#endif
                run(errors);
                { const Body last = std::move(run); }  // destroyed before join() returns
                end.set_value();
            });
    }

    bool isRunning() const noexcept { return thread_ != nullptr; }

    /// Returns false on timeout.
    bool join(std::chrono::nanoseconds atMost) {
        if (thread_ == nullptr) {
            return true;
        }
#if defined(_WIN32)
        if (sluice::detail::windows::hasEndedThreads()) {
            return false;
        }
#endif
        if (end_.wait_until(deadlineAfter<std::chrono::steady_clock>(atMost)) !=
            std::future_status::ready) {
            return false;
        }
        thread_->join();
        thread_.reset();
        return true;
    }

    void giveUp() noexcept {
        if (thread_ != nullptr) {
            thread_->detach();
            thread_.reset();
        }
    }

    /// On a worker, restores the signal mask of the thread that called start(). Call it in a forked
    /// child: a program that a sink starts by fork() and exec() must not inherit blocked signals.
    static void unblockSignals() noexcept {
#if SLUICE_HAS_POSIX
        if (current_ != nullptr) {
            pthread_sigmask(SIG_SETMASK, &current_->callersSignals_, nullptr);
        }
#endif
    }

    /// Leaks thread_ in a forked child, because destroying a joinable std::thread ends the program.
    void forget() noexcept { static_cast<void>(thread_.release()); }

private:
#if SLUICE_HAS_POSIX
    sigset_t callersSignals_{};  ///< blocked signals of the thread that called start()
#endif
    /// The WorkerThread that started the calling thread, or null.
    inline static thread_local const WorkerThread* current_ = nullptr;

    inline static const spdlog::err_handler noHandler{};

    std::unique_ptr<std::thread> thread_;
    std::future<void> end_;  ///< ready after the thread has destroyed `body`
};

/// The implementation of `backend`: lanes, worker thread, shutdown, fork and crash handling.
///
///     Frontend: log calls -> lanes; flushes and ends of loggers -> action list
///     BatchWriter: lanes and action list, in stamp order -> sinks
///
/// A mutex ensures that one thread at a time writes a batch: the worker, the polling thread of a
/// manual back end, or, after leave(), each logging thread.
///
/// Thread safety: any thread may call any member, unless the member says otherwise.
class BackendCore final : public Frontend,
                          public std::enable_shared_from_this<BackendCore>,
                          private RegistryMember {
    using Clock = std::chrono::steady_clock;
    using Writing = BatchWriter::Writing;
    using Guard = BatchLock::Guard;

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
        ensureWritten();
        return true;
    }

    [[nodiscard]] bool wantFlush(LoggerState& logger) noexcept override {
        if (mode() == Mode::closed) {
            return false;
        }
        writer_.wantFlush(logger, queue_.now());
        queue_.wake();
        ensureWritten();
        return true;
    }

    void awaitFlush() noexcept override {
        try {
            static_cast<void>(options_.flush_on_waits && flushAndWait(no_limit));
        } catch (const std::exception&) {
            return;  // out of memory: does not wait for the flush, which still happens
        }
    }

    const std::function<spdlog::log_clock::time_point()>* ownClock() const noexcept override {
        return options_.clock ? &options_.clock : nullptr;
    }

    void retire(LoggerState& logger) noexcept override { writer_.retire(logger); }
    bool isAbandoned() const noexcept override { return writer_.isAbandoned(); }

    const backend_options& options() const noexcept { return options_; }
    const BatchWriter& writer() const noexcept { return writer_; }

    /// Starts the worker. Throws std::system_error if no thread can be started. Only one thread at
    /// a time may call start(), leave() and close().
    void start() {
        worker_.start(options_, [core = shared_from_this()](const ErrorChannel& errors) {
            core->runHook(core->options_.on_thread_start, errors);
            core->work();
            core->runHook(core->options_.on_thread_stop, errors);
        });
        setMode(Mode::worker);
    }

    /// Implements backend::poll() and makes the caller the polling thread.
    std::size_t poll() noexcept {
        if (!options_.manual || isInBatch()) {
            return 0;
        }
        takePolling();
        return writeCounted();
    }

    /// Ends the worker after all records are written. After leave(), each logging thread writes its
    /// own records. On timeout, returns false, rejects new records, and lets the worker end later.
    bool leave(std::chrono::nanoseconds atMost) {
        setMode(Mode::caller);
        if (endWorker(atMost)) {
            ensureWritten();  // on_thread_stop of the worker may have logged
            return true;
        }
        queue_.close();
        setMode(Mode::closed);
        closeActions();
        return false;
    }

    /// Implements backend::shutdown(). For a manual back end, the caller writes the remaining
    /// records. Inside a batch, returns false, and close() must be called again after the batch.
    bool close(std::chrono::nanoseconds atMost) {
        queue_.close();
        if (writer_.isAbandoned()) {
            return false;
        }
        if (options_.manual) {
            setMode(Mode::closed);
            return !isInBatch() && writeRest(deadlineAfter<Clock>(atMost)) && writer_.isFlushed();
        }
        if (mode() == Mode::none) {
            // In a forked child, a log call starts the worker under this lock if mode() is none.
            const Guard guard = pauseWorker(Clock::time_point::max());
            if (mode() == Mode::none) {
                setMode(Mode::closed);
            }
        }
        const bool hadWorker = worker_.isRunning();
        const bool isOver = endWorker(atMost);
        setMode(Mode::closed);
        if (isOver && !hadWorker) {
            finish();
        }
        if (isOver) {
            actions_.close();  // needed if no worker has closed the list, as in a forked child
        } else {
            closeActions();
        }
        return isOver && writer_.isFlushed();
    }

    /// Writes all records at program exit, within `drain_timeout`. Cancels the caller's post if
    /// exit() interrupted it. Makes the caller the polling thread: the former one may have ended.
    void writeAll() {
        queue_.withdrawOwnPost();
        takePolling();
        flushAndWait(options_.drain_timeout);
    }

    /// Implements backend::flush_wait().
    bool flushAndWait(std::chrono::nanoseconds atMost) {
        const auto end = deadlineAfter<Clock>(atMost);
        auto flush = std::make_unique<BatchWriter::FlushSinks>(writer_);
        std::future<bool> result = flush->result();
        std::unique_ptr<OrderedAction> action = std::move(flush);
        if (isInBatch() || writer_.isAbandoned() || !send(action)) {
            return false;
        }
        // In Mode::caller and on a polling thread, the caller must write the records itself. The
        // caller retries, because an unfinished post may delay the records of later posts.
        while (mode() == Mode::caller || isPollingThread()) {
            if (isPollingThread()) {
                writeCounted(end);
            }
            if (isReady(result, std::min(end, soon()))) {
                break;
            }
            if (Clock::now() >= end) {
                return false;
            }
            ensureWritten();
        }
        return isReady(result, end) && result.get();
    }

private:
    // Happens-before edges (proof: docs/algorithms/ordered-log.md):
    //   E1 mode: setMode <-> ensureWritten.
    //   E2 leave: endWorker -> work.
    //   E3 rescue: beginRescue -> isRescued.

    static RecordQueueOptions queueOptions(const backend_options& options, BackendCore* core) {
        RecordQueueOptions result;
        if (options.manual) {
            result.pollHere = [core] { return core->makeRoom(); };
        }
        result.laneMessages = options.queue_size;
        result.laneBytes = options.bytes_of_room();
        return result;
    }

    void setMode(Mode next) noexcept { mode_.store(next, std::memory_order_seq_cst); }  // E1 mode

    static bool isReady(std::future<bool>& result, Clock::time_point until) {
        return result.wait_until(until) == std::future_status::ready;
    }
    static Clock::time_point soon() { return Clock::now() + std::chrono::milliseconds(5); }

    // ---- Batches

    /// Makes the worker pause after its current chunk of records, and locks batches_. With `clean`,
    /// also waits until the sinks are flushed. On timeout (`end`), returns a guard without a lock.
    Guard pauseWorker(Clock::time_point end, bool clean = false) {
        batches_.ask();
        queue_.wake();
        Backoff backoff(std::chrono::microseconds(50));
        Guard guard = batches_.tryLock();
        while ((!guard || (clean && !writer_.isClean())) && Clock::now() < end) {
            guard = {};
            backoff.wait();
            guard = batches_.tryLock();
        }
        batches_.stopAsking();
        return clean && guard && !writer_.isClean() ? Guard() : std::move(guard);
    }

    Stamp writeBatch(Guard& guard, Writing writing,
                     Clock::time_point end = Clock::time_point::max()) noexcept {
        const BatchScope scope(this);
        const std::uint64_t rescue = rescueWanted_.load(std::memory_order_acquire);  // E3 rescue
        const Stamp reached = writer_.writeBatch(guard, writing, end);
        // Relaxed: `guard` holds the lock.
        if (reached != 0 && rescueDone_.load(std::memory_order_relaxed) != rescue) {
            static_cast<void>(loggers_.flush());
            rescueDone_.store(rescue, std::memory_order_release);  // E3 rescue
        }
        return reached;
    }

    void finish() noexcept {
        const Guard guard = batches_.lock();
        const BatchScope scope(this);
        writer_.finish();
    }

    void writeHere() noexcept override {
        if (mode() == Mode::closed) {
            return;
        }
        Guard guard = pauseWorker(Clock::time_point::max());
        if (mode() == Mode::none) {
            restart();
        }
        if (mode() == Mode::caller) {
            writeBatch(guard, Writing::always);
        }
    }

    // ---- The worker

    /// The worker's loop. After endWorker(), work() returns when all earlier records are written.
    void work() {
        IdlePacing pacing(options_.pacing);
        Stamp last = 0;
        for (;;) {
            if (last == 0 && mayLeave_.load(std::memory_order_acquire)) {  // E2 leave
                last = queue_.now();
            }
            Guard guard = batches_.lock();
            const std::uint64_t before = writer_.seen();
            const Stamp reached = writeBatch(guard, Writing::whenDue);
            const IdlePacing::Rest rest = pacing.after(writer_.seen() - before, writer_.begun());
            if (last != 0 && (reached > last || writer_.isAbandoned())) {
                guard.unlock();
                finish();
                closeActions();
                return;
            }
            if (rest == IdlePacing::untilWoken) {
                queue_.waitForWork(Clock::now() + std::chrono::seconds(1));
                continue;
            }
            queue_.expectNoWake();
            guard.unlock();
            if (rest != IdlePacing::none) {
                std::this_thread::sleep_for(rest);
            }
        }
    }

    /// Runs a hook inside a BatchScope, so that log calls in the hook do not wait for the worker.
    void runHook(const std::function<void()>& hook, const ErrorChannel& errors) noexcept {
        if (hook) {
            const BatchScope scope(this);
            guarded(errors, {}, hook);
        }
    }

    bool endWorker(std::chrono::nanoseconds atMost) {
        mayLeave_.store(true, std::memory_order_release);  // E2 leave
        queue_.wake();
        // Inside a batch, does not wait: a sink could wait for itself, or two sinks for each other.
        const bool mayWait = !isInBatch();
        if (mayWait && worker_.join(atMost)) {
            return true;
        }
        if (mayWait) {
            writer_.abandon();
            queue_.wake();
        }
        worker_.giveUp();
        return false;
    }

    /// Called by the ending worker and by the thread that gave up waiting for the worker. The later
    /// of both calls closes actions_, because the worker runs actions until its own call.
    void closeActions() noexcept {
        if (isClosing_.exchange(true, std::memory_order_acq_rel)) {  // orders the two calls
            actions_.close();
        }
    }

    /// Starts the worker in a forked child; on failure, each logging thread writes its own records.
    void restart() noexcept {
        try {
            start();
        } catch (const std::exception&) {
            setMode(Mode::caller);
        }
    }

    // ---- Manual back ends

    // Relaxed, both: value only.
    void takePolling() noexcept {
        pollingThread_.store(std::this_thread::get_id(), std::memory_order_relaxed);
    }
    bool isPollingThread() const noexcept {
        return options_.manual &&
               pollingThread_.load(std::memory_order_relaxed) == std::this_thread::get_id() &&
               mode() == Mode::worker;
    }

    std::size_t writeCounted(Clock::time_point end = Clock::time_point::max()) noexcept {
        Guard guard = batches_.lock();
        const std::uint64_t before = writer_.seen();
        writeBatch(guard, Writing::always, end);
        return static_cast<std::size_t>(writer_.seen() - before);
    }

    /// On the polling thread, writes a batch and returns true, because the polling thread cannot
    /// wait for itself. On any other thread, returns false.
    bool makeRoom() noexcept {
        if (!isPollingThread()) {
            return false;
        }
        if (writeCounted() == 0) {
            nap();  // an unfinished post of another thread may delay the records
        }
        return true;
    }

    /// Writes the records of the closed queue and flushes the sinks. Returns false on timeout.
    bool writeRest(Clock::time_point end) noexcept {
        const Stamp last = queue_.now();
        for (;;) {
            const Stamp reached = [&] {
                Guard guard = batches_.lock();
                return writeBatch(guard, Writing::always, end);
            }();
            if (reached > last) {
                finish();
                actions_.close();
                return true;
            }
            if (Clock::now() >= end) {
                writer_.abandon();
                actions_.close();
                return false;
            }
            nap();
        }
    }
    static void nap() { std::this_thread::sleep_for(std::chrono::microseconds(20)); }

    // ---- Fork: only the parent writes records from before fork(); the child discards them.
    // The forking thread calls no sink, because the thread may hold a lock that a sink takes. If a
    // sink forks, the child's only thread continues in that sink.

    void hold(Clock::time_point end) noexcept override {
        const Mode before = mode();
        if (before != Mode::closed && !BatchScope::isInside(this) && !writer_.isAbandoned()) {
            forkGuard_ = pauseWorker(end, before == Mode::worker && !options_.manual);
        }
    }

    void lockLists() noexcept override {
        actions_.lock();
        loggers_.lock();
        queue_.lock();
    }

    void afterFork(bool isChild) noexcept override {
        const bool isHeld = static_cast<bool>(forkGuard_);
        if (isChild && isHeld) {
            queue_.resetInChild();
            actions_.forget();
        }
        queue_.unlock();
        loggers_.unlock();
        actions_.unlock();
        if (isChild) {
            WorkerThread::unblockSignals();
            if (!BatchScope::isInside(this)) {
                resetInChild(isHeld);
            }
        }
        forkGuard_ = {};
    }

    /// Ends the child's back end if another thread may have been in a sink at fork() (`!isHeld`).
    void resetInChild(bool isHeld) noexcept {
        const bool hadWorker = worker_.isRunning();
        worker_.forget();
        takePolling();
        batches_.resetInChild();
        if (!isHeld) {
            writer_.abandon();
            queue_.close();
            setMode(Mode::closed);
            return;
        }
        writer_.resetInChild();
        if (hadWorker && !mayLeave_.load(std::memory_order_acquire)) {  // E2 leave
            setMode(Mode::none);
        }
    }

    // ---- New formatters

    bool setFormatter(const spdlog::sinks::sink& sink,
                      std::unique_ptr<spdlog::formatter>& formatter) override {
        auto [owned, errors] = loggers_.findUser(sink);
        if (owned == nullptr) {
            return false;
        }
        auto change = std::make_unique<FormatterChange>(std::move(owned), std::move(errors),
                                                        std::move(formatter));
        FormatterChange& kept = *change;
        std::unique_ptr<OrderedAction> action = std::move(change);
        if (actions_.push(action, [this]() noexcept { return queue_.now(); })) {
            queue_.wake();  // if there is no worker, the next log call runs the action
            return true;
        }
        formatter = std::move(kept.formatter);
        return false;
    }

    // ---- Crash

    void beginRescue() noexcept override {
        rescueWanted_.fetch_add(1, std::memory_order_acq_rel);  // E3 rescue
        queue_.wake();
    }
    bool isRescued() const noexcept override {
        return mode() != Mode::worker || isPollingThread() || BatchScope::isInside(this) ||
               rescueDone_.load(std::memory_order_acquire) ==  // E3 rescue
                   rescueWanted_.load(std::memory_order_acquire);
    }

    // The fields below are rarely written.
    const backend_options options_;
    ActionList actions_;
    WorkerThread worker_;
    Guard forkGuard_;  ///< holds batches_ during a fork()
    std::atomic<std::thread::id> pollingThread_{std::this_thread::get_id()};
    std::atomic<std::uint64_t> rescueWanted_{0};  ///< number of beginRescue() calls
    std::atomic<bool> mayLeave_{false};           ///< endWorker() was called
    std::atomic<bool> isClosing_{false};          ///< closeActions() was called once

    // Written in each batch. batches_ guards writer_ and the members of queue_ under "Back end".
    alignas(cacheLineSize) BatchLock batches_;
    BatchWriter writer_{batches_, queue_, loggers_, actions_, options_};
    std::atomic<std::uint64_t> rescueDone_{0};  ///< rescueWanted_ when the last full batch began
};

}  // namespace sluice::log::detail
