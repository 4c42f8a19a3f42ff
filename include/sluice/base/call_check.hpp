#pragma once

#include <atomic>

namespace sluice {

/// Detects that an object is destroyed while a thread is in one of its functions. Without
/// assertions it costs four bytes and no instruction.
///
///     void f() { const CallCheck::Scope call(calls_); ... }
///     ~Object() { SLUICE_ASSERT(calls_.areNone(), "join the threads that call f() first"); }
///
/// The object may be destroyed only after the scope has ended: the scope writes to it.
///
/// Tests: tests/unit/base/call_check_test.cpp.
class CallCheck {
public:
    class Scope {
    public:
        explicit Scope(CallCheck& check) noexcept : check_(check) {
#if !defined(NDEBUG)
            // Relaxed, all: it must not create the very edge whose absence it is there to notice.
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
    // Not an atomic of a platform: assertions are no part of an algorithm, and a model checker need
    // not follow them.
    std::atomic<unsigned> calls_{0};
};

}  // namespace sluice
