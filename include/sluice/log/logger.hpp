#pragma once

#include <sluice/base/send_result.hpp>
#include <sluice/base/thread_slots.hpp>
#include <sluice/log/backend.hpp>
#include <sluice/log/detail/backend/frontend.hpp>
#include <sluice/log/detail/format/record_head.hpp>
#include <sluice/log/fields.hpp>

#include <spdlog/logger.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace sluice::log {

/// A spdlog logger whose sinks are called by a back end.
///
///     auto file = std::make_shared<sluice::log::file_sink_mt>("core.log");
///     auto own = std::make_shared<sluice::log::backend>();
///     auto logger = std::make_shared<sluice::log::async_logger>("core", file, own);
///     spdlog::register_logger(logger);  // if spdlog::get("core") should find it
///     logger->info("{} orders", 17);
///
/// An async_logger supports levels, patterns, the registry, clone, backtrace, flush_on, flush_every
/// and error handlers like any spdlog logger. The calling thread checks the level and formats the
/// text. flush() only requests a flush; backend::flush_wait() waits until the sinks are flushed.
///
/// Order: lines follow the order of the log calls, across all threads. Printed times never
/// decrease, unless a log call is delayed by over 100 ms or has a time argument: log(time, ...).
///
/// Thread safety: as for any spdlog logger. Change the error handler and the list of sinks only
/// while no thread logs. A logger may be destroyed before its records are written. A sink may log,
/// but not to a logger with a backtrace: dump_backtrace() may hold a lock and wait for the sink.
///
/// Errors: if a sink throws, the back end's thread calls the error handler. If the logging thread's
/// lane (queue) is full, the logger's overflow policy applies; each lost record is counted. After
/// the end of the back end, each log call invokes the error handler.
///
/// Performance: a log call copies the text once, into the thread's lane, without a lock. Memory is
/// allocated for a thread's first record, its first error record, and records that exceed the lane.
class async_logger : public spdlog::logger {
public:
    /// As in spdlog, the constructors do not fail if the back end has ended.
    template <class It>
    async_logger(std::string name, It begin, It end, const std::weak_ptr<backend>& by,
                 Overflow policy = Overflow::block)
        : logger(std::move(name), begin, end), policy_(policy) {
        join(by);
    }

    async_logger(std::string name, spdlog::sinks_init_list sinks, const std::weak_ptr<backend>& by,
                 Overflow policy = Overflow::block)
        : async_logger(std::move(name), sinks.begin(), sinks.end(), by, policy) {}

    async_logger(std::string name, spdlog::sink_ptr sink, const std::weak_ptr<backend>& by,
                 Overflow policy = Overflow::block)
        : async_logger(std::move(name), {std::move(sink)}, by, policy) {}

    /// Copies the name, sinks and settings of another logger.
    async_logger(const spdlog::logger& other, const std::weak_ptr<backend>& by, Overflow policy)
        : logger(other), policy_(policy) {
        join(by);
    }

    ~async_logger() override;

    Overflow policy() const noexcept { return policy_; }

    /// swap() is deleted, because queued records point to their logger.
    void swap(spdlog::logger& other) = delete;
    friend void swap(async_logger& a, async_logger& b) = delete;

    std::shared_ptr<spdlog::logger> clone(std::string name) override;

    /// Like spdlog's functions, but earlier records keep their format, and set_pattern() uses
    /// Sluice's pattern_formatter. Calls through a spdlog::logger pointer use spdlog's functions.
    void set_formatter(std::unique_ptr<spdlog::formatter> formatter);
    void set_pattern(const std::string& pattern,
                     spdlog::pattern_time_type type = spdlog::pattern_time_type::local);

    using spdlog::logger::log;

    /// Logs a message without checking the level; the back end formats the message. `write(to)`
    /// encodes the arguments into `size` bytes, which `site.print` decodes.
    template <class Write>
    void log_deferred(const detail::DeferredSite& site, std::size_t size, Write&& write) {
        detail::RecordHead head;
        head.site = &site;
        head.time = {};
        head.thread = detail::CallerState::thread();
        head.level = static_cast<std::uint8_t>(site.level);
        head.flags = static_cast<std::uint8_t>(
            detail::RecordHead::hasNoTime |
            (detail::CallerState::flags() & detail::RecordHead::hasFields));
        post(head, site.level, size, std::forward<Write>(write));
    }

protected:
    void sink_it_(const spdlog::details::log_msg& message) override;
    void flush_() override;

private:
    // Happens-before edge: E1 renew: refresh -> handle.

    async_logger(const async_logger& other, std::string name);

    /// Connects the logger to the back end. Each constructor calls join() last.
    void join(const std::weak_ptr<backend>& by);

    template <class Write>
    SLUICE_ALWAYS_INLINE void post(detail::RecordHead& head, spdlog::level::level_enum level,
                                   std::size_t size, Write&& write) {
        if (flushes(level)) {
            head.flags |= detail::RecordHead::flushes | detail::RecordHead::hasFields;
        }
        if (SLUICE_UNLIKELY((head.flags & detail::RecordHead::hasFields) != 0)) {
            postRarely(head, size, write);
        } else {
            postBytes(head, size, std::forward<Write>(write));
        }
    }

    /// Posts a record that has fields or requests a flush. A flush request also sets hasFields, so
    /// that post() tests one flag.
    template <class Write>
    [[gnu::cold, gnu::noinline]] void postRarely(detail::RecordHead& head, std::size_t size,
                                                 Write& write) {
        const detail::FieldWriter fields;
        postBytes(head, fields.size() + size,
                  [&](std::byte* to) noexcept { write(fields.write(to)); });
        if ((head.flags & detail::RecordHead::flushes) != 0 && frontend_ != nullptr) {
            frontend_->awaitFlush();
        }
    }

    template <class Write>
    void postBytes(detail::RecordHead& head, std::size_t size, Write&& write) {
        auto posted = SendResult::closed;
        if (frontend_ != nullptr) {
            head.logger = &handle(&head).state();
            posted = frontend_->post(head, size, policy_, std::forward<Write>(write));
        }
        if (SLUICE_UNLIKELY(posted == SendResult::closed)) {
            reportEnd("async log: the back end doesn't exist anymore");
        }
    }
    [[gnu::cold, gnu::noinline]] void reportEnd(const char* text) {
        detail::ErrorChannel::handleOnce([&] { err_handler_(text); });
    }

    bool flushes(spdlog::level::level_enum level) const noexcept {
        // Relaxed: value only.
        return level >= flush_level_.load(std::memory_order_relaxed) && level != spdlog::level::off;
    }

    /// Returns the back end's copy of this logger. The first log call after a change of sinks_
    /// makes a new copy. If backend_options::clock is set, handle() also sets the time of `head`.
    const detail::LoggerHandle& handle(detail::RecordHead* head = nullptr) {
        const std::uint64_t wanted = sinksKey();
        if (SLUICE_UNLIKELY(handleKey_.load(std::memory_order_acquire) != wanted)) {  // E1 renew
            refresh(wanted, head);
        }
        return handle_;
    }

    /// Renews handle_, if needed. If backend_options::clock is set, each log call calls refresh().
    [[gnu::cold]] void refresh(std::uint64_t wanted, detail::RecordHead* head);

    /// A hash of the addresses in sinks_. The hash is odd, because the addresses are even.
    std::uint64_t sinksKey() const noexcept {
        std::uint64_t key = 1;
        for (const spdlog::sink_ptr& sink : sinks_) {
            key = fibonacciHash(key ^ std::uint64_t{reinterpret_cast<std::uintptr_t>(sink.get())});
        }
        return key;
    }

    std::shared_ptr<detail::Frontend> frontend_;
    Overflow policy_;
    std::shared_ptr<detail::ErrorChannel> errors_;
    detail::LoggerHandle handle_;
    /// sinksKey() of handle_, less 1 with backend_options::clock: each handle() then refreshes.
    std::atomic<std::uint64_t> handleKey_{0};
    std::mutex refreshing_;
};

}  // namespace sluice::log

// ---- Functions that sluice::log_compiled compiles once

#if defined(SLUICE_LOG_INLINE)

#include <sluice/log/pattern_formatter.hpp>

#include <cstring>
#include <string_view>

// NOLINTBEGIN(misc-definitions-in-headers)
namespace sluice::log {

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
        const std::shared_ptr<backend> owner = by.lock();
        frontend_ = owner ? owner->core_ : nullptr;
    }
    errors_ = std::make_shared<detail::ErrorChannel>(name_, &custom_err_handler_);
    refresh(sinksKey(), nullptr);
}

SLUICE_LOG_INLINE std::shared_ptr<spdlog::logger> async_logger::clone(std::string name) {
    return std::shared_ptr<async_logger>(new async_logger(*this, std::move(name)));
}

SLUICE_LOG_INLINE void async_logger::set_formatter(std::unique_ptr<spdlog::formatter> formatter) {
    for (const spdlog::sink_ptr& sink : sinks_) {
        std::unique_ptr<detail::OrderedAction> change =
            std::make_unique<detail::FormatterChange>(sink, errors_, formatter->clone());
        if (frontend_ == nullptr || !frontend_->send(change)) {
            sink->set_formatter(formatter->clone());
        }
    }
}

SLUICE_LOG_INLINE void async_logger::set_pattern(const std::string& pattern,
                                                 spdlog::pattern_time_type type) {
    set_formatter(std::make_unique<pattern_formatter>(pattern, type));
}

SLUICE_LOG_INLINE void async_logger::sink_it_(const spdlog::details::log_msg& message) {
    // The first and last line of a backtrace. spdlog writes all lines of a backtrace in one call.
    constexpr std::string_view begin = "****************** Backtrace Start ******************";
    constexpr std::string_view end = "****************** Backtrace End ********************";
    static_assert(begin.size() == end.size());
    if (SLUICE_UNLIKELY(message.payload.size() == begin.size()) && should_backtrace()) {
        const std::string_view text(message.payload.data(), message.payload.size());
        if (text == begin || text == end) {
            detail::CallerState::setTracing(text == begin);
        }
    }
    const bool hasSource = message.source.filename != nullptr ||
                           message.source.funcname != nullptr || !message.source.empty();
    detail::RecordHead head;
    head.site = nullptr;
    head.time = message.time;
    head.thread = static_cast<std::uint32_t>(message.thread_id);
    head.level = static_cast<std::uint8_t>(message.level);
    head.flags = static_cast<std::uint8_t>(detail::CallerState::flagsAt(message.time) |
                                           (hasSource ? detail::RecordHead::hasSource : 0));
    const std::size_t size = message.payload.size() + (hasSource ? sizeof message.source : 0);
    post(head, message.level, size, [&](std::byte* to) noexcept {
        if (hasSource) {
            std::memcpy(to, &message.source, sizeof message.source);
            to += sizeof message.source;
        }
        if (message.payload.size() != 0) {  // an empty payload's address may be null
            std::memcpy(to, message.payload.data(), message.payload.size());
        }
    });
}

SLUICE_LOG_INLINE void async_logger::flush_() {
    if (frontend_ == nullptr || !handle().flush()) {
        reportEnd("async flush: the back end doesn't exist anymore");
    }
}

SLUICE_LOG_INLINE void async_logger::refresh(std::uint64_t wanted, detail::RecordHead* head) {
    const auto* const clock = frontend_ == nullptr ? nullptr : frontend_->ownClock();
    const std::uint64_t key = wanted - (clock != nullptr ? 1 : 0);
    if (frontend_ != nullptr && handleKey_.load(std::memory_order_acquire) != key) {  // E1 renew
        const std::lock_guard<std::mutex> lock(refreshing_);
        if (handleKey_.load(std::memory_order_relaxed) != key) {  // under the lock
            handle_.renew(frontend_,
                          std::make_unique<detail::LoggerState>(name_, sinks_, policy_, errors_));
            handleKey_.store(key, std::memory_order_release);  // E1 renew
        }
    }
    if (clock != nullptr && head != nullptr) {
        head->time = spdlog::log_clock::now();
        head->flags &= static_cast<std::uint8_t>(~detail::RecordHead::hasNoTime);
        head->flags |= detail::RecordHead::ownTime;
        detail::guarded(*errors_, {}, [&] { head->time = (*clock)(); });
    }
}

}  // namespace sluice::log
// NOLINTEND(misc-definitions-in-headers)

#endif
