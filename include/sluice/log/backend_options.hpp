#pragma once

#include <spdlog/common.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace sluice::log {

/// The duration that means no time limit.
inline constexpr std::chrono::nanoseconds no_limit = std::chrono::nanoseconds::max();

/// Selects how the back end's thread waits for records.
enum class pacing_policy : unsigned char {
    /// The thread sleeps until a log call wakes it with a system call. Above 20,000 records a
    /// second, the thread takes naps of about 15 microseconds, and log calls make no system call.
    park,
    /// The thread sleeps in naps of at most half a millisecond, so an idle thread wakes 2,000 times
    /// a second. Use `nap` if logging threads must not make system calls.
    nap,
    /// The thread never sleeps and keeps one processor busy. Use `spin` for the shortest delay.
    spin,
};

/// The records of one logger and level that a full lane (a thread's queue) evicted or rejected.
struct dropped_records {
    const std::string& logger;
    spdlog::level::level_enum level;
    std::uint64_t count;  ///< records lost since the last on_drop for this logger and level
};

/// The settings of a back end.
///
///     sluice::log::backend_options options;
///     options.queue_size = 1024;  // records for each logging thread
///     options.pacing = sluice::log::pacing_policy::nap;
///     sluice::log::init(options);
///
/// The constructor of a back end throws spdlog_ex if a setting is out of range.
struct backend_options {
    /// The maximum number of records in a lane, the queue of one logging thread: 1 to 2^30. Records
    /// of level err and above have a second lane of this size.
    std::size_t queue_size = 8192;
    /// The maximum size of one lane in bytes, including record headers: at most 2^30. The default 0
    /// means 128 bytes times queue_size, but at least 1 MiB and at most 1 GiB. Unused bytes of a
    /// lane take no memory. A record larger than the lane is allocated separately.
    std::size_t queue_bytes = 0;

    /// The capacity of one lane in bytes: queue_bytes, or the default if queue_bytes is 0.
    std::size_t bytes_of_room() const noexcept {
        constexpr std::size_t least = std::size_t{1} << 20U;
        constexpr std::size_t most = std::size_t{1} << 30U;
        constexpr std::size_t each = 128;
        return queue_bytes != 0 ? queue_bytes
                                : std::clamp(std::min(queue_size, most / each) * each, least, most);
    }

    /// If true, the back end has no thread, and backend::poll() writes the records. With `manual`,
    /// the options `pacing`, `thread_name` and the two thread hooks have no effect.
    bool manual = false;

    pacing_policy pacing = pacing_policy::park;

    /// The minimum time between two writes of a batch_sink, such as file_sink; zero means no
    /// minimum. The back end writes earlier if 4096 bytes of text are collected, or on a flush,
    /// shutdown, fork() or crash. After the interval, delayed text is written with the next record,
    /// or within one second if no record arrives. If the process is killed, delayed text is lost. A
    /// manual back end writes in each poll().
    std::chrono::nanoseconds write_interval = std::chrono::seconds(1);

    /// If true, a log call of the logger's flush_on() level or above returns only after its record
    /// is written and the sinks are flushed. Log calls inside a sink do not wait for the flush.
    bool flush_on_waits = false;

    /// The maximum time for which ~backend() and spdlog::shutdown() wait. Records that remain after
    /// drain_timeout are not written, but backend::statistics() counts them.
    std::chrono::nanoseconds drain_timeout = no_limit;

    /// The minimum time between two drop notices, the lines "N records dropped" in place of lost
    /// records. If zero, each batch checks for lost records; if `no_limit`, no notice is written.
    std::chrono::nanoseconds notice_interval = std::chrono::seconds(1);

    /// With a logger's drop notice, the back end's thread calls on_drop for each level that lost
    /// records. If notices are off, it does so at most once a second. Exceptions of on_drop go to
    /// the logger's error handler. Log calls in on_drop do not wait for a full lane.
    std::function<void(const dropped_records&)> on_drop;

    /// The clock of all printed times, for simulations; null selects the system's clock. The
    /// clock's time also replaces the time argument of log(time, ...) and the times of backtraces.
    /// Logging threads call `clock`, which must not log. Daily rotation uses file_rotation::clock.
    std::function<std::chrono::system_clock::time_point()> clock;

    /// The back end's thread calls on_thread_start when it starts and on_thread_stop before it
    /// ends, for example to set its priority. Exceptions of thread hooks are reported on stderr. A
    /// log call in a thread hook does not wait if its lane is full.
    std::function<void()> on_thread_start;
    std::function<void()> on_thread_stop;

    /// The name of the back end's thread in ps and debuggers. Linux shows the first 15 characters.
    std::string thread_name = "sluice-log";
};

}  // namespace sluice::log
