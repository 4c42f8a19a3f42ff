#pragma once

/// \file
/// The common part of the log's rows: the record, the pattern, the sink, and a hook that keeps the
/// thread behind a log from running.

#include "count.hpp"

#include <condition_variable>
#include <mutex>

namespace sluice::count {

inline constexpr const char* pattern = "[%Y-%m-%d %H:%M:%S.%f] [%n] [%l] %v";
inline constexpr const char* nowhere = "/dev/null";

/// Holds up the thread that calls wait() until release(). A log's own thread waits here before it
/// looks for records, so that the counting thread executes everything that is counted.
class Brake {
public:
    Brake() = default;
    Brake(const Brake&) = delete;
    Brake& operator=(const Brake&) = delete;

    void wait() {
        std::unique_lock lock(mutex_);
        isWaiting_ = true;
        changed_.notify_all();
        changed_.wait(lock, [this] { return isReleased_; });
    }

    void awaitWaiter() {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return isWaiting_; });
    }

    void release() {
        const std::lock_guard lock(mutex_);
        isReleased_ = true;
        changed_.notify_all();
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    bool isWaiting_ = false;
    bool isReleased_ = false;
};

}  // namespace sluice::count
