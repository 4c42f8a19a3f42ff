#pragma once

#include <spdlog/common.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace sluice::log {

/// No time limit: the longest duration.
inline constexpr std::chrono::nanoseconds no_limit = std::chrono::nanoseconds::max();

/// How the back end's thread rests when all records are written.
enum class pacing_policy : unsigned char {
    /// The thread sleeps, and the next log call wakes it with a system call. Above 20,000 records a
    /// second it naps for about 15 microseconds instead, and no log call wakes it.
    park,
    /// The thread naps, for half a millisecond if no records arrive: 2,000 wake-ups a second. Use
    /// it if logging threads must not make system calls.
    nap,
    /// The thread keeps one processor busy. Use it for the shortest delay.
    spin,
};

/// Records of one logger and level that were evicted, or rejected for lack of room.
struct dropped_records {
    const std::string& logger;
    spdlog::level::level_enum level;
    std::uint64_t count;  ///< since the last call of `on_drop` for this logger and level
};

/// The settings of a back end.
///
///     sluice::log::backend_options options;
///     options.queue_size = 1024;  // records for each logging thread
///     options.pacing = sluice::log::pacing_policy::nap;
///     sluice::log::init(options);
///
/// A back end refuses a setting that is out of range with a spdlog_ex, which names the limit.
struct backend_options {
    /// The most records in the lane of one thread: 1 to 2^30. Records of level err and above have a
    /// second lane of this size.
    std::size_t queue_size = 8192;
    /// The most bytes in the lane of one thread, with record headers: at most 2^30. 0: 128 bytes
    /// for each record of queue_size, from 1 MiB to 1 GiB. Unused bytes take no memory. A larger
    /// record is allocated.
    std::size_t queue_bytes = 0;

    /// The capacity of one lane in bytes: queue_bytes, or the default if that is 0.
    std::size_t bytes_of_room() const noexcept {
        constexpr std::size_t least = std::size_t{1} << 20U;
        constexpr std::size_t most = std::size_t{1} << 30U;
        constexpr std::size_t each = 128;
        return queue_bytes != 0 ? queue_bytes
                                : std::clamp(std::min(queue_size, most / each) * each, least, most);
    }

    /// True: the back end has no thread, and the program calls backend::poll(). `pacing`, the two
    /// hooks and `thread_name` then have no effect.
    bool manual = false;

    pacing_policy pacing = pacing_policy::park;

    /// The shortest time between two writes of a batch_sink, such as file_sink; zero: none. It
    /// saves a write(2) for each record of slow logging. The first text after a pause, 4096 bytes
    /// of text, a flush, shutdown, fork() and a crash are written immediately. Other text is
    /// written with the first record after this time, or after a second without records; it is lost
    /// if the process is killed. A manual back end writes in each poll().
    std::chrono::nanoseconds write_interval = std::chrono::seconds(1);

    /// True: a log call of the logger's flush_on() level returns when its record is written and the
    /// sinks flushed, so no end of the program loses it. In a sink it does not wait.
    bool flush_on_waits = false;

    /// How long the destructor waits for the sinks. Records that are not written then are counted.
    std::chrono::nanoseconds drain_timeout = no_limit;

    /// The shortest time between two lines "N records dropped", which the back end writes into the
    /// gaps. Zero: a line for each gap. `no_limit`: no such lines.
    std::chrono::nanoseconds notice_interval = std::chrono::seconds(1);

    /// Called by the back end's thread beside these lines, for each logger and level with dropped
    /// records; once a second if there are no lines. The logger's error handler receives
    /// exceptions. Log calls in the function do not wait for room.
    std::function<void(const dropped_records&)> on_drop;

    /// The clock of printed times, for simulations, also of log(time, ...) and of backtraces. Log
    /// calls call it on their own threads, after the level check; it must not log. Intervals follow
    /// the steady clock. For daily rotation see file_rotation::clock.
    std::function<std::chrono::system_clock::time_point()> clock = std::chrono::system_clock::now;

    bool has_own_clock() const noexcept {
        using Now = decltype(&std::chrono::system_clock::now);
        const Now* const known = clock.target<Now>();
        return known == nullptr || *known != &std::chrono::system_clock::now;
    }

    /// Called by the back end's thread when it starts and before it ends, for example to choose its
    /// processor or its priority. Exceptions are reported on stderr. Log calls in them do not wait
    /// for room.
    std::function<void()> on_thread_start;
    std::function<void()> on_thread_stop;

    /// The thread's name in ps and debuggers. Linux shows the first 15 characters.
    std::string thread_name = "sluice-log";
};

}  // namespace sluice::log
