#pragma once

#include <atomic>

namespace sluice {

/// Detects that an object is destroyed while a thread is in one of its functions. Without
/// assertions it costs four bytes and no instruction.
///
///     void f() { const CallCheck::Scope call(calls_); ... }
///     ~Object() { SLUICE_ASSERT(calls_.areNone(), "join the threads that call f() first"); }
///
/// Destroy the object only after the Scope has ended, because the Scope writes to it.
///
/// Tests: tests/unit/base/call_check_test.cpp.
class CallCheck {
public:
    class Scope {
    public:
        explicit Scope(CallCheck& check) noexcept : check_(check) {
#if !defined(NDEBUG)
            // Relaxed, all: a stronger order would create the edge whose absence the check reports.
            check_.calls_.fetch_add(1, std::memory_order_relaxed);
#endif
        }
        ~Scope() {
#if !defined(NDEBUG)
            check_.calls_.fetch_sub(1, std::memory_order_relaxed);
#endif
        }
        Scope(const Scope&) = delete;
        Scope& operator=(const Scope&) = delete;

    private:
        CallCheck& check_;
    };

    /// Whether no call is under way. For assertions only.
    [[nodiscard]] bool areNone() const noexcept {
        return calls_.load(std::memory_order_relaxed) == 0;
    }

private:
    // Not an atomic of a platform, because a model checker need not follow assertions.
    std::atomic<unsigned> calls_{0};
};

}  // namespace sluice
