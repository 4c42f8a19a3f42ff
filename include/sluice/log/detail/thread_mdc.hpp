#pragma once

/// \file
/// ThreadMdc: the pairs that the calling thread has put into spdlog's mdc (since spdlog 1.14).
///
/// spdlog prints the mdc of the thread that formats, which is the back end's. So log calls copy the
/// mdc of their own thread, as they do with a scoped_context.
///
/// Tests: tests/unit/log/mdc_test.cpp.

#include <sluice/log/detail/quiet_thread.hpp>

#include <spdlog/version.h>

#if SPDLOG_VERSION >= 11400 && !defined(SPDLOG_NO_TLS)
#define SLUICE_LOG_HAS_MDC 1
// Where spdlog is header-only this header brings the mdc, of which not every version can be
// included twice.
#include <spdlog/pattern_formatter.h>
#if !defined(SPDLOG_HEADER_ONLY)
#include <spdlog/mdc.h>
#endif
#else
#define SLUICE_LOG_HAS_MDC 0
#endif

#include <map>
#include <string>

namespace sluice::log::detail {

/// In a signal handler, and when the thread's mdc has been destroyed, there is none.
class ThreadMdc {
public:
    using Map = std::map<std::string, std::string>;

#if SLUICE_LOG_HAS_MDC
    /// Null when it is empty.
    static const Map* get() {
        // Making an mdc may allocate.
        if (isOver_ || QuietThread::isQuiet()) {
            return nullptr;
        }
        static thread_local const Life life;
        static_cast<void>(life);
        const Map& mdc = spdlog::mdc::get_context();
        return mdc.empty() ? nullptr : &mdc;
    }

private:
    /// It makes the mdc first, so it ends before the mdc does.
    struct Life {
        Life() { static_cast<void>(spdlog::mdc::get_context()); }
        Life(const Life&) = delete;
        Life& operator=(const Life&) = delete;
        ~Life() { isOver_ = true; }
    };

    [[gnu::visibility("default")]] inline static thread_local bool isOver_ = false;
#else
    static constexpr const Map* get() noexcept { return nullptr; }
#endif
};

}  // namespace sluice::log::detail
