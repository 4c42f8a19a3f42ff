#pragma once

#include <atomic>
#include <cstdio>
#include <cstdlib>

/// Assertions against misuse of the library, with one replaceable handler for the whole program.
///
/// With NDEBUG, SLUICE_ASSERT does not evaluate its condition. NDEBUG changes no type's layout or
/// members, so translation units built with and without NDEBUG can exchange objects.

namespace sluice {

/// All strings stay valid until the assertion handler returns.
struct AssertionFailure {
    const char* expression;  ///< text of the failed condition; empty if there is none
    const char* message;     ///< how to use the library correctly
    const char* file;
    int line;
};

/// Called on the thread whose assertion failed. An AssertionHandler must not throw. The library
/// calls std::abort after the handler returns.
using AssertionHandler = void (*)(const AssertionFailure&);

namespace detail {

inline std::atomic<AssertionHandler> assertionHandler{nullptr};

}  // namespace detail

/// Installs a handler and returns the previous handler. nullptr selects the default handler, which
/// prints `sluice: <message> [<expression>] at <file>:<line>` to stderr. Any thread may call
/// setAssertionHandler().
inline AssertionHandler setAssertionHandler(AssertionHandler handler) noexcept {
    // The release pairs with failAssertion(), so the handler sees the caller's earlier writes.
    return detail::assertionHandler.exchange(handler, std::memory_order_acq_rel);
}

/// Passes a failure to the assertion handler and aborts the program, also in release builds.
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

/// Templates that depend on NDEBUG take assertionsAreActive as a template argument. Without this
/// argument, the linker could merge code of translation units that differ in NDEBUG.
#if defined(NDEBUG)
static constexpr bool assertionsAreActive = false;
#else
static constexpr bool assertionsAreActive = true;
#endif

}  // namespace sluice::detail

/// SLUICE_ASSERT(condition, message) is a void expression, allowed in constexpr functions.
#if defined(NDEBUG)
#define SLUICE_ASSERT(condition, message) static_cast<void>(false && (condition))
#else
#define SLUICE_ASSERT(condition, message)                                                          \
    ((condition) ? static_cast<void>(0)                                                            \
                 : ::sluice::failAssertion({#condition, message, __FILE__, __LINE__}))
#endif
