#pragma once

#include <optional>

namespace sluice {

enum class SchedulingPolicy : unsigned char {
    inherited,   ///< the policy of the thread that calls start()
    other,       ///< SCHED_OTHER, the usual one; its priority is 0
    fifo,        ///< SCHED_FIFO: runs until it waits
    roundRobin,  ///< SCHED_RR: takes turns with threads of the same priority
};

/// The options of the thread of an active object. `start()` fails if the system refuses an option:
/// the error names the option, the value and the limit, and no thread is left.
struct ThreadOptions {
    /// The name of the thread, which debuggers and `top -H` show. At most 15 bytes. It is copied.
    const char* name = "";
    /// The only processor that the thread runs on. Without a value, the thread inherits the
    /// processors of the thread that calls start().
    std::optional<unsigned> processor{};
    SchedulingPolicy policy = SchedulingPolicy::inherited;
    /// The priority within the policy: 1 to 99 for fifo and roundRobin on Linux. It counts only
    /// with a policy that is not inherited.
    unsigned priority = 0;
};

}  // namespace sluice
