#pragma once

/// \file
/// Ctrl-C ends a run early and keeps the results until then.

#include <signal.h>

namespace sluice::bench {

/// Notes the first interrupt (Ctrl-C) or request to terminate during its lifetime. The second
/// signal ends the program as usual. The watch also notes a signal that arrived earlier, while the
/// signals were blocked. One watch at a time.
class InterruptionWatch {
public:
    InterruptionWatch() noexcept;
    InterruptionWatch(const InterruptionWatch&) = delete;
    InterruptionWatch& operator=(const InterruptionWatch&) = delete;
    ~InterruptionWatch();
};

/// Both signals, for code that starts a process with them blocked.
sigset_t interruptions() noexcept;

/// Whether an interrupt was noted since the watch began.
bool interrupted() noexcept;

}  // namespace sluice::bench
