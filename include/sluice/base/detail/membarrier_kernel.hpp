#pragma once

#include <sluice/base/priority_futex.hpp>

#if defined(__linux__)
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace [[gnu::visibility("default")]] sluice {
namespace detail {

#if defined(__linux__)

/// The turn of a thread in membarrier. The thread that has it gets the priority of a waiting
/// thread, and no signal interrupts it.
///
/// Linux lets one thread of all processes at a time into membarrier, by a lock without priority
/// inheritance. Without turns, a thread of low priority that is preempted inside would keep a
/// real-time thread of its process waiting for each thread of medium priority. Signals are blocked,
/// because their handler may run for any time, or wait for another thread that needs a turn.
///
/// A thread goes on without a turn if the system has no such futexes.
///
/// Tests: tests/unit/base/membarrier_kernel_test.cpp.
class MembarrierTurn {
public:
    MembarrierTurn() noexcept {
        sigset_t all;
        ::sigfillset(&all);
        ::pthread_sigmask(SIG_SETMASK, &all, &before_);
        isMine_ = isRegistered() &&
                  (tryOwnWord(word_, me_) || takeAfterYields() || PriorityFutex::own(word_));
    }
    ~MembarrierTurn() {
        if (isMine_) {
            disownWord<PriorityFutex>(word_, me_);
        }
        ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    }
    MembarrierTurn(const MembarrierTurn&) = delete;
    MembarrierTurn& operator=(const MembarrierTurn&) = delete;

    /// False if the system refused the turn.
    bool isMine() const noexcept { return isMine_; }

private:
    /// An ordinary thread yields for so long before it sleeps: a sleep takes longer than a turn.
    /// On a busy machine a single yield takes longer.
    static constexpr std::chrono::microseconds longestYield{20};

    [[gnu::cold, gnu::noinline]] bool takeAfterYields() const noexcept {
        if (PriorityFutex::isRealTime()) {
            return false;
        }
        bool isTaken = false;
        const auto end = std::chrono::steady_clock::now() + longestYield;
        do {
            ::sched_yield();
            isTaken = tryOwnWord(word_, me_);
        } while (!isTaken && std::chrono::steady_clock::now() < end);
        return isTaken;
    }

    /// Whether the handler of fork() is in place: the owner may be gone in the child. Relaxed: the
    /// child has one thread.
    static bool isRegistered() noexcept {
        static const bool isComplete = ::pthread_atfork(nullptr, nullptr, [] {
                                           PriorityFutex::forgetThread();
                                           word_.store(0, std::memory_order_relaxed);
                                       }) == 0;
        return isComplete;
    }

    inline static PriorityFutex::Word word_{0};
    const std::uint32_t me_ = PriorityFutex::thisThread();
    sigset_t before_;
    bool isMine_;
};

#endif

/// The system call behind MembarrierFence; tests replace it by scripted kernels.
struct MembarrierKernel {
    // These values belong to the kernel's ABI. Old kernel headers do not define them.
    static constexpr int commandGlobal = 1 << 0;
    static constexpr int commandPrivateExpedited = 1 << 3;
    static constexpr int commandRegisterPrivateExpedited = 1 << 4;

    /// Returns true if the kernel carried out the command. It does not change errno. Not inlined,
    /// because its size would keep functions of the callers from being inlined.
    [[gnu::noinline]] static bool call([[maybe_unused]] int command) noexcept {
#if defined(__linux__) && defined(SYS_membarrier)
        const int savedErrno = errno;
        const MembarrierTurn turn;
        const bool done = ::syscall(SYS_membarrier, command, 0U, 0) == 0;
        errno = savedErrno;
        return done;
#else
        return false;
#endif
    }
};

}  // namespace detail
}  // namespace sluice
