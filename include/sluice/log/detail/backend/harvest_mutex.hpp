#pragma once

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

namespace sluice::log::detail {

/// The mutex of those who harvest. The worker, which has it nearly always, lets others go first:
/// they say that they want it, and `wake()` ends the worker's wait.
class HarvestTurns {
public:
    void lock() { mutex_.lock(); }
    void unlock() { mutex_.unlock(); }

    /// For others than the worker.
    template <class Wake>
    void take(Wake&& wake) {
        const Want want(others_);
        wake();
        mutex_.lock();
    }

    /// The same until `end`. False when a harvest takes longer.
    template <class Wake>
    bool tryTakeUntil(std::chrono::steady_clock::time_point end, Wake&& wake) {
        const Want want(others_);
        wake();
        bool isMine = mutex_.try_lock();
        while (!isMine && std::chrono::steady_clock::now() < end) {
            std::this_thread::yield();
            isMine = mutex_.try_lock();
        }
        return isMine;
    }

    /// For the worker, before it locks.
    void letOthersGo() const noexcept {
        while (others_.load(std::memory_order_relaxed) != 0) {  // relaxed: a plea
            std::this_thread::yield();
        }
    }

    /// In the child of a fork.
    void forgetOthers() noexcept {
        others_.store(0, std::memory_order_relaxed);  // relaxed: there is one thread
    }

private:
    struct Want {
        explicit Want(std::atomic<unsigned>& o) noexcept : others(o) {
            others.fetch_add(1, std::memory_order_relaxed);  // relaxed: wake() publishes it
        }
        Want(const Want&) = delete;
        Want& operator=(const Want&) = delete;
        ~Want() { others.fetch_sub(1, std::memory_order_relaxed); }  // relaxed: a hint
        std::atomic<unsigned>& others;
    };

    std::mutex mutex_;
    std::atomic<unsigned> others_{0};  // that want the mutex
};

}  // namespace sluice::log::detail
