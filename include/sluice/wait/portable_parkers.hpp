#pragma once

#include <sluice/base/platform.hpp>

#include <atomic>
#include <chrono>

#if SLUICE_HAS_THREADS
#include <condition_variable>
#include <mutex>
#endif

// Parkers for systems without a futex: see <sluice/wait/park.hpp>.

namespace sluice::detail {

#if SLUICE_HAS_THREADS
class CondVarParker {
public:
    template <class Word, class StillWaiting>
    void park(const Word& word, StillWaiting stillWaiting, std::chrono::nanoseconds atMost) {
        std::unique_lock<std::mutex> lock(mutex_);
        if (stillWaiting(word.load(std::memory_order_acquire))) {
            changed_.wait_for(lock, atMost);
        }
    }

    template <class Word>
    void unparkAll(const Word&) {
        { const std::lock_guard<std::mutex> lock(mutex_); }  // a sleeper saw the change, or waits
        changed_.notify_all();
    }

    template <class Word>
    void unparkOne(const Word&) {
        { const std::lock_guard<std::mutex> lock(mutex_); }  // as in unparkAll()
        changed_.notify_one();
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
};
#endif

/// The parker of systems without threads. park() returns immediately, so the waiter polls.
class NoParker {
public:
    template <class Word, class StillWaiting>
    void park(const Word&, StillWaiting, std::chrono::nanoseconds) noexcept {}
    template <class Word>
    void unparkAll(const Word&) noexcept {}
    template <class Word>
    void unparkOne(const Word&) noexcept {}
};

}  // namespace sluice::detail
