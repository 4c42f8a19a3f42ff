#pragma once

/// \file
/// Lets a thread sleep until the high half of an event count's word changes: with a futex on Linux,
/// otherwise with a mutex and a condition variable. Without threads the waiter polls.

#include <sluice/base/thread_support.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>

#if SLUICE_HAS_THREADS
#include <condition_variable>
#include <mutex>
#endif

#if defined(__linux__)
#include <ctime>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace sluice::detail {

/// Limits a sleep to a day, because kernels and standard libraries overflow on the longest limits.
/// A parker may return early, so this changes nothing for the caller.
template <class Duration>
std::chrono::nanoseconds atMostADay(Duration limit) noexcept {
    constexpr std::chrono::hours day{24};
    return limit < day ? std::chrono::duration_cast<std::chrono::nanoseconds>(limit) : day;
}

// A parker has park(word, stillWaiting) and parkFor(word, stillWaiting, atMost). The calling thread
// sleeps only if stillWaiting(value) is true of the word's value. Both functions may return at any
// time. To end the sleep, another thread changes the high half so that stillWaiting(value) becomes
// false, and then calls unparkAll(word). unparkOne(word) wakes one of the sleeping threads.

#if SLUICE_HAS_THREADS
class CondVarParker {
public:
    template <class Word, class StillWaiting>
    void park(const Word& word, StillWaiting stillWaiting) {
        std::unique_lock<std::mutex> lock(mutex_);
        if (stillWaiting(word.load(std::memory_order_acquire))) {
            changed_.wait(lock);
        }
    }

    template <class Word, class StillWaiting, class Duration>
    void parkFor(const Word& word, StillWaiting stillWaiting, Duration atMost) {
        std::unique_lock<std::mutex> lock(mutex_);
        if (stillWaiting(word.load(std::memory_order_acquire))) {
            changed_.wait_for(lock, atMostADay(atMost));
        }
    }

    template <class Word>
    void unparkAll(const Word&) {
        passThroughMutex();
        changed_.notify_all();
    }

    template <class Word>
    void unparkOne(const Word&) {
        passThroughMutex();
        changed_.notify_one();
    }

private:
    /// Afterwards each sleeper has either seen the change of the word, or begun its wait.
    void passThroughMutex() { const std::lock_guard<std::mutex> lock(mutex_); }

    std::mutex mutex_;
    std::condition_variable changed_;
};
#endif

/// Returns at once: the waiter polls.
class NoParker {
public:
    template <class Word, class StillWaiting>
    void park(const Word&, StillWaiting) noexcept {}
    template <class Word, class StillWaiting, class Duration>
    void parkFor(const Word&, StillWaiting, Duration) noexcept {}
    template <class Word>
    void unparkAll(const Word&) noexcept {}
    template <class Word>
    void unparkOne(const Word&) noexcept {}
};

#if defined(__linux__)

/// Sleeps on the high half of a 64-bit atomic; no state of its own.
class FutexParker {
public:
    template <class StillWaiting>
    void park(const std::atomic<std::uint64_t>& word, StillWaiting stillWaiting) noexcept {
        sleep(word, stillWaiting, nullptr);
    }

    template <class StillWaiting, class Duration>
    void parkFor(const std::atomic<std::uint64_t>& word, StillWaiting stillWaiting,
                 Duration atMost) noexcept {
        using namespace std::chrono;
        const nanoseconds limit = atMostADay(atMost);
        const auto whole = duration_cast<seconds>(limit);
        timespec timeout{};
        timeout.tv_sec = static_cast<decltype(timeout.tv_sec)>(whole.count());
        timeout.tv_nsec = static_cast<decltype(timeout.tv_nsec)>((limit - whole).count());
        sleep(word, stillWaiting, &timeout);
    }

    void unparkAll(const std::atomic<std::uint64_t>& word) noexcept { wake(word, INT32_MAX); }
    void unparkOne(const std::atomic<std::uint64_t>& word) noexcept { wake(word, 1); }

private:
    // A 32-bit program may have times of 64 bits. SYS_futex would read such a time as two words.
#if defined(SYS_futex_time64)
    static constexpr long waitCall = sizeof(std::time_t) > sizeof(long) ? SYS_futex_time64
                                                                        : SYS_futex;
#else
    static constexpr long waitCall = SYS_futex;
#endif

    static void wake(const std::atomic<std::uint64_t>& word, std::int32_t most) noexcept {
        ::syscall(SYS_futex, highHalf(word), FUTEX_WAKE_PRIVATE, most, nullptr, nullptr, 0);
    }

    template <class StillWaiting>
    static void sleep(const std::atomic<std::uint64_t>& word, StillWaiting& stillWaiting,
                      const timespec* timeout) noexcept {
        // The kernel compares the high half again, so no change after this check is missed.
        const std::uint64_t seen = word.load(std::memory_order_acquire);
        const auto high = static_cast<std::uint32_t>(seen >> 32U);
        if (stillWaiting(seen)) {
            ::syscall(waitCall, highHalf(word), FUTEX_WAIT_PRIVATE, high, timeout, nullptr, 0);
        }
    }

    static const void* highHalf(const std::atomic<std::uint64_t>& word) noexcept {
        static_assert(sizeof(word) == 8, "the futex needs the bare word");
        const auto* bytes = reinterpret_cast<const unsigned char*>(&word);
        return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? bytes + 4 : bytes;
    }
};

#endif

}  // namespace sluice::detail

namespace sluice {

#if defined(__linux__)
using DefaultParker = detail::FutexParker;
#elif SLUICE_HAS_THREADS
using DefaultParker = detail::CondVarParker;
#else
using DefaultParker = detail::NoParker;
#endif

}  // namespace sluice
