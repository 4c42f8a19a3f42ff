#pragma once

/// \file
/// Splits a pattern of spdlog into pieces by how often their text changes.
///
/// A piece has no text. It has its part of the pattern, from which spdlog can write the text.
///
/// Tests: tests/unit/log/pattern_formatter_test.cpp.

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice::log::detail {

enum class PieceKind : unsigned char {
    text,          ///< the same in each line
    second,        ///< the same in each line of a second
    milliseconds,  ///< three digits
    microseconds,  ///< six digits
    nanoseconds,   ///< nine digits
    name,          ///< the name of the logger
    namePart,      ///< the name in brackets and a space; nothing if the name is empty
    level,         ///< the same in each line of a level; a colour begins and ends in it
    thread,        ///< the number of the thread
    payload,       ///< the message itself
    sourcePart,    ///< file and line in brackets and a space; nothing if they are unknown
    contextPart,   ///< the thread's mdc in brackets and a space; nothing if it is empty
    other,         ///< spdlog writes it again for each line
};

struct Piece {
    PieceKind kind;
    std::string pattern;

    /// Whether the part of the line that a console colours begins in this piece, and whether it
    /// ends here.
    bool beginsColor = false;
    bool endsColor = false;
};

/// Returns the kind of a flag without a width.
inline PieceKind kindOfPlain(char flag) noexcept {
    switch (flag) {
    case 'e':
        return PieceKind::milliseconds;
    case 'f':
        return PieceKind::microseconds;
    case 'F':
        return PieceKind::nanoseconds;
    case 'n':
        return PieceKind::name;
    case 't':
        return PieceKind::thread;
    case 'v':
        return PieceKind::payload;
    case '^':
    case '$':
        return PieceKind::level;
    default:
        return PieceKind::other;
    }
}

/// Returns the kind of a flag that does not cut its text, with or without a width. The time zone is
/// not of kind `second`: spdlog reads it every ten seconds, counted from some line.
inline PieceKind kindOfWide(char flag) noexcept {
    constexpr std::string_view secondFlags = "aAbhBcCYDxmdHIMSEprRTX";
    constexpr std::string_view levelFlags = "lL";
    if (flag == '%') {
        return PieceKind::text;
    }
    if (secondFlags.find(flag) != std::string_view::npos) {
        return PieceKind::second;
    }
    return levelFlags.find(flag) != std::string_view::npos ? PieceKind::level : PieceKind::other;
}

/// Collects pieces. Neighbours whose text changes equally often become one piece.
class PieceList {
public:
    void add(PieceKind kind, std::string_view pattern) {
        if (pieces_.empty() || !areKeptTogether(kind, pieces_.back().kind)) {
            pieces_.push_back({kind, {}});
        }
        Piece& last = pieces_.back();
        last.kind = last.kind == PieceKind::text ? kind : last.kind;
        last.pattern += pattern;
        last.beginsColor = last.beginsColor || pattern == "%^";
        last.endsColor = last.endsColor || pattern == "%$";
    }

    /// Adds the pieces of `%+`, spdlog's default pattern.
    void addFull() {
        add(PieceKind::second, "[%Y-%m-%d %H:%M:%S.");
        add(PieceKind::milliseconds, "%e");
        add(PieceKind::text, "] ");
        add(PieceKind::namePart, "");
        add(PieceKind::text, "[");
        add(PieceKind::level, "%^");
        add(PieceKind::level, "%l");
        add(PieceKind::level, "%$");
        add(PieceKind::text, "] ");
        add(PieceKind::sourcePart, "[%s:%#] ");
        add(PieceKind::contextPart, "[%&] ");
        add(PieceKind::payload, "%v");
    }

    std::vector<Piece> take() { return std::move(pieces_); }

private:
    static bool isKept(PieceKind kind) noexcept {
        return kind == PieceKind::text || kind == PieceKind::second || kind == PieceKind::level;
    }

    // A text never changes, so it can join any piece.
    static bool areKeptTogether(PieceKind a, PieceKind b) noexcept {
        return isKept(a) && isKept(b) && (a == b || a == PieceKind::text || b == PieceKind::text);
    }

    std::vector<Piece> pieces_;
};

/// Returns the position of the flag that belongs to the `%` at `at`. Between them may be
/// `[-=]digits!`. Returns the size of the pattern or more if the pattern ends before the flag. As
/// in spdlog, `!` belongs to the width only behind digits.
inline std::size_t findFlag(std::string_view pattern, std::size_t at) noexcept {
    const auto isDigit = [&] {
        return at < pattern.size() && pattern[at] >= '0' && pattern[at] <= '9';
    };
    ++at;
    if (at < pattern.size() && (pattern[at] == '-' || pattern[at] == '=')) {
        ++at;
    }
    const bool hasWidth = isDigit();
    while (isDigit()) {
        ++at;
    }
    return hasWidth && at < pattern.size() && pattern[at] == '!' ? at + 1 : at;
}

/// Returns the kind of a flag. `source` is the flag from its `%` on.
inline PieceKind kindOf(std::string_view source) noexcept {
    const char flag = source.back();
    if (source.size() == 2) {
        const PieceKind kind = kindOfPlain(flag);
        return kind != PieceKind::other ? kind : kindOfWide(flag);
    }
    // spdlog may cut more of the line than this flag has written, so it must write the flag itself.
    const bool isCut = source[source.size() - 2] == '!';
    return isCut ? PieceKind::other : kindOfWide(flag);
}

/// Splits a pattern into pieces.
inline std::vector<Piece> piecesOf(std::string_view pattern) {
    PieceList pieces;
    std::size_t at = 0;
    while (at < pattern.size()) {
        if (pattern[at] != '%') {
            pieces.add(PieceKind::text, pattern.substr(at, 1));
            ++at;
            continue;
        }
        const std::size_t flag = findFlag(pattern, at);
        if (flag >= pattern.size()) {
            break;  // a `%` without a flag writes nothing
        }
        const std::string_view source = pattern.substr(at, flag + 1 - at);
        if (source == "%+") {
            pieces.addFull();
        } else {
            pieces.add(kindOf(source), source);
        }
        at = flag + 1;
    }
    return pieces.take();
}

}  // namespace sluice::log::detail
