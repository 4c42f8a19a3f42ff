#pragma once

/// \file
/// How the argument of a deferred log call travels: what is copied, what is formatted in place, and
/// how a user's type opts in.
///
/// A deferred call (see deferred.hpp) copies its arguments and leaves the formatting to the back
/// end, which runs later and on another thread. So an argument is copied only when the copy stands
/// on its own:
///
/// | argument | what travels |
/// |---|---|
/// | integers, floating point, bool, char, enumerations | the value |
/// | `void*`, `const void*`, `nullptr` | the address |
/// | std::string, std::string_view, spdlog's string_view_t | its characters, also a NUL among them
/// | | `char*`, arrays of char | the characters before the first NUL; "(null)" for a null pointer |
/// | durations and time points of std::chrono | the value |
/// | types with copy_when_logging | the bytes of the object |
/// | types with argument_codec | what the codec writes |
///
/// When one argument of a call is of another type, the whole message is formatted by the caller,
/// with the same output. Every type has a formatter, whether it is copied or not.

#include <chrono>
#include <type_traits>

namespace sluice::log {

/// Derive a specialisation from std::true_type to say that a T may be logged by copying its bytes:
///
///     template <>
///     struct sluice::log::copy_when_logging<Point> : std::true_type {};
///
/// T must be trivially copyable and have a formatter that reads nothing but the object: no pointer
/// or reference in it may lead to what can change or go.
template <class T>
struct copy_when_logging : std::false_type {};

template <class Rep, class Period>
struct copy_when_logging<std::chrono::duration<Rep, Period>> : std::is_trivially_copyable<Rep> {};

template <class Clock, class Duration>
struct copy_when_logging<std::chrono::time_point<Clock, Duration>> : copy_when_logging<Duration> {};

/// Specialise it for a type whose bytes are not enough, with these static members:
///
///     template <>
///     struct sluice::log::argument_codec<Path> {
///         // The caller's side: how many bytes `path` takes, and to write exactly so many.
///         static std::size_t size(const Path& path) noexcept;
///         static void write(std::byte* to, std::size_t size, const Path& path) noexcept;
///         // The back end's side: what is formatted, of any type with a formatter that takes the
///         // specifications of the format string. It may refer to the bytes, and may throw.
///         static std::string_view read(const std::byte* from, std::size_t size);
///     };
///
/// The bytes are at no particular alignment. size() is called once for each message.
template <class T>
struct argument_codec;

}  // namespace sluice::log
