#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace sluice::log::detail {

/// A result that one thread gives once and another thread waits for. Both own it, because the
/// waiting thread may give up.
class Signal {
public:
    void give(bool isGood) {
        const std::lock_guard<std::mutex> lock(mutex_);
        isGiven_ = true;
        isGood_ = isGood;
        changed_.notify_all();
    }

    /// False if `end` came first.
    bool waitUntil(std::chrono::steady_clock::time_point end) {
        std::unique_lock<std::mutex> lock(mutex_);
        return changed_.wait_until(lock, end, [this] { return isGiven_; });
    }

    bool isGood() {
        const std::lock_guard<std::mutex> lock(mutex_);
        return isGood_;
    }

private:
    std::mutex mutex_;  ///< guards the following
    std::condition_variable changed_;
    bool isGiven_ = false;
    bool isGood_ = false;
};

}  // namespace sluice::log::detail
