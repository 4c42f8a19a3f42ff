#pragma once

#include <csignal>
#include <initializer_list>

namespace sluice::nats::detail {

/// While a ScopedSignalMask lives, its thread runs no signal handlers, except for its own faults.
/// Threads that it starts meanwhile inherit this for their whole life.
///
/// If a handler interrupts a write of libnats, half a message remains on the connection. The server
/// then reads garbage, and libnats closes the link for good.
class ScopedSignalMask {
public:
    ScopedSignalMask() noexcept {
        sigset_t blocked;
        (void)sigfillset(&blocked);
        for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS}) {
            (void)sigdelset(&blocked, fault);
        }
        (void)pthread_sigmask(SIG_SETMASK, &blocked, &before_);
    }
    ScopedSignalMask(const ScopedSignalMask&) = delete;
    ScopedSignalMask& operator=(const ScopedSignalMask&) = delete;
    ~ScopedSignalMask() { (void)pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

private:
    /// The signals that were blocked before.
    sigset_t before_;
};

}  // namespace sluice::nats::detail
