#pragma once

#include <sluice/log/backend_options.hpp>
#include <sluice/log/statistics.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

// Non-template functions are inline, or compiled once in the library sluice::log_compiled.
#if !defined(SLUICE_LOG_COMPILED_LIB)
#define SLUICE_LOG_INLINE inline
#elif defined(SLUICE_LOG_SOURCE)
#define SLUICE_LOG_INLINE
#endif

namespace sluice::log {

namespace detail {
class BackendCore;
class DefaultBackend;
}  // namespace detail

/// A thread that writes log records to the sinks, in place of spdlog's thread pool.
///
///     auto own = std::make_shared<sluice::log::backend>();
///     auto logger = std::make_shared<sluice::log::async_logger>("core", sink, own);
///
/// Most programs need only the default back end, which `async_factory` and `init()` create. Create
/// a separate back end for loggers that must not wait for the sinks of other loggers.
///
/// Order: if log call A returns before log call B begins, on any threads, A's line precedes B's
/// line. Lines may be out of order if the processor's time-stamp counter restarts after system
/// sleep. A thread preempted while it takes a record's time stamp delays all lines of the back end.
///
/// Thread safety: any thread may call any member, even while another thread destroys the back end.
/// A logger may outlive its back end; the logger's later records are rejected.
///
/// Errors: the constructor throws spdlog_ex if an option is out of range or no thread can start.
class backend {
public:
    /// Starts the thread, unless `options.manual` is set.
    explicit backend(const backend_options& options = {});

    /// Calls shutdown(options.drain_timeout).
    ~backend();

    /// If the back end is manual, writes all records logged before the call, and returns their
    /// number. Inside a sink, formatter or error handler, poll() does nothing. The polling thread
    /// is the last caller of poll(), initially the back end's creator. The polling thread also
    /// writes records in flush_wait(), and when its lane (queue) is full.
    std::size_t poll() noexcept;

    /// Waits until all records logged before the call are written and all sinks flushed. Returns
    /// false on timeout, if the back end has ended, or if a sink has failed since the last
    /// flush_wait(). In a sink or an error handler, flush_wait() returns false immediately.
    bool flush_wait(std::chrono::nanoseconds timeout = no_limit);

    /// Rejects records logged later, and waits until all accepted records are written and the sinks
    /// flushed. Returns false if a sink has failed, or on timeout. Records that remain after a
    /// timeout are not written, but statistics() counts them. In a sink or an error handler,
    /// shutdown() returns false immediately, and the remaining records are written later.
    bool shutdown(std::chrono::nanoseconds timeout = no_limit);

    /// Counts records since the last reset, as in spdlog: overrun_counter() counts records that
    /// Overflow::dropOldest evicted, discard_counter() counts records that a full lane rejected.
    /// Both counts are exact, even while threads log.
    std::size_t overrun_counter() const;
    std::size_t discard_counter() const;
    void reset_overrun_counter();
    void reset_discard_counter();

    /// The number of unwritten accepted records, including those left by a timed-out shutdown().
    std::size_t queue_size() const;

    /// The counts of the back end, and of each logging thread that has not ended.
    backend_statistics statistics() const;

private:
    friend class async_logger;
    friend class detail::DefaultBackend;

    void leave();
    static std::size_t unwritten(const backend_statistics& counts, std::uint64_t seen);
    std::unique_lock<std::mutex> lockToEnd(std::chrono::nanoseconds atMost);

    const std::shared_ptr<detail::BackendCore> core_;
    std::mutex ending_;
    bool isEnded_ = false;
    bool isComplete_ = false;
};

}  // namespace sluice::log

// ---- Functions that sluice::log_compiled compiles once

#if defined(SLUICE_LOG_INLINE)

#include <sluice/log/detail/backend/backend_core.hpp>

#include <spdlog/common.h>

#include <algorithm>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

// NOLINTBEGIN(misc-definitions-in-headers)
namespace sluice::log {

namespace detail {

SLUICE_LOG_INLINE void checkOption(const char* setting, std::size_t value, std::size_t least,
                                   std::size_t most) {
    if (value < least || value > most) {
        spdlog::throw_spdlog_ex(std::string("sluice::log::backend: ") + setting + ": " +
                                std::to_string(value) + ", limit " +
                                std::to_string(value < least ? least : most));
    }
}

SLUICE_LOG_INLINE std::shared_ptr<BackendCore> makeBackendCore(const backend_options& options) {
    using Limits = RecordQueueOptions;
    checkOption("queue_size", options.queue_size, 1, Limits::mostMessages);
    checkOption("queue_bytes", options.bytes_of_room(), Frontend::Records::leastBytes,
                Limits::mostBytes);
    return std::make_shared<BackendCore>(options);
}

}  // namespace detail

SLUICE_LOG_INLINE backend::backend(const backend_options& options)
    : core_(detail::makeBackendCore(options)) {
    try {
        if (!options.manual) {
            core_->start();
        }
    } catch (const std::system_error& error) {
        spdlog::throw_spdlog_ex(std::string("sluice::log::backend: the system refuses a thread: ") +
                                error.what());
    }
}

SLUICE_LOG_INLINE backend::~backend() {
    shutdown(core_->options().drain_timeout);
}

SLUICE_LOG_INLINE std::size_t backend::poll() noexcept {
    return core_->poll();
}

SLUICE_LOG_INLINE bool backend::flush_wait(std::chrono::nanoseconds timeout) {
    return core_->flushAndWait(timeout);
}

SLUICE_LOG_INLINE bool backend::shutdown(std::chrono::nanoseconds timeout) {
    const auto end = deadlineAfter<std::chrono::steady_clock>(timeout);
    const std::unique_lock<std::mutex> lock = lockToEnd(timeout);
    if (lock && !isEnded_) {
        isComplete_ = core_->close(end - std::chrono::steady_clock::now());
        // Inside a sink, a manual back end does not end: the next shutdown() writes what remains.
        isEnded_ = !core_->options().manual || !detail::BackendCore::isInBatch();
    }
    return lock && isComplete_;
}

SLUICE_LOG_INLINE std::size_t backend::overrun_counter() const {
    return static_cast<std::size_t>(core_->records().dropped());
}
SLUICE_LOG_INLINE std::size_t backend::discard_counter() const {
    return static_cast<std::size_t>(core_->records().rejected());
}
SLUICE_LOG_INLINE void backend::reset_overrun_counter() {
    core_->records().resetDropped();
}
SLUICE_LOG_INLINE void backend::reset_discard_counter() {
    core_->records().resetRejected();
}
SLUICE_LOG_INLINE std::size_t backend::queue_size() const {
    const std::uint64_t seen = core_->writer().seen();
    return unwritten(core_->records().statistics(), seen);
}

/// Returns the number of unwritten records in `counts`. `seen`, the number of written and lost
/// records, must be read earlier than `counts`, so that `counts` includes each record of `seen`.
SLUICE_LOG_INLINE std::size_t backend::unwritten(const backend_statistics& counts,
                                                 std::uint64_t seen) {
    const std::uint64_t left = counts.logged - counts.dropped;
    return static_cast<std::size_t>(left - std::min(left, seen));
}

SLUICE_LOG_INLINE backend_statistics backend::statistics() const {
    // Reserves memory here, because the callback that fills `threads` runs under a lock.
    std::vector<thread_statistics> threads;
    threads.reserve(2 * core_->records().laneCount() + 16);
    const std::uint64_t written = core_->writer().written();
    const std::uint64_t lost = core_->writer().lost();
    backend_statistics result = core_->records().statistics([&threads](thread_statistics& lane) {
        if (threads.size() < threads.capacity()) {
            threads.push_back(std::move(lane));
        }
    });
    result.threads = std::move(threads);
    result.written = written;
    result.lost_in_sinks = lost;
    result.messages = unwritten(result, written + lost);
    result.rejected_after_end = core_->rejectedAfterEnd();
    result.rejected += result.rejected_after_end;
    return result;
}

/// Writes all records at program exit. After leave(), each logging thread writes its own records.
SLUICE_LOG_INLINE void backend::leave() {
    const std::chrono::nanoseconds timeout = core_->options().drain_timeout;
    core_->writeAll();
    const std::unique_lock<std::mutex> lock = lockToEnd(timeout);
    if (lock && !isEnded_) {
        core_->leave(timeout);
    }
}

/// Locks ending_, waiting for at most `atMost`. In a sink, tries the lock only once, because the
/// lock's holder may wait for the sink.
SLUICE_LOG_INLINE std::unique_lock<std::mutex> backend::lockToEnd(std::chrono::nanoseconds atMost) {
    const auto end = deadlineAfter<std::chrono::steady_clock>(atMost);
    std::unique_lock<std::mutex> lock(ending_, std::try_to_lock);
    for (Backoff backoff;
         !lock && !detail::BackendCore::isInBatch() && std::chrono::steady_clock::now() < end;) {
        backoff.wait();
        static_cast<void>(lock.try_lock());
    }
    return lock;
}

}  // namespace sluice::log
// NOLINTEND(misc-definitions-in-headers)

#endif
