#pragma once

/// \file
/// The content of a record in a lane: a head, then text or encoded arguments.

#include <sluice/log/detail/format/caller_state.hpp>

#include <spdlog/details/log_msg.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace sluice::log::detail {

class LoggerState;

/// A call site whose arguments the back end formats. Each site has one constant, which lives as
/// long as the program.
struct DeferredSite {
    spdlog::level::level_enum level;
    spdlog::source_loc source;
    spdlog::string_view_t format;
    /// Formats the encoded arguments and appends the text. It may throw, like the formatting
    /// library.
    void (*print)(const DeferredSite& site, const std::byte* arguments, std::size_t size,
                  spdlog::memory_buf_t& to);
};

/// The head of a record. It is trivially copyable. The lane stores the stamp and the size of the
/// record.
struct RecordHead {
    enum Flags : std::uint8_t {
        none = 0,
        /// A RecordExtra and a name come before the text.
        hasExtra = 1,
        /// The time is printed unchanged: the caller gave it, or the record is a line of a
        /// backtrace.
        keepsTime = CallerState::keepsTime,
        /// The record has no time. The printed time is computed from the stamp.
        hasNoTime = 4,
        /// The sinks are flushed after this record.
        flushes = 8,
        /// PairWriter come before everything else.
        hasPairs = CallerState::hasPairs
    };

    LoggerState* logger;
    const DeferredSite* site;  ///< null: the payload is text
    spdlog::log_clock::time_point time;
    std::uint32_t thread;  ///< the system's number of the thread
    std::uint8_t level;
    std::uint8_t flags;
};

/// The parts that few records have: a source location, and a name that is not the logger's.
struct RecordExtra {
    spdlog::source_loc source;
    std::size_t nameSize;
};

/// While a ScopedTime lives, the records of its thread keep the times that the caller gives.
class ScopedTime {
public:
    ScopedTime() noexcept { CallerState::beginOwnTime(); }
    ~ScopedTime() { CallerState::endOwnTime(); }
    ScopedTime(const ScopedTime&) = delete;
    ScopedTime& operator=(const ScopedTime&) = delete;
};

/// Copies `size` bytes and returns the end of the copy. `from` may be null for 0 bytes.
inline std::byte* append(std::byte* to, const void* from, std::size_t size) noexcept {
    if (size != 0) {
        std::memcpy(to, from, size);
    }
    return to + size;
}

/// Writes a message in the form that a lane stores.
class TextWriter {
public:
    /// `name` is the name that is printed; empty: the logger's name. The arguments must outlive
    /// this object.
    TextWriter(const spdlog::details::log_msg& message, spdlog::string_view_t name) noexcept
        : message_(message),
          name_(name),
          hasExtra_(message.source.filename != nullptr || message.source.funcname != nullptr ||
                    !message.source.empty() || name.size() != 0) {}

    /// Returns the head of the record. The caller sets `logger`.
    RecordHead head() const noexcept {
        RecordHead head;
        head.site = nullptr;
        head.time = message_.time;
        head.thread = static_cast<std::uint32_t>(message_.thread_id);
        head.level = static_cast<std::uint8_t>(message_.level);
        head.flags = static_cast<std::uint8_t>(
            CallerState::flags() | (hasExtra_ ? RecordHead::hasExtra : RecordHead::none));
        return head;
    }

    std::size_t size() const noexcept {
        return message_.payload.size() + (hasExtra_ ? sizeof(RecordExtra) + name_.size() : 0);
    }

    void write(std::byte* to) const noexcept {
        if (hasExtra_) {
            const RecordExtra extra{message_.source, name_.size()};
            to = append(to, &extra, sizeof extra);
            to = append(to, name_.data(), name_.size());
        }
        append(to, message_.payload.data(), message_.payload.size());
    }

private:
    const spdlog::details::log_msg& message_;
    spdlog::string_view_t name_;
    bool hasExtra_;
};

}  // namespace sluice::log::detail
