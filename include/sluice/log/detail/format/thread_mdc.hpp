#pragma once

/// \file
/// The mdc of a thread: pairs of texts that spdlog prints with each line (since spdlog 1.14).
///
/// A formatter prints the mdc of the thread that it runs on. So a log call takes a copy of its
/// thread's mdc along, and the back end calls the sinks in that mdc. Where spdlog has no mdc, all
/// of this is empty.
///
/// Tests: tests/unit/log/mdc_test.cpp, with a spdlog that has one.

#include <sluice/log/detail/format/pair_codec.hpp>
#include <sluice/log/detail/lanes/signal_safe_scope.hpp>

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
#include <new>
#include <string>
#include <string_view>
#include <variant>

namespace sluice::log::detail {

/// In a signal handler, and when the thread's mdc has been destroyed, there is none.
class ThreadMdc {
public:
    using Map = std::map<std::string, std::string>;

    /// The mdc of the calling thread. Null when there is none. Making it may allocate.
    static Map* find() {
#if SLUICE_LOG_HAS_MDC
        if (!isOver_ && !SignalSafeScope::isActive()) {
            static thread_local const Life life;
            static_cast<void>(life);
            return &spdlog::mdc::get_context();
        }
#endif
        return nullptr;
    }

    /// Null, too, when it is empty.
    static const Map* findFull() {
        const Map* const mdc = find();
        return mdc == nullptr || mdc->empty() ? nullptr : mdc;
    }

private:
#if SLUICE_LOG_HAS_MDC
    /// It makes the mdc first, so it ends before the mdc does.
    struct Life {
        Life() { static_cast<void>(spdlog::mdc::get_context()); }
        Life(const Life&) = delete;
        Life& operator=(const Life&) = delete;
        ~Life() { isOver_ = true; }
    };

    [[gnu::visibility("default")]] inline static thread_local bool isOver_ = false;
#endif
};

/// In its scope the mdc of the calling thread is the one of a log call.
class MdcOfCall {
public:
    /// `pairs` are texts. If there is no memory for them, the mdc is empty.
    explicit MdcOfCall(PairBytes pairs) noexcept : mdc_(ThreadMdc::find()) {
        if (mdc_ != nullptr) {
            mdc_->swap(other_);
            fill(pairs);
        }
    }
    ~MdcOfCall() {
        if (mdc_ != nullptr) {
            mdc_->swap(other_);
        }
    }
    MdcOfCall(const MdcOfCall&) = delete;
    MdcOfCall& operator=(const MdcOfCall&) = delete;

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
