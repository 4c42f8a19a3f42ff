#pragma once

#include "execution.hpp"

#include <csignal>

namespace sluice::model {

/// While it exists, an invalid pointer makes the execution fail with its schedule. It does not end
/// the process.
///
/// The signal handler never returns: it goes back to the explorer, as any failure does. This is
/// safe because the scenario's own instruction faults, and not one inside the C library.
class CrashGuard {
public:
    CrashGuard() noexcept {
        struct sigaction action {};
        action.sa_handler = &CrashGuard::handle;
        action.sa_flags = SA_NODEFER;
        sigaction(SIGSEGV, &action, &previous_);
    }
    CrashGuard(const CrashGuard&) = delete;
    CrashGuard& operator=(const CrashGuard&) = delete;
    ~CrashGuard() { sigaction(SIGSEGV, &previous_, nullptr); }

private:
    static void handle(int) { execution().fail("an invalid pointer is followed"); }

    struct sigaction previous_ {};
};

}  // namespace sluice::model
