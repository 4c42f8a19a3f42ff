#pragma once

/// \file
/// The functions of async_logger.

#include <sluice/log/backend.hpp>
#include <sluice/log/detail/backend/backend_access.hpp>
#include <sluice/log/detail/compiled/inline.hpp>
#include <sluice/log/detail/format/pair_text.hpp>
#include <sluice/log/detail/format/record_head.hpp>
#include <sluice/log/logger.hpp>
#include <sluice/log/pattern_formatter.hpp>

#include <spdlog/logger.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Not inline in the compiled library, which includes each of these headers once.
// NOLINTBEGIN(misc-definitions-in-headers)
namespace sluice::log {

namespace detail {

// The first and the last line of a backtrace, in the words of spdlog.
inline constexpr std::string_view traceBegins =
    "****************** Backtrace Start ******************";
inline constexpr std::string_view traceEnds =
    "****************** Backtrace End ********************";
static_assert(traceBegins.size() == traceEnds.size());

}  // namespace detail

SLUICE_LOG_INLINE async_logger::async_logger(std::string name, spdlog::sink_ptr sink,
                                             const std::weak_ptr<backend>& by,
                                             overflow_policy policy)
    : async_logger(std::move(name), {std::move(sink)}, by, policy) {
}

SLUICE_LOG_INLINE async_logger::async_logger(const spdlog::logger& other,
                                             const std::weak_ptr<backend>& by,
                                             overflow_policy policy)
    : logger(other), policy_(policy) {
    join(by);
}

SLUICE_LOG_INLINE async_logger::async_logger(const async_logger& other, std::string name)
    : logger(other), frontend_(other.frontend_), policy_(other.policy_) {
    name_ = std::move(name);
    join({});
}

SLUICE_LOG_INLINE async_logger::~async_logger() {
    errors_->release();
}

SLUICE_LOG_INLINE void async_logger::join(const std::weak_ptr<backend>& by) {
    if (frontend_ == nullptr) {
        frontend_ = detail::BackendAccess::frontend(by.lock());
    }
    errors_ = std::make_shared<detail::ErrorChannel>(name_, &custom_err_handler_);
    refresh(sinksKey());
}

SLUICE_LOG_INLINE std::shared_ptr<spdlog::logger> async_logger::clone(std::string name) {
    return std::shared_ptr<async_logger>(new async_logger(*this, std::move(name)));
}

SLUICE_LOG_INLINE void async_logger::set_pattern(const std::string& pattern,
                                                 spdlog::pattern_time_type type) {
    set_formatter(std::make_unique<pattern_formatter>(pattern, type));
}

SLUICE_LOG_INLINE void async_logger::log(spdlog::log_clock::time_point time,
                                         spdlog::source_loc source, spdlog::level::level_enum level,
                                         spdlog::string_view_t text) {
    const bool isEnabled = should_log(level);
    if (isEnabled || should_backtrace()) {
        const own_time scope;
        log_it_({time, source, name_, level, text}, isEnabled, should_backtrace());
    }
}

SLUICE_LOG_INLINE void async_logger::sink_it_(const spdlog::details::log_msg& message) {
    if (__builtin_expect(message.payload.size() == detail::traceBegins.size(), 0)) {
        noteTrace({message.payload.data(), message.payload.size()});
    }
    const detail::TextWriter text(message, {});
    detail::RecordHead head = text.head();
    post(head, message.level, text.size(), [&](std::byte* to) noexcept { text.write(to); });
}

SLUICE_LOG_INLINE void async_logger::flush_() {
    if (frontend_ == nullptr || !handle().flush()) {
        err_handler_("async flush: the back end doesn't exist anymore");
    }
}

/// Notices the first and the last line of a backtrace, because the lines between them keep their
/// times. One call writes all of them, on one thread.
SLUICE_LOG_INLINE void async_logger::noteTrace(std::string_view text) noexcept {
    if (should_backtrace() && text == detail::traceBegins) {
        detail::CallerState::beginTrace();
    } else if (should_backtrace() && text == detail::traceEnds) {
        detail::CallerState::endTrace();
    }
}

SLUICE_LOG_INLINE void async_logger::refresh(std::uint64_t wanted) {
    const std::lock_guard<std::mutex> lock(refreshing_);
    if (frontend_ != nullptr && handleKey_.load(std::memory_order_relaxed) != wanted) {
        handle_ = detail::LoggerHandle(frontend_, name_, sinks_, policy_, errors_);
        handleKey_.store(wanted, std::memory_order_release);
    }
}

SLUICE_LOG_INLINE void async_logger::log_formatted(const detail::DeferredSite& site,
                                                   std::size_t size, Encode write,
                                                   const void* arguments) {
    try {
        std::vector<std::byte> encoded(size);
        write(encoded.data(), arguments);
        const detail::PairList pairs = detail::CallerState::setPairs({});
        std::vector<std::byte> bytes(detail::sizeOfPairs(pairs));
        detail::writePairs(bytes.data(), pairs);
        spdlog::memory_buf_t text;
        site.print(site, encoded.data(), size, text);
        detail::printPairs({bytes.data(), bytes.size()}, text);
        log_it_({site.source, name_, site.level, {text.data(), text.size()}},
                should_log(site.level), true);
    } catch (const std::exception& error) {
        err_handler_(detail::describe(error.what(), site.source));
    }
}

}  // namespace sluice::log
// NOLINTEND(misc-definitions-in-headers)
