#pragma once

/// \file
/// A handler of fatal signals that lets the back ends write all records logged before the crash.
///
///     sluice::log::install_crash_handler(std::chrono::seconds(2));
///
/// The crashing thread waits, for at most `timeout`, until all back ends have written the records
/// and flushed the sinks. After the wait, the signal has its usual effect: the previously installed
/// handler runs, or the process ends. A faulting instruction runs again, so that the previous
/// handler and the core file show the fault's address. A signal that no instruction caused is
/// raised again. A signal has its default effect if the previous handler passes it to this one.
///
/// The crash handler may fail if the back end's own thread crashes, if a sink waits for a lock that
/// the crashing thread holds, or if the crash occurs inside a log call.
///
/// Thread safety: any thread may call install_crash_handler().
///
/// On Windows, install_crash_handler() is deleted; call flush_wait() in a filter for
/// SetUnhandledExceptionFilter() instead.

#if defined(_WIN32)
namespace sluice::log {
template <class... Settings>
void install_crash_handler(Settings...) = delete;  // Windows does not report faults as signals
}
#else

#include <sluice/log/backend_options.hpp>
#include <sluice/log/detail/backend/backend_registry.hpp>

#include <spdlog/common.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <ctime>
#include <initializer_list>
#include <utility>

namespace sluice::log {

namespace detail {

class CrashHandler {
public:
    static void install(std::chrono::nanoseconds timeout, std::initializer_list<int> signals) {
        self_.timeout_.store(timeout.count(), std::memory_order_relaxed);  // value only
        static_cast<void>(BackendRegistry::instance());  // allocates here, not in handle()
        handled_ = 0;
        for (const int signal : signals) {
            self_.install(signal);
        }
    }

private:
    static constexpr std::size_t signalCount = 65;

    void install(int signal) {
        struct sigaction mine = {};
        mine.sa_sigaction = &CrashHandler::handle;
        mine.sa_flags = SA_ONSTACK | SA_SIGINFO;
        sigemptyset(&mine.sa_mask);
        struct sigaction before = {};
        if (signal <= 0 || static_cast<std::size_t>(signal) >= signalCount ||
            sigaction(signal, &mine, &before) != 0) {
            spdlog::throw_spdlog_ex("sluice::log::install_crash_handler(): signal " +
                                        std::to_string(signal) + " cannot be handled",
                                    errno);
        }
        if ((before.sa_flags & SA_SIGINFO) == 0 || before.sa_sigaction != &CrashHandler::handle) {
            before_[static_cast<std::size_t>(signal)] = before;
        }
    }

    static void handle(int signal, siginfo_t* info, void* /*context*/) {
        const int savedErrno = errno;
        BackendRegistry::instance().forEach([](RegistryMember& member) { member.beginRescue(); });
        self_.waitForRescue();
        // Restores the previous handler, which runs after handle() returns. If the same signal
        // reaches handle() again, restores the default effect, so that the process ends.
        struct sigaction next = {};  // SIG_DFL
        if (std::exchange(handled_, signal) != signal) {
            next = self_.before_[static_cast<std::size_t>(signal)];
        }
        sigaction(signal, &next, nullptr);
        if (!isFault(signal, *info)) {
            raise(signal);
        }
        errno = savedErrno;
    }

    /// Returns true if an instruction caused `signal`, and would cause `signal` again.
    static bool isFault(int signal, const siginfo_t& info) noexcept {
#if defined(BUS_MCEERR_AO)
        if (signal == SIGBUS && info.si_code == BUS_MCEERR_AO) {
            return false;  // a memory error that no instruction caused
        }
#endif
        const bool mayBe =
            signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE || signal == SIGILL;
        return mayBe && info.si_code > 0;  // sent by the kernel, not by a process
    }

    void waitForRescue() const noexcept {
        const auto start = std::chrono::steady_clock::now();
        // Relaxed: value only.
        const std::chrono::nanoseconds timeout(timeout_.load(std::memory_order_relaxed));
        for (;;) {
            bool isOver = true;
            BackendRegistry::instance().forEach(
                [&](RegistryMember& member) { isOver = isOver && member.isRescued(); });
            if (isOver || std::chrono::steady_clock::now() - start >= timeout) {
                return;
            }
            const struct timespec nap = {0, 200'000};
            nanosleep(&nap, nullptr);
        }
    }

    [[gnu::visibility("default")]] inline static thread_local int handled_ = 0;  ///< last signal
    std::atomic<std::chrono::nanoseconds::rep> timeout_{0};                      ///< in nanoseconds
    std::array<struct sigaction, signalCount> before_{};  ///< the signals' actions before install()

    /// All shared libraries use the same CrashHandler. self_ is initialised statically, because a
    /// child forked during a dynamic initialisation would wait forever for its end.
    static CrashHandler self_;
};

[[gnu::visibility("default")]] inline CrashHandler CrashHandler::self_;

}  // namespace detail

/// Installs the crash handler for `signals`. In a crash, the handler waits for at most `timeout`. A
/// later call replaces `timeout`. Throws spdlog_ex if the system refuses a handler.
inline void install_crash_handler(std::chrono::nanoseconds timeout = std::chrono::seconds(5),
                                  std::initializer_list<int> signals = {SIGSEGV, SIGBUS, SIGFPE,
                                                                        SIGILL, SIGABRT}) {
    detail::CrashHandler::install(timeout, signals);
}

}  // namespace sluice::log

#endif
