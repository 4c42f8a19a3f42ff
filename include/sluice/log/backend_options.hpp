#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <string>

namespace sluice::log {

/// The longest duration there is: for ever, as far as a program is concerned.
inline constexpr std::chrono::nanoseconds no_limit = std::chrono::nanoseconds::max();

/// What the back end's thread does when it has written all there is.
enum class pacing_policy : unsigned char {
    /// It sleeps at once, and the next log call wakes it, which costs that call a system call.
    /// While
    /// more than 20,000 records a second come it naps instead, for some 15 microseconds.
    park,
    /// It naps, for half a millisecond when nothing has come for some time. No log call makes a
    /// system call. For threads that must not wait for the system, at the price of 2,000 wake-ups a
    /// second while nothing happens.
    nap,
    /// It looks all the time and uses up a processor. For the shortest delay.
    spin,
};

/// How a back end is set up. What cannot work is refused by its constructor with a spdlog_ex that
/// names the value and the limit.
struct backend_options {
    /// Room of each logging thread: so many messages, and so many bytes. A message that is larger
    /// than all the bytes is taken all the same, in a block of its own. Bytes of 0 grow with the
    /// messages: 128 for each, at least 1 MiB, and at most 1 GiB. A short message takes less than
    /// 128 bytes, and only bytes in use take memory.
    std::size_t queue_size = 8192;
    std::size_t queue_bytes = 0;

    /// The bytes that a thread has room for.
    std::size_t bytes_of_room() const noexcept {
        constexpr std::size_t least = std::size_t{1} << 20U;
        constexpr std::size_t most = std::size_t{1} << 30U;
        constexpr std::size_t each = 128;
        return queue_bytes != 0 ? queue_bytes
                                : std::clamp(std::min(queue_size, most / each) * each, least, most);
    }

    /// Without a thread: the program calls backend::poll(), which writes. The settings of a thread
    /// below, its hooks and `pacing` have no effect then.
    bool manual = false;

    pacing_policy pacing = pacing_policy::park;

    /// How long a thread that was interrupted in the middle of a log call may hold up the output.
    /// Without a limit the order of lines is strict. With one, a record that comes later than that
    /// may be printed out of order; statistics() counts those.
    std::chrono::nanoseconds max_hold = no_limit;

    /// How long the destructor waits until everything is written. What is left then is counted.
    std::chrono::nanoseconds drain_timeout = no_limit;

    /// A line "N records dropped" goes to the log where records are missing, at most one in so
    /// long. Zero: a line at each gap. `no_limit`: none.
    std::chrono::nanoseconds notice_interval = std::chrono::seconds(1);

    /// Called on the worker when it begins and before it ends. What they throw is reported on
    /// stderr. They may log as a sink may: without waiting for room.
    std::function<void()> on_thread_start;
    std::function<void()> on_thread_stop;

    /// The worker's name as ps and debuggers show it; Linux shows the first 15 characters.
    std::string thread_name = "sluice-log";

    /// The processor that the worker stays on; negative: wherever the system puts it.
    int cpu = -1;
};

}  // namespace sluice::log
