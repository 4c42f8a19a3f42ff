#pragma once

#include <sluice/log/backend_options.hpp>
#include <sluice/log/statistics.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>

namespace sluice::log {

namespace detail {
struct Access;
class Engine;
}  // namespace detail

/// The thread that writes the records of loggers, and the lanes that carry them.
///
///     auto own = std::make_shared<sluice::log::backend>();
///     auto logger = std::make_shared<sluice::log::async_logger>("core", sink, own);
///
/// It replaces spdlog's thread pool. Each logging thread has a lane of its own, so threads do not
/// wait for each other. Records are written in the order of the log calls.
///
/// Most programs need only the default back end, which `async_factory` and `init()` make. Make
/// another one for loggers that must not wait for the sinks of others: back ends share nothing.
///
/// Order: lines leave in the order of the log calls of all threads. If one call returned before
/// another began, its line is first. This has a cost: a thread that is interrupted while its record
/// is stamped, for a few nanoseconds, delays all lines of this back end until it goes on.
/// `backend_options::max_hold` limits the delay.
///
/// Threads: any thread may call any member, also while another thread destroys the back end.
///
/// The end: shutdown() and the destructor refuse later records, write all earlier ones, and end the
/// thread. Loggers may live longer. Their records are refused and counted, and their error handlers
/// get a report. A sink may end its own back end or another one: then the call does not wait.
///
/// Errors: the constructor throws spdlog_ex if the thread or an option is refused.
///
/// Tests: tests/unit/log/backend_test.cpp.
class backend {
public:
    /// Starts the thread, except with the option `manual`.
    explicit backend(const backend_options& options = {});
    backend(const backend&) = delete;
    backend& operator=(const backend&) = delete;

    /// The same as shutdown(options.drain_timeout).
    ~backend();

    /// For a back end without a thread: writes the earlier records, and returns the number of
    /// records that the sinks got. Call it regularly from one thread, the polling thread. The
    /// polling thread is the thread that called poll() last. Before the first call it is the thread
    /// that made the back end.
    ///
    /// - If a lane is full and the policy is `block`, a log call of the polling thread calls the
    ///   sinks itself. A log call of another thread waits for poll().
    /// - flush_wait() of the polling thread writes. In another thread it waits for poll().
    /// - shutdown() and the destructor write on the calling thread. A time limit ends them between
    ///   two harvests, not inside a sink.
    /// - Returns 0 in a sink, a formatter or an error handler, and if the back end has a thread.
    std::size_t poll() noexcept;

    /// Waits until all earlier records of all threads are written and the sinks of all loggers are
    /// flushed. False if a sink could not be flushed, or if a sink has lost records since the last
    /// flush_wait(). False if `timeout` passed first, or if the back end has ended. False at once
    /// in a sink or an error handler, which cannot wait for itself.
    bool flush_wait(std::chrono::nanoseconds timeout = no_limit);

    /// Refuses later records. Waits until all earlier ones are written and the sinks are flushed.
    /// False if `timeout` passed first: the other records are counted, not written. False if
    /// flush_wait() would return false because of the sinks. In a sink or an error handler it
    /// returns false at once, and the back end writes the records later. A second call does
    /// nothing.
    bool shutdown(std::chrono::nanoseconds timeout = no_limit);

    /// The records that were overrun, and those that were discarded, since the last reset. Exact,
    /// also while threads log.
    std::size_t overrun_counter() const;
    std::size_t discard_counter() const;
    void reset_overrun_counter();
    void reset_discard_counter();

    /// The records that came after the end.
    std::size_t refused_counter() const;

    /// The accepted records that are not yet written, in all lanes. After a shutdown() that ran out
    /// of time: the records that it did not write.
    std::size_t queue_size() const;

    /// All counts, and the counts of each logging thread that has not ended.
    backend_statistics statistics() const;

private:
    friend struct detail::Access;

    void leave();
    std::unique_lock<std::mutex> lockToEnd();

    const std::shared_ptr<detail::Engine> engine_;
    std::mutex ending_;
    bool isEnded_ = false;
    bool isComplete_ = false;
};

}  // namespace sluice::log

#if !defined(SLUICE_LOG_COMPILED_LIB)
#include <sluice/log/detail/compiled/backend.hpp>
#endif
