#pragma once

#include "execution.hpp"

#include <csignal>

namespace sluice::model {

/// An execution that follows an invalid pointer fails with its schedule, instead of ending the
/// process. This holds while the guard lives.
///
/// The handler never returns: it goes back to the explorer as any failure does. That is safe here
/// since the fault is one of the scenario's own instructions, not one inside the C library.
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
