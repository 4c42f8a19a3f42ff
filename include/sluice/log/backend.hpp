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

/// The thread that writes what loggers log, and the lanes between them.
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
class backend {
public:
    /// Starts the thread, unless the options say `manual`.
    explicit backend(const backend_options& options = {});
    backend(const backend&) = delete;
    backend& operator=(const backend&) = delete;

    /// As shutdown(options.drain_timeout).
    ~backend();

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
    std::size_t poll() noexcept;

    /// Waits until everything logged before, by whatever thread, is written, and the sinks of all
    /// loggers are flushed. False when a sink could not be flushed, and when a sink has lost
    /// records since the last flush_wait(). False when `timeout` passed first, when the back end
    /// has ended, and at once when it is called from a sink or an error handler, which would wait
    /// for itself.
    bool flush_wait(std::chrono::nanoseconds timeout = no_limit);

    /// Takes no more records and waits until those taken are written and the sinks are flushed.
    /// False when `timeout` passed first, and what is left then is not written but counted. False,
    /// too, when flush_wait() would say so of the sinks. From a sink or an error handler it returns
    /// false at once, and the rest is written all the same. A second call does nothing.
    bool shutdown(std::chrono::nanoseconds timeout = no_limit);

    /// Records that were overrun, and those that were discarded, since the last reset. Exact,
    /// whoever logs meanwhile.
    std::size_t overrun_counter() const;
    std::size_t discard_counter() const;
    void reset_overrun_counter();
    void reset_discard_counter();

    /// Records that came after the end.
    std::size_t refused_counter() const;

    /// Records taken and not yet written, in all lanes. After a shutdown() that was not in time:
    /// what it has left.
    std::size_t queue_size() const;

    /// All numbers, and those of each thread that has logged and is still there.
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
