#pragma once

#include <sluice/log/detail/backend/control_list.hpp>

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <utility>

namespace sluice::log::detail {

/// What one thread waits for and another one gives, once. Shared, as the waiter may give up.
class Signal {
public:
    void give(bool isGood) {
        const std::lock_guard<std::mutex> lock(mutex_);
        isGiven_ = true;
        isGood_ = isGood;
        changed_.notify_all();
    }

    /// False when `end` came first.
    bool waitUntil(std::chrono::steady_clock::time_point end) {
        std::unique_lock<std::mutex> lock(mutex_);
        return changed_.wait_until(lock, end, [this] { return isGiven_; });
    }

    bool isGood() {
        const std::lock_guard<std::mutex> lock(mutex_);
        return isGood_;
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    bool isGiven_ = false;
    bool isGood_ = false;
};

/// Runs `finish`, which says whether all is well, then gives a signal. A bad one if the back end
/// has ended first.
template <class Finish>
class Barrier : public Control {
public:
    Barrier(Finish finish, std::shared_ptr<Signal> done)
        : finish_(std::move(finish)), done_(std::move(done)) {}

    void run() noexcept override { done_->give(finish_()); }
    void abandon() noexcept override { done_->give(false); }

private:
    Finish finish_;
    std::shared_ptr<Signal> done_;
};

}  // namespace sluice::log::detail
