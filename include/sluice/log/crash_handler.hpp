#pragma once

/// \file
/// A handler of fatal signals that lets the back ends write the earlier records.
///
/// Without it, records in lanes are lost with the process. With it, the crashing thread waits until
/// the workers of all back ends have written the earlier records and flushed the sinks, but at most
/// for the given time. Then the signal has its usual effect: an earlier handler runs, or the
/// process ends, with a core if cores are on. After a fault the processor runs the faulty
/// instruction again, so handler and core see the cause and the address. Any other signal is raised
/// again, so it seems to come from the process itself.
///
/// Opt-in, and best effort, because the process is damaged. It cannot help a worker that crashes
/// itself, nor a worker whose sink waits for a lock of the crashed thread. A thread that crashed
/// inside a log call holds back later records of other threads.
///
/// Any thread may call install_crash_handler(), also again: later settings replace earlier ones.
///
/// Tests: tests/unit/log/crash_handler_test.cpp.

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

namespace sluice::log {

namespace detail {

/// The state of the handler.
class CrashHandler {
public:
    static CrashHandler& instance() noexcept;

    void install(std::chrono::nanoseconds timeout, std::initializer_list<int> signals) {
        // Relaxed: the handler may be running, and both values are valid.
        timeout_.store(timeout.count(), std::memory_order_relaxed);
        static_cast<void>(BackendRegistry::instance());  // made here, because it allocates
        for (const int signal : signals) {
            install(signal);
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
        CrashHandler& self = instance();
        BackendRegistry::instance().forEach([](RegistryMember& member) { member.beginRescue(); });
        self.waitForRescue();
        // The signal comes again as soon as this handler has returned.
        sigaction(signal, &self.before_[static_cast<std::size_t>(signal)], nullptr);
        if (!isFault(signal, *info)) {
            raise(signal);
        }
        errno = savedErrno;
    }

    /// Whether the interrupted instruction caused the signal, and will cause it again.
    static bool isFault(int signal, const siginfo_t& info) noexcept {
#if defined(BUS_MCEERR_AO)
        if (signal == SIGBUS && info.si_code == BUS_MCEERR_AO) {
            return false;  // a memory error that no instruction caused
        }
#endif
        const bool mayBe =
            signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE || signal == SIGILL;
        return mayBe && info.si_code > 0;  // from the kernel, not from a process
    }

    void waitForRescue() const noexcept {
        const auto start = std::chrono::steady_clock::now();
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

    std::atomic<std::chrono::nanoseconds::rep> timeout_{0};
    std::array<struct sigaction, signalCount> before_{};
};

/// All shared libraries have the same object, also those that hide their symbols. It need not be
/// made: a thread that made it might do so while another one forks, and the child would wait for it
/// for ever.
[[gnu::visibility("default")]] inline CrashHandler crashHandler;

inline CrashHandler& CrashHandler::instance() noexcept {
    return crashHandler;
}

}  // namespace detail

/// Handles these signals from now on. Throws spdlog_ex if one cannot be handled.
inline void install_crash_handler(std::chrono::nanoseconds timeout = std::chrono::seconds(5),
                                  std::initializer_list<int> signals = {SIGSEGV, SIGBUS, SIGFPE,
                                                                        SIGILL, SIGABRT}) {
    detail::CrashHandler::instance().install(timeout, signals);
}

}  // namespace sluice::log
