#pragma once

#include <sluice/base/assert.hpp>

#include <atomic>
#include <utility>

namespace sluice {

namespace detail {

/// A scope guard for a RoleCheck or CallCheck. The guard's type depends on NDEBUG: see
/// assertionsAreActive.
template <class Check, bool IsActive>
class CheckScope {
public:
    explicit CheckScope(Check& check, [[maybe_unused]] const char* advice = nullptr) noexcept
        : check_(check) {
        if constexpr (IsActive) {
            check_.enter(advice);
        }
    }
    ~CheckScope() {
        if constexpr (IsActive) {
            check_.leave();
        }
    }
    CheckScope(const CheckScope&) = delete;
    CheckScope& operator=(const CheckScope&) = delete;

private:
    Check& check_;
};

}  // namespace detail

/// Detects overlapping calls of functions that allow one caller at a time, such as a queue's
/// consumer functions. Also detects a handler that consumes from its own queue. Different threads
/// may make calls one after another. A RoleCheck costs a byte.
template <class Platform>
class RoleCheck {
public:
    using Scope = detail::CheckScope<RoleCheck, detail::assertionsAreActive>;

private:
    template <class Check, bool IsActive>
    friend class detail::CheckScope;

    // Relaxed, because an ordered access would synchronize the callers and hide their data races.
    void enter(const char* advice) noexcept {
        if (taken_.exchange(true, std::memory_order_relaxed)) {
            failAssertion({"one thread in the role", advice, __FILE__, __LINE__});
        }
    }
    void leave() noexcept { taken_.store(false, std::memory_order_relaxed); }

    typename Platform::template Atomic<bool> taken_{false};
};

namespace detail {

/// Replaces RoleCheck for functions that several threads may call simultaneously.
struct AnyNumber {
    struct Scope {
        Scope(AnyNumber&, const char*) noexcept {}
    };
};

}  // namespace detail

inline constexpr const char* oneConsumer = "a second consumer (or a handler consuming from its own "
                                           "queue): let one thread at a time consume, "
                                           "or give each consumer a queue of its own";
inline constexpr const char* oneProducer = "a second producer on a single-producer queue: use "
                                           "MpscRing or MpscLanes, or one queue per producer";

/// Detects the destruction of an object while a thread is in one of its functions. In release
/// builds a CallCheck costs four bytes and no instruction.
///
///     void f() { const CallCheck::Scope call(calls_); ... }
///     ~Object() { SLUICE_ASSERT(calls_.areNone(), "join the threads that call f() first"); }
class CallCheck {
public:
    using Scope = detail::CheckScope<CallCheck, detail::assertionsAreActive>;

    /// Returns true if no checked call is running. For assertions only.
    [[nodiscard]] bool areNone() const noexcept {
        return calls_.load(std::memory_order_relaxed) == 0;
    }

private:
    template <class Check, bool IsActive>
    friend class detail::CheckScope;

    void enter(const char* /*advice*/) noexcept {
        calls_.fetch_add(1, std::memory_order_relaxed);  // as in RoleCheck
    }
    void leave() noexcept { calls_.fetch_sub(1, std::memory_order_relaxed); }

    // Not a Platform::Atomic, because model checkers need not model assertions.
    std::atomic<unsigned> calls_{0};
};

/// Marks the calling thread as a handler thread while the HandlerThread lives. Marks may be nested.
///
/// Bus handlers must not wait for a free slot without a time limit, because their own thread may
/// have to free the slot. A DLL or a shared library with hidden symbols has its own mark, unless
/// the program exports one: see StdPlatform::runsHandlers().
template <class Platform>
class HandlerThread {
public:
    HandlerThread() noexcept : before_(std::exchange(Platform::runsHandlers(), true)) {}
    ~HandlerThread() { Platform::runsHandlers() = before_; }
    HandlerThread(const HandlerThread&) = delete;
    HandlerThread& operator=(const HandlerThread&) = delete;

    [[nodiscard]] static bool isHere() noexcept { return Platform::runsHandlers(); }

private:
    const bool before_;
};

}  // namespace sluice
