#pragma once

/// \file
/// The parts of a record: head, optional fields, source location, text or encoded arguments.

#include <sluice/base/platform.hpp>

#include <spdlog/details/log_msg.h>
#include <spdlog/details/os.h>
#include <spdlog/version.h>

#if SPDLOG_VERSION >= 11400 && !defined(SPDLOG_NO_TLS)
#define SLUICE_LOG_HAS_MDC 1
// A header-only spdlog includes <spdlog/mdc.h>, which has no include guard in some versions.
#include <spdlog/pattern_formatter.h>
#if !defined(SPDLOG_HEADER_ONLY)
#include <spdlog/mdc.h>
#endif
#else
#define SLUICE_LOG_HAS_MDC 0
#endif

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

namespace sluice::log {

class key_value;

namespace detail {

class LoggerState;

/// The constant description of one log call in the source, whose arguments the back end formats.
struct DeferredSite {
    spdlog::level::level_enum level;
    spdlog::source_loc source;
    spdlog::string_view_t format;
    /// print() formats the encoded `arguments` and appends the text to `to`. May throw.
    void (*print)(const DeferredSite& site, const std::byte* arguments, std::size_t size,
                  spdlog::memory_buf_t& to);
};

/// The head of a record. The record's stamp and size are stored in the RecordFrame.
struct RecordHead {
    enum Flags : std::uint8_t {
        none = 0,
        hasSource = 1,  ///< a spdlog::source_loc precedes the text
        ownTime = 2,    ///< `time` is printed even if it is earlier than the previous line's time
        hasNoTime = 4,  ///< the printed time is computed from the record's stamp
        flushes = 8,    ///< the sinks are flushed after this record
        hasFields = 16  ///< the payload begins with a FieldWriter's output
    };

    LoggerState* logger;
    const DeferredSite* site;  ///< null: the payload is text
    spdlog::log_clock::time_point time;
    std::uint32_t thread;  ///< the operating system's thread id
    std::uint8_t level;
    std::uint8_t flags;
};

/// The assumed maximum delay between reading a record's time and printing the record. A line shows
/// the previous line's time if its own time is earlier by less than longestDelay.
inline constexpr std::chrono::milliseconds longestDelay{100};

/// The fields of one log call, valid until the call returns.
struct FieldList {
    const key_value* first = nullptr;
    std::size_t count = 0;
};

struct FieldBytes {
    const std::byte* bytes = nullptr;
    std::size_t size = 0;
};

/// A thread's mdc (mapped diagnostic context): texts that spdlog 1.14 or later adds to each line
/// of the thread. The mdc's texts become fields of the context of each record.
class ThreadMdc {
public:
    using Map = std::map<std::string, std::string>;

    /// Returns the calling thread's mdc, or null if the mdc is empty, destroyed, or unsupported by
    /// spdlog. The first call may allocate.
    static const Map* findNonEmpty() {
#if SLUICE_LOG_HAS_MDC
        if (!isDestroyed_) {
            static thread_local const EndMark mark;
            static_cast<void>(mark);
            const Map& mdc = spdlog::mdc::get_context();
            return mdc.empty() ? nullptr : &mdc;
        }
#endif
        return nullptr;
    }

private:
#if SLUICE_LOG_HAS_MDC
    /// The constructor creates the thread's mdc, so that an EndMark is destroyed before the mdc.
    struct EndMark {
        EndMark() { static_cast<void>(spdlog::mdc::get_context()); }
        ~EndMark() { isDestroyed_ = true; }
    };

    [[gnu::visibility("default")]] inline static thread_local bool isDestroyed_ = false;
#endif
};

/// The calling thread's data for its records: thread id, context, and fields of the current call.
/// In one thread, all shared libraries use the same CallerState. CallerState has no destructor, so
/// that destructors of thread-local objects can log.
class CallerState {
public:
    static std::uint8_t flags() noexcept {
        return static_cast<std::uint8_t>(
            state().flags_ | (mdc() != nullptr ? RecordHead::hasFields : RecordHead::none));
    }

    /// Returns the flags of a record with `time`. Sets ownTime if `time` is earlier than the
    /// thread's previous time, or if the record is in a backtrace.
    static std::uint8_t flagsAt(spdlog::log_clock::time_point time) noexcept {
        CallerState& own = state();
        if (SLUICE_UNLIKELY(time < own.last_ || own.isTracing_)) {
            // A difference above longestDelay shows that the clock was set back: adopt `time`.
            own.last_ = time < own.last_ - longestDelay ? time : own.last_;
            return flags() | RecordHead::ownTime;
        }
        own.last_ = time;
        return flags();
    }

    static std::uint32_t thread() noexcept {
        if (SLUICE_UNLIKELY(state().thread_ == 0)) {
            findThread();
        }
        return state().thread_;
    }

    /// Sets the fields of the calling thread's next record, and returns the previous fields.
    static FieldList setFields(FieldList fields) noexcept {
        return changed(std::exchange(state().fields_, fields));
    }

    /// Sets the context of the thread's later records; null: none. Returns the previous context.
    static const FieldBytes* setContext(const FieldBytes* context) noexcept {
        return changed(std::exchange(state().context_, context));
    }
    static FieldBytes context() noexcept {
        return state().context_ == nullptr || state().isTracing_ ? FieldBytes() : *state().context_;
    }
    /// Returns the calling thread's mdc, or null if the mdc is empty or a backtrace is written.
    static const ThreadMdc::Map* mdc() noexcept {
        return state().isTracing_ ? nullptr : ThreadMdc::findNonEmpty();
    }

    /// Omits the context while the thread writes a backtrace, whose lines are from earlier calls.
    static void setTracing(bool isTracing) noexcept {
        changed(std::exchange(state().isTracing_, isTracing));
    }

    /// Sets the fields of the calling thread's next record during the lifetime of a Fields object.
    class Fields {
    public:
        explicit Fields(FieldList fields) noexcept : before_(setFields(fields)) {}
        ~Fields() { setFields(before_); }
        Fields(const Fields&) = delete;
        Fields& operator=(const Fields&) = delete;

    private:
        const FieldList before_;
    };

private:
    SLUICE_THREAD_ADDRESS static CallerState& state() noexcept { return state_; }

    template <class T>
    static T changed(T result) noexcept {
        const bool hasFields =
            state().fields_.count != 0 || (state().context_ != nullptr && !state().isTracing_);
        state().flags_ = hasFields ? RecordHead::hasFields : RecordHead::none;
        return result;
    }
    [[gnu::cold, gnu::noinline]] static void findThread() noexcept {
        state().thread_ = static_cast<std::uint32_t>(spdlog::details::os::thread_id());
    }

    std::uint8_t flags_ = 0;
    bool isTracing_ = false;
    std::uint32_t thread_ = 0;  ///< 0: not known yet
    FieldList fields_;
    const FieldBytes* context_ = nullptr;
    spdlog::log_clock::time_point last_;  ///< see flagsAt()

    static thread_local CallerState state_;
};

[[gnu::visibility("default")]] inline thread_local CallerState CallerState::state_;

}  // namespace detail

}  // namespace sluice::log
