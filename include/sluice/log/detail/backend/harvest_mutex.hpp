#pragma once

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

namespace sluice::log::detail {

/// The mutex of the threads that harvest. The worker holds it nearly always, so the worker lets
/// other threads go first. A thread that wants the mutex announces it in others_, and ends the
/// worker's rest with wake().
class HarvestMutex {
public:
    using Guard = std::unique_lock<std::mutex>;

    [[nodiscard]] Guard lock() { return Guard(mutex_); }

    /// Locks the mutex for a thread that is not the worker. wake() ends the rest of the worker.
    template <class Wake>
    [[nodiscard]] Guard lockFirst(Wake&& wake) {
        const Want want(others_);
        wake();
        return lock();
    }

    /// The same, but waits until `end` at most. If a harvest takes longer, the guard does not own
    /// the mutex.
    template <class Wake>
    [[nodiscard]] Guard tryLockUntil(std::chrono::steady_clock::time_point end, Wake&& wake) {
        const Want want(others_);
        wake();
        Guard guard(mutex_, std::try_to_lock);
        while (!guard && std::chrono::steady_clock::now() < end) {
            std::this_thread::yield();
            static_cast<void>(guard.try_lock());
        }
        return guard;
    }

    /// The worker calls it before it locks. Waits until no other thread wants the mutex.
    void letOthersGo() const noexcept {
        while (others_.load(std::memory_order_relaxed) != 0) {  // relaxed: a hint
            std::this_thread::yield();
        }
    }

    /// Called in the child of a fork, which has one thread.
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
    std::atomic<unsigned> others_{0};  ///< threads that want the mutex, except the worker
};

}  // namespace sluice::log::detail
