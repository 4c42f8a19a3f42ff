#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <string>

namespace sluice::log {

/// The value for "no limit" of every time limit: the longest duration.
inline constexpr std::chrono::nanoseconds no_limit = std::chrono::nanoseconds::max();

/// How the back end's thread rests when all records are written.
enum class pacing_policy : unsigned char {
    /// The thread sleeps immediately. The next log call wakes it with a system call. While threads
    /// log
    /// more than 20,000 records a second, the thread naps for about 15 microseconds instead, and no
    /// log call wakes it.
    park,
    /// The thread naps. The nap grows to half a millisecond while no records arrive, which costs
    /// 2,000 wake-ups a second. No log call makes a system call. Use it if logging threads must not
    /// make system calls.
    nap,
    /// The thread does not rest, so it keeps one processor busy. Use it for the shortest delay.
    spin,
};

/// The settings of a back end.
///
///     sluice::log::backend_options options;
///     options.queue_size = 1024;  // records for each logging thread
///     options.pacing = sluice::log::pacing_policy::nap;
///     sluice::log::init(options);
///
/// The constructor of a back end refuses a setting that is out of range with a spdlog_ex. The
/// exception names the setting and the limit.
struct backend_options {
    /// The most records that the lane of one thread holds: 1 to 2^30.
    std::size_t queue_size = 8192;
    /// The most bytes that the lane of one thread holds, with the headers of the records: at most
    /// 2^30. 0: 128 bytes for each record of queue_size, but at least 1 MiB and at most 1 GiB. Only
    /// used bytes take memory. A record that is larger than this has a block of its own.
    std::size_t queue_bytes = 0;

    /// The bytes of one lane: queue_bytes, or the value that 0 stands for.
    std::size_t bytes_of_room() const noexcept {
        constexpr std::size_t least = std::size_t{1} << 20U;
        constexpr std::size_t most = std::size_t{1} << 30U;
        constexpr std::size_t each = 128;
        return queue_bytes != 0 ? queue_bytes
                                : std::clamp(std::min(queue_size, most / each) * each, least, most);
    }

    /// True: the back end has no thread. The program calls backend::poll(), which writes. `pacing`,
    /// the two hooks, `thread_name` and `cpu` then have no effect.
    bool manual = false;

    /// How the back end's thread rests.
    pacing_policy pacing = pacing_policy::park;

    /// The shortest time between two writes of a batch_sink, such as file_sink, so that a thread
    /// that logs rarely does not cost a write(2) for each record. The first text after a pause and
    /// 4096 bytes of text are written immediately. Other text is written with the first record
    /// after this time, or when no record has arrived for a second. A flush, the end of the back
    /// end, fork() and a crash handler write immediately. If the process is killed, the unwritten
    /// text is lost. Zero: after each batch. A manual back end writes in each poll().
    std::chrono::nanoseconds write_interval = std::chrono::seconds(1);

    /// The longest time that a thread which is interrupted in a log call may delay the output: more
    /// than zero. Without a limit the order of lines is strict. With a limit, a record of that
    /// thread may be printed out of order; statistics() counts such records.
    std::chrono::nanoseconds max_hold = no_limit;

    /// The longest time that the destructor waits for the sinks. It counts the records that are not
    /// written then.
    std::chrono::nanoseconds drain_timeout = no_limit;

    /// The shortest time between two lines "N records dropped", which the back end writes where
    /// records are missing. Zero: a line for each gap. `no_limit`: no such lines.
    std::chrono::nanoseconds notice_interval = std::chrono::seconds(1);

    /// The back end's thread calls these functions when it starts and before it ends. Their
    /// exceptions are reported on stderr. They may log, but their log calls do not wait for room.
    std::function<void()> on_thread_start;
    std::function<void()> on_thread_stop;

    /// The name of the back end's thread in ps and debuggers. Linux shows the first 15 characters.
    std::string thread_name = "sluice-log";

    /// The number of the processor that the back end's thread stays on. Negative: the system
    /// chooses.
    int cpu = -1;
};

}  // namespace sluice::log
