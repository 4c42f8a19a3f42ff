#pragma once

#include <sluice/base/assert.hpp>
#include <sluice/fixed/detail/size_for.hpp>

#include <cstddef>
#include <cstring>
#include <functional>
#include <string_view>
#include <type_traits>

namespace sluice {

/// Allows a constructor to truncate: `FixedString<8> name(truncateToFit, input);`
struct TruncateToFit {
    explicit TruncateToFit() = default;
};
inline constexpr TruncateToFit truncateToFit{};

template <std::size_t N>
class FixedString;

namespace detail {

template <class T>
inline constexpr bool isFixedString = false;
template <std::size_t N>
inline constexpr bool isFixedString<FixedString<N>> = true;

/// True for char arrays, C strings, and types that convert to std::string_view.
template <class Source>
inline constexpr bool isText = std::is_convertible_v<const Source&, std::string_view> &&
                               !std::is_same_v<Source, std::nullptr_t>;

template <class Left, class Right>
using EnableTextComparison =
    std::enable_if_t<(isFixedString<Left> || isFixedString<Right>)&&isText<Left> && isText<Right>,
                     bool>;

/// Reads a char array up to its first NUL, never beyond the array. A null pointer is an empty text.
template <class Source>
constexpr std::string_view textOf(const Source& source) noexcept {
    if constexpr (std::is_array_v<Source>) {
        const std::string_view whole(source, std::extent_v<Source>);
        return whole.substr(0, whole.find('\0'));
    } else if constexpr (std::is_pointer_v<Source>) {
        return source == nullptr ? std::string_view() : std::string_view(source);
    } else {
        return source;
    }
}

/// The ranges may overlap if `to <= from`.
constexpr void copyText(char* to, const char* from, std::size_t count) noexcept {
    if (__builtin_is_constant_evaluated()) {
        for (std::size_t i = 0; i < count; ++i) {
            to[i] = from[i];
        }
    } else if (count != 0) {
        std::memmove(to, from, count);
    }
}

/// Returns the length, at most `size`, at which to cut a longer text without splitting a UTF-8
/// character. `next` is the byte after the first `size` bytes.
constexpr std::size_t cutOf(const char* text, std::size_t size, char next) noexcept {
    const auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; };
    std::size_t cut = size;
    char after = next;
    while (cut != 0 && size - cut < 3 && continues(after)) {
        after = text[--cut];
    }
    const auto first = static_cast<unsigned char>(after);
    const std::size_t whole = first >= 0xF0U ? 4 : first >= 0xE0U ? 3 : first >= 0xC0U ? 2 : 0;
    return cut + whole > size ? cut : size;
}

}  // namespace detail

/// A text of at most N chars, stored inside the object and always terminated by NUL.
///
///     sluice::FixedString<29> name = "left arm";  // a literal that is too long does not compile
///     const bool isWhole = name.assign(input);    // false: the text was cut
///
/// Use std::string for texts of unlimited length.
///
/// A literal or char array that is too long does not compile. The truncateToFit constructor,
/// assign() and append() truncate a text that is too long, but never inside a UTF-8 character. A
/// text to assign or append may be a part of the same FixedString.
///
/// FixedString is trivially copyable. A FixedString stores N + 1 chars, the length and one flag:
/// FixedString<29> takes 32 bytes. The constructor clears all bytes.
template <std::size_t N>
class FixedString {
    static_assert(N > 0, "FixedString<N>: N must be at least 1");

public:
    using value_type = char;
    using const_iterator = const char*;
    using iterator = const_iterator;

    constexpr FixedString() noexcept = default;

    /// Copies a literal or a char array up to its first NUL. Asserts that an array of N + 1 chars
    /// has a NUL; release builds drop the array's last char.
    template <std::size_t M, std::enable_if_t<(M <= N + 1), int> = 0>
    constexpr FixedString(const char (&text)[M]) noexcept {
        [[maybe_unused]] const bool fits = assign(text);
        SLUICE_ASSERT(fits, "the array has no NUL and one char too many; use truncateToFit");
    }

    /// Deleted for arrays that may hold more than N chars. Enlarge N, or use truncateToFit.
    template <std::size_t M, std::enable_if_t<(M > N + 1), int> = 0>
    FixedString(const char (&text)[M]) = delete;

    /// Copies the text and truncated() of a FixedString with a smaller N. The text always fits.
    template <std::size_t M, std::enable_if_t<(M < N), int> = 0>
    constexpr FixedString(const FixedString<M>& other) noexcept {
        assign(other);
    }

    /// Copies a text, and truncates a text that does not fit.
    template <class Source, std::enable_if_t<detail::isText<Source>, int> = 0>
    constexpr FixedString(TruncateToFit, const Source& source) noexcept {
        assign(source);
    }

    /// Replaces the text. Returns false if assign() truncated the text. Char arrays are read up to
    /// the first NUL, never beyond the array. A null pointer is an empty text.
    template <class Source, std::enable_if_t<detail::isText<Source>, int> = 0>
    constexpr bool assign(const Source& source) noexcept {
        const std::string_view text = detail::textOf(source);
        truncated_ = isCut(source);
        size_ = 0;
        return add(text);
    }

    /// Returns false if the text was truncated.
    template <class Source, std::enable_if_t<detail::isText<Source>, int> = 0>
    constexpr bool append(const Source& source) noexcept {
        truncated_ = truncated_ || isCut(source);
        return add(detail::textOf(source));
    }

    /// Returns false and sets truncated() if the string is full.
    constexpr bool push_back(char character) noexcept {
        return add(std::string_view(&character, 1));
    }

    constexpr void clear() noexcept { assign(std::string_view()); }

    /// Returns true if text was cut off since the last assign() or clear(). Copies of a truncated
    /// FixedString are truncated, too.
    [[nodiscard]] constexpr bool truncated() const noexcept { return truncated_; }

    [[nodiscard]] constexpr std::size_t size() const noexcept { return size_; }
    [[nodiscard]] static constexpr std::size_t capacity() noexcept { return N; }
    [[nodiscard]] constexpr bool empty() const noexcept { return size_ == 0; }

    /// The text, valid until this FixedString changes. The text may contain NULs.
    [[nodiscard]] constexpr std::string_view view() const noexcept {
        return std::string_view(data_, size_);
    }
    constexpr operator std::string_view() const noexcept { return view(); }
    [[nodiscard]] constexpr const char* c_str() const noexcept { return data_; }
    [[nodiscard]] constexpr const char* data() const noexcept { return data_; }

    [[nodiscard]] constexpr const_iterator begin() const noexcept { return data_; }
    [[nodiscard]] constexpr const_iterator end() const noexcept { return data_ + size_; }

    [[nodiscard]] constexpr char operator[](std::size_t index) const noexcept {
        SLUICE_ASSERT(index < size_, "index beyond the text; compare it with size() first");
        return data_[index];
    }

private:
    template <std::size_t M>
    static constexpr bool isCut(const FixedString<M>& source) noexcept {
        return source.truncated();
    }
    template <class Source>
    static constexpr bool isCut(const Source&) noexcept {
        return false;
    }

    constexpr bool add(std::string_view text) noexcept {
        const std::size_t room = N - size_;
        const bool fits = text.size() <= room;
        const char next = fits ? '\0' : text[room];  // the copy may overwrite text[room]
        const std::size_t count = fits ? text.size() : room;
        detail::copyText(data_ + size_, text.data(), count);
        // Checks the whole text, because a UTF-8 character may begin in an earlier append().
        const std::size_t size = fits ? size_ + count : detail::cutOf(data_, N, next);
        size_ = static_cast<detail::SizeFor<N>>(size);
        data_[size_] = '\0';
        truncated_ = truncated_ || !fits;
        return fits;
    }

    char data_[N + 1] = {};
    detail::SizeFor<N> size_ = 0;
    bool truncated_ = false;
};

// Comparisons ignore truncated().

template <class Left, class Right>
constexpr detail::EnableTextComparison<Left, Right> operator==(const Left& left,
                                                               const Right& right) noexcept {
    return detail::textOf(left) == detail::textOf(right);
}
template <class Left, class Right>
constexpr detail::EnableTextComparison<Left, Right> operator!=(const Left& left,
                                                               const Right& right) noexcept {
    return detail::textOf(left) != detail::textOf(right);
}
template <class Left, class Right>
constexpr detail::EnableTextComparison<Left, Right> operator<(const Left& left,
                                                              const Right& right) noexcept {
    return detail::textOf(left) < detail::textOf(right);
}
template <class Stream, std::size_t N>
auto operator<<(Stream& stream, const FixedString<N>& text) -> decltype(stream << text.view()) {
    return stream << text.view();
}

/// Makes FixedString formattable with fmt 10 or later, and with spdlog.
template <std::size_t N>
// NOLINTNEXTLINE(readability-identifier-naming): the name that fmt looks for
constexpr std::string_view format_as(const FixedString<N>& text) noexcept {
    return text.view();
}

}  // namespace sluice

/// Equal to the std::hash of view().
template <std::size_t N>
struct std::hash<sluice::FixedString<N>> {
    std::size_t operator()(const sluice::FixedString<N>& text) const noexcept {
        return std::hash<std::string_view>()(text.view());
    }
};
