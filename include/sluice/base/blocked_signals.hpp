#pragma once

#include <sluice/base/platform.hpp>

#if SLUICE_HAS_POSIX
#include <csignal>
#include <initializer_list>

#include <pthread.h>
#endif

namespace sluice::detail {

/// Blocks signals in the calling thread until destroyed; threads started by it inherit the mask.
/// Faults such as SIGSEGV are not blocked, so that crash handlers run. Has no effect without POSIX.
class BlockedSignals {
public:
#if SLUICE_HAS_POSIX
    BlockedSignals() noexcept {
        sigset_t all;
        (void)sigfillset(&all);
        for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS}) {
            (void)sigdelset(&all, fault);
        }
        (void)pthread_sigmask(SIG_BLOCK, &all, &before_);
    }
    ~BlockedSignals() { (void)pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

    [[nodiscard]] const sigset_t& before() const noexcept { return before_; }
#else
    BlockedSignals() noexcept {}
#endif
    BlockedSignals(const BlockedSignals&) = delete;
    BlockedSignals& operator=(const BlockedSignals&) = delete;

#if SLUICE_HAS_POSIX
private:
    sigset_t before_;
#endif
};

}  // namespace sluice::detail
