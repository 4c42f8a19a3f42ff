#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <string>

namespace sluice::log {

/// No limit: the longest duration.
inline constexpr std::chrono::nanoseconds no_limit = std::chrono::nanoseconds::max();

/// The way in which the back end's thread rests when all records are written.
enum class pacing_policy : unsigned char {
    /// The thread sleeps at once. The next log call wakes it, with a system call. While more than
    /// 20,000 records a second come, the thread naps for some 15 microseconds instead.
    park,
    /// The thread naps, for half a millisecond while no records come. No log call makes a system
    /// call. For logging threads that must not wait for the system. It costs 2,000 wake-ups a
    /// second.
    nap,
    /// The thread does not rest, and uses a processor. For the shortest delay.
    spin,
};

/// The settings of a back end. Its constructor refuses a wrong setting with a spdlog_ex that names
/// the value and the limit.
struct backend_options {
    /// The room of each logging thread, in messages and in bytes. A message that is larger than all
    /// the bytes has a block of its own. 0 bytes: 128 for each message, but at least 1 MiB and at
    /// most 1 GiB. A short message takes less than 128 bytes. Only used bytes take memory.
    std::size_t queue_size = 8192;
    std::size_t queue_bytes = 0;

    /// The bytes of a thread's lane.
    std::size_t bytes_of_room() const noexcept {
        constexpr std::size_t least = std::size_t{1} << 20U;
        constexpr std::size_t most = std::size_t{1} << 30U;
        constexpr std::size_t each = 128;
        return queue_bytes != 0 ? queue_bytes
                                : std::clamp(std::min(queue_size, most / each) * each, least, most);
    }

    /// No thread: the program calls backend::poll(), which writes. The settings of the thread
    /// below, its hooks and `pacing` have no effect then.
    bool manual = false;

    pacing_policy pacing = pacing_policy::park;

    /// A batch_sink, such as file_sink, does not write more often than this, so that a thread which
    /// logs now and then does not cost a write(2) for each record. The first text after a pause is
    /// written at once, and so are 4096 bytes. Other text is written with the first record after
    /// this time, or when no record has come for a second. A flush, the end of the back end, fork()
    /// and a crash handler do not wait. A process that is killed loses the text. Zero: after each
    /// harvest. A manual back end writes in each poll().
    std::chrono::nanoseconds write_interval = std::chrono::seconds(1);

    /// The longest time that a thread which is interrupted in a log call may delay the output.
    /// Without a limit the order of lines is strict. With a limit, a record that comes later may be
    /// printed out of order; statistics() counts such records.
    std::chrono::nanoseconds max_hold = no_limit;

    /// The time that the destructor waits. The records that are not written then are counted.
    std::chrono::nanoseconds drain_timeout = no_limit;

    /// A line "N records dropped" stands in the log where records are missing, at most one in this
    /// time. Zero: a line for each gap. `no_limit`: no such lines.
    std::chrono::nanoseconds notice_interval = std::chrono::seconds(1);

    /// Called on the worker at its beginning and at its end. Their exceptions are reported on
    /// stderr. They may log as a sink may: without waiting for room.
    std::function<void()> on_thread_start;
    std::function<void()> on_thread_stop;

    /// The worker's name in ps and debuggers. Linux shows the first 15 characters.
    std::string thread_name = "sluice-log";

    /// The processor of the worker. Negative: the system chooses.
    int cpu = -1;
};

}  // namespace sluice::log
