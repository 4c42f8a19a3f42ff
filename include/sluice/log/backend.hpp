#pragma once

/// \file
/// backend: the thread that writes what loggers log, and the lanes between them.
///
/// Purpose: what spdlog's thread pool is to its asynchronous loggers, with a lane for each logging
/// thread, so that threads do not wait for each other, and with records written in the order in
/// which they were logged.
///
/// Most programs need only one, which `async_factory`, `init()` and their like make. Make one of
/// your own where some loggers should not wait for the sinks of others: back ends share nothing.
///
/// Order: lines leave in the order of the log calls, across all threads. If one call returned
/// before another began, its line is first. The price: a thread that was interrupted for some time
/// within the few nanoseconds in which its record is stamped holds up all lines of this back end,
/// until it goes on; `backend_options::max_hold` limits it.
///
/// Who may call what: any thread anything. Several may log while one destroys the back end.
///
/// The end: shutdown(), and the destructor, take nothing more, write everything taken before, and
/// end the thread. Loggers may live on: what they log is refused, counted, and reported through
/// their error handlers. A sink may end its own back end, or another; then nothing is waited for.
///
/// Errors: what cannot be set up throws spdlog_ex.
///
/// Tests: tests/unit/log/backend_test.cpp.

#include <sluice/log/backend_options.hpp>
#include <sluice/log/detail/backend/engine.hpp>
#include <sluice/log/statistics.hpp>

#include <spdlog/common.h>

#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <system_error>
#include <utility>

namespace sluice::log {

namespace detail {
struct Access;
}

class backend {
public:
    /// Starts the thread, unless the options say `manual`.
    explicit backend(const backend_options& options = {}) : engine_(make(options)) {
        try {
            if (!options.manual) {
                engine_->start();
            }
        } catch (const std::system_error& error) {
            spdlog::throw_spdlog_ex(std::string("sluice::log::backend: no thread: ") +
                                    error.what());
        }
    }
    backend(const backend&) = delete;
    backend& operator=(const backend&) = delete;

    /// As shutdown(options.drain_timeout).
    ~backend() { shutdown(engine_->options().drain_timeout); }

    /// For a back end without a thread: writes what was logged before, and returns how many records
    /// the sinks were given. Call it regularly from one thread, the polling thread. A program may
    /// change the polling thread: it is the thread that called poll() last. Before the first call
    /// it is the thread that made the back end.
    ///
    /// - When a lane is full and the policy is `block`, a log call of the polling thread calls the
    ///   sinks itself. A log call of another thread waits for poll().
    /// - flush_wait() of the polling thread writes. In another thread it waits for poll().
    /// - shutdown() and the destructor write on the calling thread. A time limit ends them between
    ///   two harvests, not within a sink.
    /// - Returns 0 in a sink, a formatter or an error handler, and if the back end has a thread.
    std::size_t poll() noexcept { return engine_->poll(); }

    /// Waits until everything logged before, by whatever thread, is written, and the sinks of all
    /// loggers are flushed. False when a sink could not be flushed, and when a sink has lost
    /// records since the last flush_wait(). False when `timeout` passed first, when the back end
    /// has ended, and at once when it is called from a sink or an error handler, which would wait
    /// for itself.
    bool flush_wait(std::chrono::nanoseconds timeout = no_limit) {
        return engine_->flushAndWait(timeout);
    }

    /// Takes no more records and waits until those taken are written and the sinks are flushed.
    /// False when `timeout` passed first, and what is left then is not written but counted. False,
    /// too, when flush_wait() would say so of the sinks. From a sink or an error handler it returns
    /// false at once, and the rest is written all the same. A second call does nothing.
    bool shutdown(std::chrono::nanoseconds timeout = no_limit) {
        const std::unique_lock<std::mutex> lock = lockToEnd();
        if (lock && !isEnded_) {
            isEnded_ = true;
            isComplete_ = engine_->close(timeout);
        }
        return lock && isComplete_;
    }

    /// Records that were overrun, and those that were discarded, since the last reset. Exact,
    /// whoever logs meanwhile.
    std::size_t overrun_counter() const { return engine_->records().overrun(); }
    std::size_t discard_counter() const { return engine_->records().discarded(); }
    void reset_overrun_counter() { engine_->records().resetOverrun(); }
    void reset_discard_counter() { engine_->records().resetDiscarded(); }

    /// Records that came after the end.
    std::size_t refused_counter() const { return engine_->refused(); }

    /// Records taken and not yet written, in all lanes. After a shutdown() that was not in time:
    /// what it has left.
    std::size_t queue_size() const { return engine_->records().statistics().messages; }

    /// All numbers, and those of each thread that has logged and is still there.
    backend_statistics statistics() const {
        backend_statistics result;
        // Room first: no allocation may happen while the lanes are visited.
        result.threads.reserve(2 * engine_->records().laneCount() + 16);
        const detail::IntakeStatistics all =
            engine_->records().statistics([&result](const detail::LaneStatistics& lane) {
                if (result.threads.size() < result.threads.capacity()) {
                    thread_statistics& one = result.threads.emplace_back();
                    copy(lane, one);
                    one.thread_id = lane.thread.threadId;
                    one.thread_name = lane.thread.threadName;  // short: in place
                }
            });
        copy(all, result);
        result.written = engine_->harvester().written();
        result.lost_in_sinks = engine_->harvester().lost();
        result.refused = engine_->refused();
        result.ignored_stalls = all.ignoredStalls;
        result.order_violations = all.orderViolations;
        result.dead_threads = all.deadThreads;
        return result;
    }

private:
    friend struct detail::Access;

    /// The program ends: everything is written, and from now on whoever logs writes it.
    void leave() {
        const std::chrono::nanoseconds timeout = engine_->options().drain_timeout;
        engine_->poll();  // the polling thread of a manual back end may have ended
        engine_->flushAndWait(timeout);
        const std::unique_lock<std::mutex> lock = lockToEnd();
        if (lock && !isEnded_) {
            engine_->leave(timeout);
        }
    }

    /// Not locked when somebody ends it and waits for the sink that is the caller.
    std::unique_lock<std::mutex> lockToEnd() {
        return detail::Engine::isInHarvest()
                   ? std::unique_lock<std::mutex>(ending_, std::try_to_lock)
                   : std::unique_lock<std::mutex>(ending_);
    }

    static std::shared_ptr<detail::Engine> make(const backend_options& options) {
        using Limits = detail::IntakeOptions;
        using Records = detail::RecordWriter<detail::RecordHead, detail::IntakeTraits>;
        check("queue_size", options.queue_size, 1, Limits::mostMessages);
        check("queue_bytes", options.queue_bytes, Records::leastBytes, Limits::mostBytes);
        if (options.max_hold <= options.max_hold.zero()) {
            spdlog::throw_spdlog_ex("sluice::log::backend: max_hold: it must be positive");
        }
        return std::make_shared<detail::Engine>(options);
    }

    static void check(const char* setting, std::size_t value, std::size_t least, std::size_t most) {
        if (value < least || value > most) {
            spdlog::throw_spdlog_ex(std::string("sluice::log::backend: ") + setting + ": " +
                                    std::to_string(value) + ", limit " +
                                    std::to_string(value < least ? least : most));
        }
    }

    template <class Counted>
    static void copy(const Counted& from, lane_statistics& to) {
        to.logged = from.logged;
        to.discarded = from.discarded;
        to.overrun = from.overrun;
        to.lost = from.lost;
        to.messages = from.messages;
        to.bytes = from.bytes;
        to.high_water_messages = from.highWaterMessages;
        to.high_water_bytes = from.highWaterBytes;
        to.stalls = from.stalls;
        to.longest_stall = from.longestStall;
    }

    const std::shared_ptr<detail::Engine> engine_;
    std::mutex ending_;
    bool isEnded_ = false;
    bool isComplete_ = false;
};

namespace detail {

/// For what makes loggers.
struct Access {
    static void leave(backend& which) { which.leave(); }
    static void end(backend& which) { which.shutdown(which.engine_->options().drain_timeout); }

    /// Null for none.
    static std::shared_ptr<Engine> engine(const std::shared_ptr<backend>& of) noexcept {
        return of ? of->engine_ : nullptr;
    }
};

}  // namespace detail

}  // namespace sluice::log
