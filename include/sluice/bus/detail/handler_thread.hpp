#pragma once

#include <utility>

namespace sluice::detail {

/// While one lives, its thread runs handlers. There no publication waits for room without an end:
/// the thread may be the one that is to make the room, of this bus or, round a circle of handlers
/// that wait for each other, of another one.
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

}  // namespace sluice::detail
