#pragma once

#include <utility>

namespace sluice {

/// Marks the calling thread as one that runs handlers, for as long as this object lives.
///
///     const HandlerThread<Platform> handlers;
///     handler(message);
///
/// A bus lets no handler wait for room without a time limit. The handler's own thread may have to
/// make this room: in the same bus, or in another bus whose handlers wait for this one. A time
/// limit ends such a cycle.
///
/// Marks may be nested. If each shared library has its own variable runsHandlers(), a library knows
/// only of its own handlers.
///
/// Tests: tests/unit/base/handler_thread_test.cpp.
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
