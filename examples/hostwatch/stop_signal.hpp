#pragma once

#include "samples.hpp"

#include <atomic>
#include <condition_variable>
#include <mutex>

namespace hostwatch {

/// Tells threads to stop, and ends their sleep at once. Any thread may call anything.
class StopSignal {
public:
    void request() {
        {
            // Under the mutex, or a thread between its test and its sleep would miss the wake-up.
            const std::lock_guard<std::mutex> lock(mutex_);
            requested_.store(true, std::memory_order_relaxed);
        }
        wakeUp_.notify_all();
    }

    /// Relaxed: no data is handed over with the request, and joining the thread orders the rest.
    bool requested() const noexcept { return requested_.load(std::memory_order_relaxed); }

    /// Sleeps until `deadline` or the request.
    void waitUntil(Clock::time_point deadline) {
        std::unique_lock<std::mutex> lock(mutex_);
        wakeUp_.wait_until(lock, deadline, [this] { return requested(); });
    }

private:
    std::mutex mutex_;
    std::condition_variable wakeUp_;
    std::atomic<bool> requested_{false};
};

}  // namespace hostwatch
