#pragma once

#include <atomic>
#include <cstdio>
#include <cstdlib>

/// Assertions against misuse, with one replaceable handler for the whole program.
///
/// SLUICE_ASSERT is active unless NDEBUG is defined. No type of this library changes its layout or
/// its members with NDEBUG, so translation units built with and without it can exchange objects.

namespace sluice {

/// A failure and its place. All strings live at least until the handler returns.
struct AssertionFailure {
    const char* expression;  ///< the condition as written; empty when there is none to show
    const char* message;     ///< says how to do it right
    const char* file;
    int line;
};

/// Called for a failed assertion, on the thread that failed. It must not throw. When it returns,
/// the program ends with std::abort.
using AssertionHandler = void (*)(const AssertionFailure&);

namespace detail {

inline std::atomic<AssertionHandler> assertionHandler{nullptr};

}  // namespace detail

/// Installs a handler and returns the previous one. nullptr means the default handler, which prints
/// one line to stderr: `sluice: <message> [<expression>] at <file>:<line>`. Any thread may call it.
inline AssertionHandler setAssertionHandler(AssertionHandler handler) noexcept {
    // Release here and acquire in failAssertion: the handler may read data that its installer wrote
    // before.
    return detail::assertionHandler.exchange(handler, std::memory_order_acq_rel);
}

/// Passes a failure to the handler and ends the program, also in release builds. Allocates nothing.
[[noreturn, gnu::cold, gnu::noinline]] inline void
failAssertion(const AssertionFailure& failure) noexcept {
    if (const AssertionHandler handler = detail::assertionHandler.load(std::memory_order_acquire)) {
        handler(failure);
    } else {
        std::fprintf(stderr, "sluice: %s [%s] at %s:%d\n", failure.message, failure.expression,
                     failure.file, failure.line);
    }
    std::abort();
}

}  // namespace sluice

namespace sluice::detail {

/// Whether SLUICE_ASSERT is active in this translation unit. A check that keeps state between two
/// functions has this as a template parameter, so that the linker never joins the first function of
/// a unit with NDEBUG to the second one of a unit without.
#if defined(NDEBUG)
static constexpr bool assertionsAreActive = false;
#else
static constexpr bool assertionsAreActive = true;
#endif

}  // namespace sluice::detail

/// SLUICE_ASSERT(condition, message): an expression of type void, allowed in constexpr functions.
/// The message says how to do it right. With NDEBUG the condition is compiled but never evaluated.
#if defined(NDEBUG)
#define SLUICE_ASSERT(condition, message) static_cast<void>(false && (condition))
#else
#define SLUICE_ASSERT(condition, message)                                                          \
    ((condition) ? static_cast<void>(0)                                                            \
                 : ::sluice::failAssertion({#condition, message, __FILE__, __LINE__}))
#endif
