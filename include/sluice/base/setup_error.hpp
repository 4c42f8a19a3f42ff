#pragma once

#include <sluice/base/assert.hpp>

#include <cstdio>
#if defined(__cpp_exceptions)
#include <new>
#include <stdexcept>
#endif

namespace sluice {

/// Reports an invalid setting, such as a capacity out of range. `what` names the setting, `value`
/// is the requested value, and `limit` is the nearest accepted value.
///
/// Throws std::invalid_argument or, if exceptions are disabled, calls the assertion handler and
/// ends the program, also in release builds. The message is "<what>: <value>, limit <limit>".
[[noreturn, gnu::cold, gnu::noinline]] inline void
setupError(const char* what, unsigned long long value, unsigned long long limit) {
    char text[256];
    std::snprintf(text, sizeof text, "%s: %llu, limit %llu", what, value, limit);
#if defined(__cpp_exceptions)
    throw std::invalid_argument(text);
#else
    failAssertion(AssertionFailure{"set-up", text, __FILE__, __LINE__});
#endif
}

namespace detail {

/// Throws std::bad_alloc, or calls setupError() in programs without exceptions.
[[noreturn, gnu::cold, gnu::noinline]] inline void
allocationError([[maybe_unused]] const char* what, [[maybe_unused]] unsigned long long value,
                [[maybe_unused]] unsigned long long limit) {
#if defined(__cpp_exceptions)
    throw std::bad_alloc();
#else
    setupError(what, value, limit);
#endif
}

/// The result of call(), or a value-initialised result if call() throws.
template <class Call>
auto resultOrDefault(Call call) noexcept -> decltype(call()) {
#if defined(__cpp_exceptions)
    try {
        return call();
    } catch (...) {
        return {};
    }
#else
    return call();
#endif
}

// The require functions call setupError() with the text `what` if the value is wrong.

inline void requireAtLeast(const char* what, unsigned long long value, unsigned long long least) {
    if (value < least) {
        setupError(what, value, least);
    }
}

inline void requireAtMost(const char* what, unsigned long long value, unsigned long long most) {
    if (value > most) {
        setupError(what, value, most);
    }
}

/// The error message names `instead`, an accepted value.
inline void requirePowerOfTwo(const char* what, unsigned long long value,
                              unsigned long long instead) {
    if (value == 0 || (value & (value - 1)) != 0) {
        setupError(what, value, instead);
    }
}

}  // namespace detail
}  // namespace sluice
