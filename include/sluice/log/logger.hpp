#pragma once

#include <sluice/log/backend.hpp>
#include <sluice/log/detail/backend/error_channel.hpp>
#include <sluice/log/detail/backend/logger_handle.hpp>
#include <sluice/log/detail/backend/port.hpp>
#include <sluice/log/detail/format/caller_state.hpp>
#include <sluice/log/detail/format/deferred_site.hpp>
#include <sluice/log/detail/format/record_head.hpp>
#include <sluice/log/detail/format/record_pairs.hpp>
#include <sluice/log/overflow_policy.hpp>

#include <spdlog/logger.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace sluice::log {

/// In its scope the times that the calling thread's log calls give are printed as they are.
using own_time = detail::OwnTime;

/// A spdlog logger whose sinks are called by a back end.
///
/// Whatever spdlog does with a logger it does with this one: levels, patterns, the registry, clone,
/// backtrace, flush_on, flush_every, error handlers. Different are:
///
/// - The level is checked and the text is formatted on the calling thread; the sinks, with their
///   levels and patterns, are called by the back end, in the order of all calls of all threads.
/// - What sinks throw goes to the error handler, on the back end's thread. Whatever it is, it ends
///   there.
/// - flush() returns at once. The sinks are flushed after all that was logged before. Calls that
///   come while a flush waits are carried out together. flush_wait() of the back end waits.
/// - A record that is not taken, since the lane is full or the back end has ended, is counted; the
///   latter is also reported to the error handler, on the calling thread.
/// - Times are printed so that they do not step back from line to line, also when the clock was set
///   back. Lines of a backtrace and times that the caller gave are printed as they are. Through a
///   pointer to spdlog::logger nobody can tell that a time is the caller's: an own_time around the
///   call tells. Without it an earlier time is printed as that of the line before.
///
/// Who may call what: as with any logger of spdlog. In particular the error handler and the list of
/// sinks are changed while nobody logs. Records in the back end do not mind when their logger goes.
/// A sink may log, too, but not through a logger whose backtrace is on: spdlog holds a lock while
/// it dumps one.
///
/// In a signal handler a log call is delivered or counted, and waits for nothing, if its arguments
/// are formatted without a lock and without allocation, and if backtrace is off. The first call of
/// a thread allocates: see signal_scope.hpp.
///
/// Cost: no allocation and no lock; the text is copied once, into the thread's lane.
///
/// Tests: tests/unit/log/logger_test.cpp.
class async_logger : public spdlog::logger {
public:
    /// Sinks from a range. As with spdlog, a back end that has gone already is an error of each
    /// call, not of this one.
    template <class It>
    async_logger(std::string name, It begin, It end, const std::weak_ptr<backend>& by,
                 overflow_policy policy = overflow_policy::block)
        : logger(std::move(name), begin, end), policy_(policy) {
        join(by);
    }

    async_logger(std::string name, spdlog::sinks_init_list sinks, const std::weak_ptr<backend>& by,
                 overflow_policy policy = overflow_policy::block)
        : async_logger(std::move(name), sinks.begin(), sinks.end(), by, policy) {}

    async_logger(std::string name, spdlog::sink_ptr sink, const std::weak_ptr<backend>& by,
                 overflow_policy policy = overflow_policy::block);

    /// With the name, the sinks and all settings of another logger.
    async_logger(const spdlog::logger& other, const std::weak_ptr<backend>& by,
                 overflow_policy policy);

    async_logger(const async_logger&) = delete;
    async_logger& operator=(const async_logger&) = delete;
    ~async_logger() override;

    overflow_policy policy() const noexcept { return policy_; }

    /// A logger of that name with the same sinks, back end, policy and settings.
    std::shared_ptr<spdlog::logger> clone(std::string name) override;

    /// As spdlog's, with a pattern_formatter of Sluice's: it writes the same lines in less time.
    void set_pattern(const std::string& pattern,
                     spdlog::pattern_time_type type = spdlog::pattern_time_type::local);

    using spdlog::logger::log;

    /// A message with a time of the caller's, which is printed as it is.
    void log(spdlog::log_clock::time_point time, spdlog::source_loc source,
             spdlog::level::level_enum level, spdlog::string_view_t text);

    /// A message whose arguments the back end formats: `write(to)` encodes `size` bytes of them as
    /// `site.print` expects them. The caller has checked the level.
    template <class Write>
    void log_deferred(const detail::DeferredSite& site, std::size_t size, Write&& write) {
        if (should_backtrace()) {
            const auto encode = [](std::byte* to, const void* arguments) {
                (*static_cast<const std::remove_reference_t<Write>*>(arguments))(to);
            };
            log_formatted(site, size, encode, &write);
            return;
        }
        detail::RecordHead head;
        head.site = &site;
        head.time = {};
        head.thread = detail::CallerState::thread();
        head.level = static_cast<std::uint8_t>(site.level);
        head.flags = static_cast<std::uint8_t>(
            detail::RecordHead::hasNoTime |
            (detail::CallerState::flags() & detail::RecordHead::hasPairs));
        post(head, site.level, size, std::forward<Write>(write));
    }

protected:
    void sink_it_(const spdlog::details::log_msg& message) override;
    void flush_() override;

private:
    async_logger(const async_logger& other, std::string name);

    /// The end of every constructor.
    void join(const std::weak_ptr<backend>& by);

    [[gnu::cold]] void noteTrace(std::string_view text) noexcept;

    template <class Write>
    void post(detail::RecordHead& head, spdlog::level::level_enum level, std::size_t size,
              Write&& write) {
        if (__builtin_expect((head.flags & detail::RecordHead::hasPairs) != 0, 0)) {
            postWithPairs(head, level, size, write);
        } else {
            postBytes(head, level, size, std::forward<Write>(write));
        }
    }

    /// The pairs of the call and the context of its thread go before the rest.
    template <class Write>
    [[gnu::cold, gnu::noinline]] void postWithPairs(detail::RecordHead& head,
                                                    spdlog::level::level_enum level,
                                                    std::size_t size, Write& write) {
        const auto pairs = detail::RecordPairs::take();
        postBytes(head, level, pairs.size() + size,
                  [&](std::byte* to) noexcept { write(pairs.write(to)); });
    }

    template <class Write>
    void postBytes(detail::RecordHead& head, spdlog::level::level_enum level, std::size_t size,
                   Write&& write) {
        auto posted = detail::Posted::closed;
        if (port_ != nullptr) {
            head.logger = &handle().state();
            if (flushes(level)) {
                head.flags |= detail::RecordHead::flushes;
            }
            posted = port_->post(head, size, policy_, std::forward<Write>(write));
        }
        if (__builtin_expect(posted == detail::Posted::closed, 0)) {
            err_handler_("async log: the back end doesn't exist anymore");
        }
    }

    bool flushes(spdlog::level::level_enum level) const noexcept {
        // Relaxed, as in spdlog: a setting that takes effect some time.
        return level >= flush_level_.load(std::memory_order_relaxed) && level != spdlog::level::off;
    }

    /// spdlog lets everybody change the list of sinks while nobody logs; the back end's copy
    /// follows it with the next call. Several threads may make that one, so none looks at the copy
    /// before it knows that it is the right one.
    const detail::LoggerHandle& handle() {
        const std::uint64_t wanted = sinksKey();
        // Acquire: the handle was made before its key.
        if (__builtin_expect(handleKey_.load(std::memory_order_acquire) != wanted, 0)) {
            refresh(wanted);
        }
        return handle_;
    }

    [[gnu::cold]] void refresh(std::uint64_t wanted);

    /// Differs from list to list, as far as 64 bits allow. Odd, as addresses of sinks are even, so
    /// never 0.
    std::uint64_t sinksKey() const noexcept {
        std::uint64_t key = 1;
        for (const spdlog::sink_ptr& sink : sinks_) {
            key = (key ^ std::uint64_t{reinterpret_cast<std::uintptr_t>(sink.get())}) *
                  0x9E3779B97F4A7C15U;  // 2^64 / golden ratio
        }
        return key;
    }

    /// Formats here, for the sinks and for the backtrace. `write(to, arguments)` encodes.
    using Encode = void (*)(std::byte* to, const void* arguments);
    [[gnu::cold]] void log_formatted(const detail::DeferredSite& site, std::size_t size,
                                     Encode write, const void* arguments);

    std::shared_ptr<detail::Port> port_;
    overflow_policy policy_;
    std::shared_ptr<detail::ErrorChannel> errors_;
    detail::LoggerHandle handle_;
    std::atomic<std::uint64_t> handleKey_{0};  // the sinks that it was made for
    std::mutex refreshing_;
};

}  // namespace sluice::log

#if !defined(SLUICE_LOG_COMPILED_LIB)
#include <sluice/log/detail/compiled/logger.hpp>
#endif
