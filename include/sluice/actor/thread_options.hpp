#pragma once

#include <optional>

namespace sluice {

enum class SchedulingPolicy : unsigned char {
    inherited,   ///< the policy of the thread that calls start()
    other,       ///< SCHED_OTHER, the system's default; needs priority 0
    fifo,        ///< SCHED_FIFO: a thread runs until it waits
    roundRobin,  ///< SCHED_RR: threads of the same priority take turns
};

/// The options of an active object's thread. If the system refuses an option, start() starts no
/// thread and calls setupError() with the option's name, value and limit.
struct ThreadOptions {
    /// The thread's name in debuggers and `top -H`, at most 15 bytes. The name is copied.
    const char* name = "";
    /// The only processor that the thread may use. Without a value, the thread inherits the
    /// processors of the thread that calls start(), or on Windows those of the program.
    std::optional<unsigned> processor{};
    SchedulingPolicy policy = SchedulingPolicy::inherited;
    /// The scheduling priority. On Linux, 1 to 99 for fifo and roundRobin. On Windows, 1, 2 or 15
    /// for roundRobin; Windows has no fifo. Unused if `policy` is inherited.
    unsigned priority = 0;
};

}  // namespace sluice
