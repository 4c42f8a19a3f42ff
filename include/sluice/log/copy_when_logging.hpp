#pragma once

/// \file
/// The arguments of a deferred log call: which types are copied, which are formatted in place, and
/// how to opt in with a type of your own.
///
/// A deferred call (see deferred.hpp) copies its arguments. The back end formats them later, on
/// another thread. So an argument is copied only if the copy is complete by itself:
///
/// | argument | copied |
/// |---|---|
/// | integers, floating point, bool, char, enumerations | the value |
/// | `void*`, `const void*`, `nullptr` | the address |
/// | std::string, std::string_view, spdlog's string_view_t | its characters, also a NUL among them
/// | | `char*`, arrays of char | the characters before the first NUL; "(null)" for a null pointer |
/// | durations and time points of std::chrono | the value |
/// | types with copy_when_logging | the bytes of the object |
/// | types with argument_codec | the bytes that the codec writes |
///
/// If an argument of a call has another type, the caller formats the whole message. The output is
/// the same. Each type needs a formatter in both cases.

#include <chrono>
#include <type_traits>

namespace sluice::log {

/// Derive a specialisation from std::true_type to log a T by copying its bytes:
///
///     template <>
///     struct sluice::log::copy_when_logging<Point> : std::true_type {};
///
/// T must be trivially copyable. Its formatter must read only the object: a pointer or reference in
/// the object must not lead to data that can change or end.
template <class T>
struct copy_when_logging : std::false_type {};

template <class Rep, class Period>
struct copy_when_logging<std::chrono::duration<Rep, Period>> : std::is_trivially_copyable<Rep> {};

template <class Clock, class Duration>
struct copy_when_logging<std::chrono::time_point<Clock, Duration>> : copy_when_logging<Duration> {};

/// Specialise it, with these static members, for a type with data outside of its bytes:
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
/// The bytes have no alignment. size() is called once for each message.
template <class T>
struct argument_codec;

}  // namespace sluice::log
