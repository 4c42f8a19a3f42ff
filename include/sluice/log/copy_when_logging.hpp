#pragma once

/// \file
/// The arguments of a deferred log call: the types that it copies, and how to add a type of your
/// own.
///
/// A deferred call (see deferred.hpp) copies its arguments. The back end formats them later, on
/// another thread. So the call copies an argument only if the copy is complete by itself:
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
/// If one argument of a call has another type, the caller formats the whole message. The output is
/// the same. Each type needs a formatter in both cases.

#include <chrono>
#include <type_traits>

namespace sluice::log {

/// Derive a specialisation from std::true_type to log a T by copying its bytes:
///
///     template <>
///     struct sluice::log::copy_when_logging<Point> : std::true_type {};
///
/// T must be trivially copyable. Its formatter must read only the bytes of the object. It must not
/// follow a pointer or reference to data that may change, or that may be destroyed before the back
/// end formats it.
template <class T>
struct copy_when_logging : std::false_type {};

template <class Rep, class Period>
struct copy_when_logging<std::chrono::duration<Rep, Period>> : std::is_trivially_copyable<Rep> {};

template <class Clock, class Duration>
struct copy_when_logging<std::chrono::time_point<Clock, Duration>> : copy_when_logging<Duration> {};

/// Specialise it with these static members for a type that has data outside of its own bytes:
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
/// The address `to` may have any alignment. Each log call calls size() once and then write() with
/// the same size.
template <class T>
struct argument_codec;

}  // namespace sluice::log
