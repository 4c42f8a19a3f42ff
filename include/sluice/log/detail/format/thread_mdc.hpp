#pragma once

/// \file
/// The mdc (mapped diagnostic context) of a thread: pairs of texts that spdlog prints with each
/// line, since version 1.14.
///
/// A formatter prints the mdc of the thread that calls it. So a log call copies the mdc of its
/// thread, and the back end calls the sinks with this copy as its own mdc. If the version of spdlog
/// has no mdc, these classes do nothing.
///
/// Tests: tests/unit/log/mdc_test.cpp, with a spdlog that has an mdc.

#include <sluice/log/detail/format/pair_codec.hpp>
#include <sluice/log/detail/lanes/signal_safe_scope.hpp>

#include <spdlog/version.h>

#if SPDLOG_VERSION >= 11400 && !defined(SPDLOG_NO_TLS)
#define SLUICE_LOG_HAS_MDC 1
// A header-only spdlog has already included <spdlog/mdc.h>, and some versions cannot be included
// twice.
#include <spdlog/pattern_formatter.h>
#if !defined(SPDLOG_HEADER_ONLY)
#include <spdlog/mdc.h>
#endif
#else
#define SLUICE_LOG_HAS_MDC 0
#endif

#include <map>
#include <new>
#include <string>
#include <string_view>
#include <variant>

namespace sluice::log::detail {

/// Finds the mdc of the calling thread. There is none in a signal handler, and none after the
/// thread's mdc has been destroyed.
class ThreadMdc {
public:
    using Map = std::map<std::string, std::string>;

    /// Returns the mdc of the calling thread, or null. The first call of a thread may allocate.
    static Map* find() {
#if SLUICE_LOG_HAS_MDC
        if (!isOver_ && !SignalSafeScope::isActive()) {
            static thread_local const EndMark mark;
            static_cast<void>(mark);
            return &spdlog::mdc::get_context();
        }
#endif
        return nullptr;
    }

    /// The same, but null for an empty mdc.
    static const Map* findFull() {
        const Map* const mdc = find();
        return mdc == nullptr || mdc->empty() ? nullptr : mdc;
    }

private:
#if SLUICE_LOG_HAS_MDC
    /// Its constructor makes the mdc, so this object is destroyed before the mdc is.
    struct EndMark {
        EndMark() { static_cast<void>(spdlog::mdc::get_context()); }
        EndMark(const EndMark&) = delete;
        EndMark& operator=(const EndMark&) = delete;
        ~EndMark() { isOver_ = true; }
    };

    [[gnu::visibility("default")]] inline static thread_local bool isOver_ = false;
#endif
};

/// While a ScopedMdc lives, its thread has the mdc of a log call.
class ScopedMdc {
public:
    /// The values of `pairs` are texts. If there is no memory for them, the mdc is empty.
    explicit ScopedMdc(PairBytes pairs) noexcept : mdc_(ThreadMdc::find()) {
        if (mdc_ != nullptr) {
            mdc_->swap(other_);
            fill(pairs);
        }
    }
    ~ScopedMdc() {
        if (mdc_ != nullptr) {
            mdc_->swap(other_);
        }
    }
    ScopedMdc(const ScopedMdc&) = delete;
    ScopedMdc& operator=(const ScopedMdc&) = delete;

private:
    void fill(PairBytes pairs) noexcept {
        try {
            forEachPair(pairs, [this](const key_value& pair) {
                (*mdc_)[std::string(pair.key())] = std::get<std::string_view>(pair.value());
            });
        } catch (const std::bad_alloc&) {
            mdc_->clear();
        }
    }

    ThreadMdc::Map* const mdc_;
    ThreadMdc::Map other_;
};

}  // namespace sluice::log::detail
