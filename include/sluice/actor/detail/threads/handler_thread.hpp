#pragma once

#include <utility>

namespace sluice::detail {

/// While one lives, its thread runs handlers of objects. There a post that would wait for room is
/// refused: two objects with full mailboxes would wait for each other.
class HandlerThread {
public:
    HandlerThread() noexcept : before_(std::exchange(isHere_, true)) {}
    ~HandlerThread() { isHere_ = before_; }
    HandlerThread(const HandlerThread&) = delete;
    HandlerThread& operator=(const HandlerThread&) = delete;

    [[nodiscard]] static bool isHere() noexcept { return isHere_; }

private:
    inline static thread_local bool isHere_ = false;

    const bool before_;
};

}  // namespace sluice::detail
