#pragma once

#include <sluice/base/napping_backoff.hpp>
#include <sluice/base/platform.hpp>
#include <sluice/base/priority_futex.hpp>

#include <atomic>
#include <cstdint>

namespace [[gnu::visibility("default")]] sluice {
namespace detail {

/// Makes the thread `me` the owner of the word. Sleeps while another thread owns it, and lends the
/// owner its priority. False if the system refuses. `System` is as PriorityFutex.
template <class System, class Word>
bool ownWord(Word& word, std::uint32_t me) noexcept {
    std::uint32_t nobody = 0;
    // Acquire here and release in disownWord(): this owner sees the section of the last owner.
    return word.compare_exchange_strong(nobody, me, std::memory_order_acquire,
                                        std::memory_order_relaxed) ||
           System::own(word);
}
/// The owner `me` gives the word to a thread that sleeps for it, or to no thread.
template <class System, class Word>
void disownWord(Word& word, std::uint32_t me) noexcept {
    std::uint32_t mine = me;
    if (!word.compare_exchange_strong(mine, 0, std::memory_order_release,
                                      std::memory_order_relaxed)) {
        System::disown(word);
    }
}

#if defined(__linux__)

/// The lock of ForkGate, which PriorityMutex itself uses. The holder gets the priority of a waiting
/// thread. lock() and unlock() take an atomic step each, and a system call if threads compete.
///
/// Tests: tests/unit/base/priority_mutex_test.cpp.
class FutexLock {
public:
    constexpr FutexLock() noexcept = default;
    FutexLock(const FutexLock&) = delete;
    FutexLock& operator=(const FutexLock&) = delete;

    void lock() noexcept {
        const std::uint32_t me = PriorityFutex::thisThread();
        for (BasicNappingBackoff<StdPlatform> backoff; !ownWord<PriorityFutex>(word_, me);) {
            backoff.wait();  // the system has no such futexes
        }
    }
    void unlock() noexcept { disownWord<PriorityFutex>(word_, PriorityFutex::thisThread()); }

    /// For the child of a fork, where the holder may be gone. Relaxed: there is one thread.
    void forgetHolder() noexcept { word_.store(0, std::memory_order_relaxed); }

private:
    PriorityFutex::Word word_{0};
};

#endif

}  // namespace detail
}  // namespace sluice
