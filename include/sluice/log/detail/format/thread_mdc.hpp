#pragma once

/// \file
/// The mdc of a thread: pairs of texts that spdlog prints with each line (since spdlog 1.14).
///
/// A formatter prints the mdc of the thread that it runs on. So a log call copies the mdc of its
/// thread, and the back end calls the sinks with that mdc. Without an mdc in spdlog all of this is
/// empty.
///
/// Tests: tests/unit/log/mdc_test.cpp, with a spdlog that has an mdc.

#include <sluice/log/detail/format/pair_codec.hpp>
#include <sluice/log/detail/lanes/signal_safe_scope.hpp>

#include <spdlog/version.h>

#if SPDLOG_VERSION >= 11400 && !defined(SPDLOG_NO_TLS)
#define SLUICE_LOG_HAS_MDC 1
// A header-only spdlog has included this header already, and some versions cannot be included
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

/// There is none in a signal handler, and after the thread's mdc has been destroyed.
class ThreadMdc {
public:
    using Map = std::map<std::string, std::string>;

    /// The mdc of the calling thread, or null. Making it may allocate.
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

    /// Also null for an empty mdc.
    static const Map* findFull() {
        const Map* const mdc = find();
        return mdc == nullptr || mdc->empty() ? nullptr : mdc;
    }

private:
#if SLUICE_LOG_HAS_MDC
    /// Makes the mdc first, so that this object ends before the mdc.
    struct EndMark {
        EndMark() { static_cast<void>(spdlog::mdc::get_context()); }
        EndMark(const EndMark&) = delete;
        EndMark& operator=(const EndMark&) = delete;
        ~EndMark() { isOver_ = true; }
    };

    [[gnu::visibility("default")]] inline static thread_local bool isOver_ = false;
#endif
};

/// While one lives, its thread has the mdc of a log call.
class ScopedMdc {
public:
    /// `pairs` are texts. If there is no memory for them, the mdc is empty.
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
