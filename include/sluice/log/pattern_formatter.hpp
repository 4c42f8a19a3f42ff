#pragma once

#include <sluice/log/detail/format/record_head.hpp>

#include <spdlog/common.h>
#include <spdlog/details/log_msg.h>
#include <spdlog/details/os.h>
#include <spdlog/formatter.h>
#include <spdlog/pattern_formatter.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice::log {

namespace detail {

// ---- Splitting a pattern into pieces

enum class PieceKind : unsigned char {
    text,          ///< the same in each line
    second,        ///< the same in all lines of one second
    milliseconds,  ///< three digits
    microseconds,  ///< six digits
    nanoseconds,   ///< nine digits
    name,          ///< the name of the logger
    namePart,      ///< the name in brackets and a space, unless the name is empty
    level,         ///< the same in all lines of one level, or a colour flag
    thread,        ///< the thread number
    payload,       ///< the message itself
    sourcePart,    ///< file and line in brackets and a space, if they are known
    contextPart,   ///< the thread's mdc in brackets and a space, unless the mdc is empty
    other,         ///< formatted by spdlog for each line
};

inline PieceKind kindOf(std::string_view source) noexcept {
    constexpr std::string_view plainFlags = "efFntv^$";
    constexpr PieceKind plainKinds[] = {
        PieceKind::milliseconds, PieceKind::microseconds, PieceKind::nanoseconds, PieceKind::name,
        PieceKind::thread,       PieceKind::payload,      PieceKind::level,       PieceKind::level};
    // Flag `z` is not a secondFlag, because spdlog rereads the time zone every ten seconds.
    constexpr std::string_view secondFlags = "aAbhBcCYDxmdHIMSEprRTX";
    constexpr std::string_view levelFlags = "lL";
    const char flag = source.back();
    const bool hasWidth = source.size() > 2;
    if (hasWidth && source[source.size() - 2] == '!') {
        return PieceKind::other;  // with `!`, spdlog may also cut the text of earlier flags
    }
    const std::size_t plain = plainFlags.find(flag);
    if (!hasWidth && plain != std::string_view::npos) {
        return plainKinds[plain];
    }
    if (flag == '%') {
        return PieceKind::text;
    }
    if (secondFlags.find(flag) != std::string_view::npos) {
        return PieceKind::second;
    }
    return levelFlags.find(flag) != std::string_view::npos ? PieceKind::level : PieceKind::other;
}

// ---- Writing a line into a buffer with enough space

/// A cached text with its coloured range, copied more often than changed.
class KeptText {
public:
    /// copyTo() writes at least this many bytes, because a copy of fixed size needs few stores.
    static constexpr std::size_t slack = 32;

    KeptText() = default;
    KeptText(std::string_view text, std::size_t begin, std::size_t end)
        : colorBegin(begin),
          colorEnd(end),
          size_(text.size()),
          long_(text.size() > slack ? text : std::string_view()) {
        std::memcpy(start_, text.data(), std::min(size_, slack));
    }

    std::size_t size() const noexcept { return size_; }

    char* copyTo(char* to) const noexcept {
        std::memcpy(to, start_, slack);
        if (size_ > slack) {
            std::memcpy(to, long_.data(), size_);
        }
        return to + size_;
    }

    std::size_t colorBegin = 0;
    std::size_t colorEnd = 0;

private:
    char start_[slack] = {};
    std::size_t size_ = 0;
    std::string long_;
};

inline char* copyText(char* to, spdlog::string_view_t text) noexcept {
    return std::copy(text.begin(), text.end(), to);
}

inline constexpr auto digitPairs = [] {
    std::array<char, 200> pairs{};
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        pairs[i] = static_cast<char>('0' + (i % 2 == 0 ? i / 20 : i / 2 % 10));
    }
    return pairs;
}();

/// Writes `value` with exactly `Digits` digits at `to`, and returns the end of the digits.
template <unsigned Digits>
char* putDigits(char* to, std::uint32_t value) noexcept {
    for (unsigned i = Digits; i >= 2; i -= 2) {
        std::memcpy(to + i - 2, &digitPairs[std::size_t{2} * (value % 100)], 2);
        value /= 100;
    }
    if (Digits % 2 != 0) {
        *to = static_cast<char>('0' + value);
    }
    return to + Digits;
}

// ---- The steps that write a line

/// A part of a pattern, with a spdlog formatter for this part only.
struct PatternStep {
    PieceKind kind = PieceKind::text;
    std::string pattern;
    bool beginsColor = false;
    bool endsColor = false;
    std::vector<KeptText> texts;                        ///< cached: one text, or one for each level
    std::unique_ptr<spdlog::pattern_formatter> writer;  ///< formats `pattern`
};
using PatternSteps = std::vector<PatternStep>;

/// Appends a piece to `steps`. Joins the piece to the last step if both are cached, and if either
/// their kinds are equal or one of them is fixed text.
inline void addPiece(PatternSteps& steps, PieceKind kind, std::string_view pattern) {
    const auto isKept = [](PieceKind one) {
        return one == PieceKind::text || one == PieceKind::second || one == PieceKind::level;
    };
    const PieceKind last = steps.empty() ? PieceKind::other : steps.back().kind;
    if (!isKept(kind) || !isKept(last) ||
        (kind != last && kind != PieceKind::text && last != PieceKind::text)) {
        steps.emplace_back().kind = kind;
    }
    PatternStep& step = steps.back();
    step.kind = step.kind == PieceKind::text ? kind : step.kind;
    step.pattern += pattern;
    step.beginsColor = step.beginsColor || pattern == "%^";
    step.endsColor = step.endsColor || pattern == "%$";
}

inline void addFullPattern(PatternSteps& steps) {
    addPiece(steps, PieceKind::second, "[%Y-%m-%d %H:%M:%S.");
    addPiece(steps, PieceKind::milliseconds, "%e");
    addPiece(steps, PieceKind::text, "] ");
    addPiece(steps, PieceKind::namePart, "");
    addPiece(steps, PieceKind::text, "[");
    for (const char* const flag : {"%^", "%l", "%$"}) {
        addPiece(steps, PieceKind::level, flag);
    }
    addPiece(steps, PieceKind::text, "] ");
    addPiece(steps, PieceKind::sourcePart, "[%s:%#] ");
    addPiece(steps, PieceKind::contextPart, "[%&] ");
    addPiece(steps, PieceKind::payload, "%v");
}

/// Returns the index of the flag letter after the `%` at index `at`. If the pattern ends before the
/// flag, the result is at least pattern.size(). As in spdlog, a `!` after digits is not the flag.
inline std::size_t findFlag(std::string_view pattern, std::size_t at) noexcept {
    const auto isAnyOf = [&](std::string_view set) {
        return at < pattern.size() && set.find(pattern[at]) != std::string_view::npos;
    };
    ++at;
    at += isAnyOf("-=") ? 1U : 0U;
    const std::size_t digits = at;
    while (isAnyOf("0123456789")) {
        ++at;
    }
    return at != digits && isAnyOf("!") ? at + 1 : at;
}

inline PatternSteps stepsOf(std::string_view pattern) {
    PatternSteps steps;
    for (std::size_t at = 0, next = 0; at < pattern.size(); at = next) {
        next = (pattern[at] == '%' ? findFlag(pattern, at) : at) + 1;
        const std::string_view source = pattern.substr(at, next - at);
        if (source == "%+") {
            addFullPattern(steps);
        } else if (next <= pattern.size()) {  // a `%` without a flag writes nothing
            addPiece(steps, pattern[at] == '%' ? kindOf(source) : PieceKind::text, source);
        }
    }
    return steps;
}

}  // namespace detail

/// Writes the same lines as spdlog::pattern_formatter, byte for byte, in fewer instructions.
///
///     sink->set_formatter(std::make_unique<sluice::log::pattern_formatter>("[%H:%M:%S.%e] %v"));
///     sluice::log::set_pattern("[%H:%M:%S.%e] %v");  // for all loggers of spdlog's registry
///
/// The formatter caches texts that change at most once a second, and copies digits and names
/// directly. spdlog formats cached texts and rare flags. Custom flags are not supported.
///
/// Thread safety: one thread at a time may use a formatter.
///
/// Performance: about 15 ns for `[%Y-%m-%d %H:%M:%S.%e] [%n] [%l] %v`, plus the message's copy. The
/// formatter allocates in its constructor, in each new second, and if `to` lacks space.
class pattern_formatter final : public spdlog::formatter {
public:
    /// Takes the arguments of spdlog::pattern_formatter.
    explicit pattern_formatter(
        std::string pattern = "%+",
        spdlog::pattern_time_type timeType = spdlog::pattern_time_type::local,
        std::string eol = spdlog::details::os::default_eol)
        : pattern_(std::move(pattern)),
          timeType_(timeType),
          eol_(std::move(eol)),
          steps_(detail::stepsOf(pattern_)) {
        for (Step& step : steps_) {
            prepare(step);
        }
        steps_.emplace_back().texts.emplace_back(eol_, 0, 0);  // writes the end of line
        countRoom();
    }

    void format(const spdlog::details::log_msg& message, spdlog::memory_buf_t& to) override {
        const Nanoseconds time = std::chrono::nanoseconds(message.time.time_since_epoch()).count();
        if (since(second_, time) >= perSecond) {
            beginSecond(message, time);
        }
        const std::size_t room =
            room_ + names_ * message.logger_name.size() + payloads_ * message.payload.size();
        // Nanoseconds since second_. No step uses `fraction` for times before the epoch.
        const auto fraction = static_cast<std::uint32_t>(since(second_, time));
        char* at = extend(to, room);
        for (const Step& step : steps_) {
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
    using Kind = detail::PieceKind;
    using Step = detail::PatternStep;
    using Nanoseconds = std::int64_t;
    static constexpr std::uint64_t perSecond = 1'000'000'000;
    static constexpr Nanoseconds noSecond = std::numeric_limits<Nanoseconds>::min();

    /// Returns `time - begin`, or a large number if `time` is before `begin`.
    static std::uint64_t since(Nanoseconds begin, Nanoseconds time) noexcept {
        return static_cast<std::uint64_t>(time) - static_cast<std::uint64_t>(begin);
    }

    static char* extend(spdlog::memory_buf_t& to, std::size_t room) {
        const std::size_t size = to.size();
        to.resize(size + room);
        return to.data() + size;
    }

    static void shrink(spdlog::memory_buf_t& to, const char* end) {
        to.resize(static_cast<std::size_t>(end - to.data()));
    }

    void prepare(Step& step) const {
        step.writer = std::make_unique<spdlog::pattern_formatter>(step.pattern, timeType_, "");
        spdlog::details::log_msg example;
        if (step.kind == Kind::text) {
            step.texts.push_back(written(*step.writer, example));
        } else if (step.kind == Kind::second) {
            step.texts.emplace_back();
        } else if (step.kind == Kind::level) {
            for (int level = 0; level < spdlog::level::n_levels; ++level) {
                example.level = static_cast<spdlog::level::level_enum>(level);
                step.texts.push_back(written(*step.writer, example));
            }
        }
    }

    static detail::KeptText written(spdlog::pattern_formatter& writer,
                                    const spdlog::details::log_msg& message) {
        spdlog::memory_buf_t text;
        writer.format(message, text);
        return {{text.data(), text.size()}, message.color_range_start, message.color_range_end};
    }

    // Times before the epoch have no cached second, because division rounds negative times up.
    void beginSecond(const spdlog::details::log_msg& message, Nanoseconds time) {
        constexpr auto second = static_cast<Nanoseconds>(perSecond);
        for (Step& step : steps_) {
            if (step.kind == Kind::second) {
                step.texts.front() = written(*step.writer, message);
            }
        }
        countRoom();
        second_ = time < 0 ? noSecond : time / second * second;
    }

    void countRoom() {
        constexpr std::size_t mostDigits = std::numeric_limits<std::size_t>::digits10 + 1;
        constexpr std::size_t brackets = 3;
        room_ = detail::KeptText::slack;
        names_ = payloads_ = 0;
        for (const Step& step : steps_) {
            std::size_t longest = mostDigits;
            for (const detail::KeptText& text : step.texts) {
                longest = std::max(longest, text.size());
            }
            room_ += longest + brackets;
            names_ += step.kind == Kind::name || step.kind == Kind::namePart ? 1 : 0;
            payloads_ += step.kind == Kind::payload ? 1 : 0;
        }
    }

    /// Writes the step's text at `at` and returns the end of the text, or null if spdlog must write
    /// the step. `fraction` is the time since second_ in nanoseconds.
    SLUICE_ALWAYS_INLINE char* write(const Step& step, const spdlog::details::log_msg& message,
                                     std::uint32_t fraction, const spdlog::memory_buf_t& to,
                                     char* at) const {
        const auto name = message.logger_name;
        switch (step.kind) {
        case Kind::text:
        case Kind::second:
            return step.texts.front().copyTo(at);
        case Kind::level:
            return copyOfLevel(step, message, static_cast<std::size_t>(at - to.data()), at);
        case Kind::milliseconds:
            return isInSecond() ? detail::putDigits<3>(at, fraction / 1000000) : nullptr;
        case Kind::microseconds:
            return isInSecond() ? detail::putDigits<6>(at, fraction / 1000) : nullptr;
        case Kind::nanoseconds:
            return isInSecond() ? detail::putDigits<9>(at, fraction) : nullptr;
        case Kind::name:
            return detail::copyText(at, name);
        case Kind::namePart:
            return name.size() == 0 ? at : copyNamePart(at, name);
        case Kind::thread:
            return std::to_chars(at, at + room_, message.thread_id).ptr;
        case Kind::payload:
            return detail::copyText(at, message.payload);
        case Kind::sourcePart:
            return message.source.empty() ? at : nullptr;
        case Kind::contextPart:
            return detail::ThreadMdc::findNonEmpty() == nullptr ? at : nullptr;
        case Kind::other:
            break;
        }
        return nullptr;
    }

    /// Returns false for records before the epoch, for which `fraction` is not valid.
    bool isInSecond() const noexcept { return second_ != noSecond; }

    static char* copyOfLevel(const Step& step, const spdlog::details::log_msg& message,
                             std::size_t position, char* at) noexcept {
        const detail::KeptText& text = step.texts[static_cast<std::size_t>(message.level)];
        if (step.beginsColor) {
            message.color_range_start = position + text.colorBegin;
        }
        if (step.endsColor) {
            message.color_range_end = position + text.colorEnd;
        }
        return text.copyTo(at);
    }

    static char* copyNamePart(char* at, spdlog::string_view_t name) noexcept {
        *at++ = '[';
        at = detail::copyText(at, name);
        *at++ = ']';
        *at++ = ' ';
        return at;
    }

    const std::string pattern_;
    const spdlog::pattern_time_type timeType_;
    const std::string eol_;
    detail::PatternSteps steps_;
    Nanoseconds second_ = noSecond;  ///< the cached second, in nanoseconds since the epoch
    std::size_t room_ = 0;           ///< most bytes of a line without logger names and payloads
    std::size_t names_ = 0;          ///< number of logger names in the pattern
    std::size_t payloads_ = 0;       ///< number of payloads in the pattern
};

}  // namespace sluice::log
