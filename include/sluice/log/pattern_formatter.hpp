#pragma once

#include <sluice/log/detail/format/cached_text.hpp>
#include <sluice/log/detail/format/pattern_pieces.hpp>

#include <spdlog/common.h>
#include <spdlog/details/log_msg.h>
#include <spdlog/details/os.h>
#include <spdlog/formatter.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/version.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Threads have a context since spdlog 1.14, and %+ writes it. A header-only spdlog has included
// this header already, and some versions cannot be included twice.
#if SPDLOG_VERSION >= 11400 && !defined(SPDLOG_NO_TLS) && !defined(SPDLOG_HEADER_ONLY)
#include <spdlog/mdc.h>
#endif

namespace sluice::log {

namespace detail {

/// A text that the formatter keeps, and the range of it that a console colours.
struct KeptText {
    CachedText text;
    std::size_t colorBegin = 0;
    std::size_t colorEnd = 0;
};

/// A piece of a pattern, and the data to write it.
struct PatternStep {
    PieceKind kind = PieceKind::text;
    bool beginsColor = false;
    bool endsColor = false;

    /// The kept text. A piece of kind `level` has one for each level.
    std::vector<KeptText> texts;

    /// spdlog's formatter for this piece. It makes the kept text, and writes a flag that this class
    /// does not write itself.
    std::unique_ptr<spdlog::pattern_formatter> writer;
};

/// Whether the calling thread has a context that %+ writes.
inline bool hasContext() {
#if SPDLOG_VERSION >= 11400 && !defined(SPDLOG_NO_TLS)
    return !spdlog::mdc::get_context().empty();
#else
    return false;
#endif
}

}  // namespace detail

/// Writes the same lines as spdlog::pattern_formatter, byte for byte, in fewer instructions.
///
///     sink->set_formatter(std::make_unique<sluice::log::pattern_formatter>("[%H:%M:%S.%e] %v"));
///     // or, for all loggers of spdlog's registry:
///     sluice::log::set_pattern("[%H:%M:%S.%e] %v");
///
/// Most of a line is the same as in the line before. So the formatter keeps each text that changes
/// at most once a second. It copies digits and names straight into the line, and makes room once
/// for each line. spdlog itself writes all other texts: those that are kept, flags with a width,
/// and rare flags. So they look as in the version of spdlog that the program uses.
///
/// Use it instead of spdlog::pattern_formatter. async_logger::set_pattern(),
/// file_sink::set_pattern() and sluice::log::set_pattern() make one. Use spdlog's own formatter for
/// flags of your own (custom_flags).
///
/// Threads: one thread at a time, as with any formatter. A sink locks its mutex before it calls its
/// formatter.
///
/// Cost: about 15 ns for `[%Y-%m-%d %H:%M:%S.%e] [%n] [%l] %v`, and the time to copy the message.
/// It allocates in the constructor, when the second changes, and if `to` lacks room for a line.
///
/// Tests: tests/unit/log/pattern_formatter_test.cpp compares both formatters on random patterns.
class pattern_formatter final : public spdlog::formatter {
public:
    /// The arguments of spdlog::pattern_formatter.
    explicit pattern_formatter(
        std::string pattern = "%+",
        spdlog::pattern_time_type timeType = spdlog::pattern_time_type::local,
        std::string eol = spdlog::details::os::default_eol)
        : pattern_(std::move(pattern)), timeType_(timeType), eol_(std::move(eol)) {
        for (const detail::Piece& piece : detail::piecesOf(pattern_)) {
            steps_.push_back(stepFor(piece));
        }
        // Appended unchanged: the end of line is not a pattern.
        steps_.emplace_back().texts.push_back({detail::CachedText(eol_)});
        countRoom();
    }

    void format(const spdlog::details::log_msg& message, spdlog::memory_buf_t& to) override {
        const Nanoseconds time = sinceEpoch(message);
        if (since(second_, time) >= perSecond) {
            beginSecond(message, time);
        }
        const std::size_t room = roomFor(message);
        // Nanoseconds of the second. Used only if the time is not before the epoch.
        const auto fraction = static_cast<std::uint32_t>(since(second_, time));
        char* at = extend(to, room);
        for (const detail::PatternStep& step : steps_) {
            if (char* const end = write(step, message, fraction, to, at)) {
                at = end;
            } else {
                shrink(to, at);
                step.writer->format(message, to);
                at = extend(to, room);
            }
        }
        shrink(to, at);
    }

    std::unique_ptr<spdlog::formatter> clone() const override {
        return std::make_unique<pattern_formatter>(pattern_, timeType_, eol_);
    }

private:
    using Nanoseconds = std::int64_t;
    static constexpr std::uint64_t perSecond = 1'000'000'000;
    static constexpr Nanoseconds noSecond = std::numeric_limits<Nanoseconds>::min();

    static Nanoseconds sinceEpoch(const spdlog::details::log_msg& message) noexcept {
        return std::chrono::nanoseconds(message.time.time_since_epoch()).count();
    }

    /// The difference. It is a large number if `time` is before `begin`.
    static std::uint64_t since(Nanoseconds begin, Nanoseconds time) noexcept {
        return static_cast<std::uint64_t>(time) - static_cast<std::uint64_t>(begin);
    }

    /// Makes `to` larger by `room` bytes. Returns the address of the new part.
    static char* extend(spdlog::memory_buf_t& to, std::size_t room) {
        const std::size_t size = to.size();
        to.resize(size + room);
        return to.data() + size;
    }

    static void shrink(spdlog::memory_buf_t& to, const char* end) {
        to.resize(static_cast<std::size_t>(end - to.data()));
    }

    detail::PatternStep stepFor(const detail::Piece& piece) const {
        detail::PatternStep step;
        step.kind = piece.kind;
        step.beginsColor = piece.beginsColor;
        step.endsColor = piece.endsColor;
        step.writer = std::make_unique<spdlog::pattern_formatter>(piece.pattern, timeType_, "");
        spdlog::details::log_msg example;
        if (piece.kind == detail::PieceKind::text) {
            step.texts.push_back(written(*step.writer, example));
        } else if (piece.kind == detail::PieceKind::second) {
            step.texts.emplace_back();
        } else if (piece.kind == detail::PieceKind::level) {
            for (int level = 0; level < spdlog::level::n_levels; ++level) {
                example.level = static_cast<spdlog::level::level_enum>(level);
                step.texts.push_back(written(*step.writer, example));
            }
        }
        return step;
    }

    static detail::KeptText written(spdlog::pattern_formatter& writer,
                                    const spdlog::details::log_msg& message) {
        spdlog::memory_buf_t text;
        writer.format(message, text);
        return {detail::CachedText({text.data(), text.size()}), message.color_range_start,
                message.color_range_end};
    }

    // A time before the epoch gets no second, because division rounds it in the other direction.
    void beginSecond(const spdlog::details::log_msg& message, Nanoseconds time) {
        constexpr auto second = static_cast<Nanoseconds>(perSecond);
        for (detail::PatternStep& step : steps_) {
            if (step.kind == detail::PieceKind::second) {
                step.texts.front() = written(*step.writer, message);
            }
        }
        countRoom();
        second_ = time < 0 ? noSecond : time / second * second;
    }

    /// Computes room_, names_ and payloads_.
    void countRoom() {
        constexpr std::size_t mostDigits = std::numeric_limits<std::size_t>::digits10 + 1;
        constexpr std::size_t brackets = 3;
        room_ = detail::CachedText::slack;
        names_ = payloads_ = 0;
        for (const detail::PatternStep& step : steps_) {
            std::size_t longest = mostDigits;
            for (const detail::KeptText& kept : step.texts) {
                longest = std::max(longest, kept.text.size());
            }
            room_ += longest + brackets;
            const bool isName =
                step.kind == detail::PieceKind::name || step.kind == detail::PieceKind::namePart;
            names_ += isName ? 1 : 0;
            payloads_ += step.kind == detail::PieceKind::payload ? 1 : 0;
        }
    }

    std::size_t roomFor(const spdlog::details::log_msg& message) const noexcept {
        return room_ + names_ * message.logger_name.size() + payloads_ * message.payload.size();
    }

    /// Writes the piece at `at` and returns the end of its text. Returns null if spdlog must write
    /// the piece. `fraction`: nanoseconds of the second.
    [[gnu::always_inline]] char* write(const detail::PatternStep& step,
                                       const spdlog::details::log_msg& message,
                                       std::uint32_t fraction, const spdlog::memory_buf_t& to,
                                       char* at) const {
        const auto name = message.logger_name;
        switch (step.kind) {
        case detail::PieceKind::text:
        case detail::PieceKind::second:
            return step.texts.front().text.copyTo(at);
        case detail::PieceKind::level:
            return copyOfLevel(step, message, static_cast<std::size_t>(at - to.data()), at);
        case detail::PieceKind::milliseconds:
            return isInSecond() ? detail::putDigits<3>(at, fraction / 1000000) : nullptr;
        case detail::PieceKind::microseconds:
            return isInSecond() ? detail::putDigits<6>(at, fraction / 1000) : nullptr;
        case detail::PieceKind::nanoseconds:
            return isInSecond() ? detail::putDigits<9>(at, fraction) : nullptr;
        case detail::PieceKind::name:
            return detail::copyText(at, name.data(), name.size());
        case detail::PieceKind::namePart:
            return name.size() == 0 ? at : copyNamePart(at, name);
        case detail::PieceKind::thread:
            return std::to_chars(at, at + room_, message.thread_id).ptr;
        case detail::PieceKind::payload:
            return detail::copyText(at, message.payload.data(), message.payload.size());
        case detail::PieceKind::sourcePart:
            return message.source.empty() ? at : nullptr;
        case detail::PieceKind::contextPart:
            return detail::hasContext() ? nullptr : at;
        case detail::PieceKind::other:
            break;
        }
        return nullptr;
    }

    /// Whether `fraction` is valid. False for a time before the epoch.
    bool isInSecond() const noexcept { return second_ != noSecond; }

    static char* copyOfLevel(const detail::PatternStep& step,
                             const spdlog::details::log_msg& message, std::size_t position,
                             char* at) noexcept {
        const detail::KeptText& kept = step.texts[static_cast<std::size_t>(message.level)];
        if (step.beginsColor) {
            message.color_range_start = position + kept.colorBegin;
        }
        if (step.endsColor) {
            message.color_range_end = position + kept.colorEnd;
        }
        return kept.text.copyTo(at);
    }

    static char* copyNamePart(char* at, spdlog::string_view_t name) noexcept {
        *at++ = '[';
        at = detail::copyText(at, name.data(), name.size());
        *at++ = ']';
        *at++ = ' ';
        return at;
    }

    const std::string pattern_;
    const spdlog::pattern_time_type timeType_;
    const std::string eol_;
    std::vector<detail::PatternStep> steps_;

    /// The second that the kept texts belong to, in nanoseconds since the epoch.
    Nanoseconds second_ = noSecond;
    /// Bytes that a line needs, without its logger names and payloads.
    std::size_t room_ = 0;
    /// How often the pattern has the name of the logger, and the payload.
    std::size_t names_ = 0;
    std::size_t payloads_ = 0;
};

}  // namespace sluice::log
