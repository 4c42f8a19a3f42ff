#pragma once

#include <chrono>
#include <type_traits>

namespace sluice::log {

/// Makes SLUICE_LOG copy an argument of type T by its bytes:
///
///     template <>
///     struct sluice::log::copy_when_logging<Point> : std::true_type {};
///
/// T must be trivially copyable. The back end formats the copy later, so its formatter must not
/// follow pointers to data that may change or end.
///
/// SLUICE_LOG copies numbers, bool, char, enumerations, `void*`, strings, durations and time points
/// without it. If one argument of a call has another type, the calling thread formats the message.
template <class T>
struct copy_when_logging : std::false_type {};

template <class Rep, class Period>
struct copy_when_logging<std::chrono::duration<Rep, Period>> : std::is_trivially_copyable<Rep> {};

template <class Clock, class Duration>
struct copy_when_logging<std::chrono::time_point<Clock, Duration>> : copy_when_logging<Duration> {};

/// Makes SLUICE_LOG copy an argument that has data outside of its own bytes:
///
///     template <>
///     struct sluice::log::argument_codec<Path> {
///         // The caller: the number of bytes for `path`, and a function that writes them.
///         static std::size_t size(const Path& path) noexcept;
///         static void write(std::byte* to, std::size_t size, const Path& path) noexcept;
///         // The back end: a value to format, of any type with a formatter that accepts the
///         // specifications of the format string. It may refer to the bytes, and may throw.
///         static std::string_view read(const std::byte* from, std::size_t size);
///     };
///
/// `to` may have any alignment. Each log call calls size() once, then write() with the same size.
template <class T>
struct argument_codec;

}  // namespace sluice::log
