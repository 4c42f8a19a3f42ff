#pragma once

#include <optional>

namespace sluice {

enum class SchedulingPolicy : unsigned char {
    inherited,   ///< the policy of the thread that calls start()
    other,       ///< SCHED_OTHER, the usual one; its priority is 0
    fifo,        ///< SCHED_FIFO: runs until it waits
    roundRobin,  ///< SCHED_RR: takes turns with threads of the same priority
};

/// The options of an active object's thread. If the system refuses an option, start() fails with an
/// error that names the option, the value and the limit, and no thread is left.
struct ThreadOptions {
    /// The thread's name in debuggers and `top -H`, at most 15 bytes. The name is copied.
    const char* name = "";
    /// The only processor to run on. Without a value, the thread inherits the processors of the
    /// caller of start(), or of the program on Windows.
    std::optional<unsigned> processor{};
    SchedulingPolicy policy = SchedulingPolicy::inherited;
    /// The priority: 1 to 99 for fifo and roundRobin on Linux; 1, 2 or 15 for roundRobin on
    /// Windows, which has no fifo. Unused if the policy is inherited.
    unsigned priority = 0;
};

}  // namespace sluice
