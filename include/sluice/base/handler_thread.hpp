#pragma once

#include <utility>

namespace sluice {

/// Marks the calling thread as one that runs handlers, for as long as this object lives.
///
///     const HandlerThread<Platform> handlers;
///     handler(message);
///
/// In a handler nothing waits for room without an end. The thread may be the one that is to make
/// the room: of the same queue, or of another one whose handlers wait in turn. With a limit to the
/// wait, such a circle ends.
///
/// Marks may be nested. A platform whose runsHandlers() is a variable of its own in each shared
/// library knows of its library's handlers alone.
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
