#pragma once

#include <sluice/base/platform.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

#if SLUICE_HAS_THREADS
#include <condition_variable>
#include <mutex>
#endif

// Parkers for systems without a futex: see <sluice/wait/park.hpp>.

namespace sluice::detail {

#if defined(_WIN32)
/// A stateless parker that sleeps on the high half of a 64-bit atomic by WaitOnAddress().
class AddressParker {
public:
    template <class StillWaiting>
    void park(const std::atomic<std::uint64_t>& word, StillWaiting stillWaiting,
              std::chrono::nanoseconds atMost) noexcept {
        const std::uint64_t seen = word.load(std::memory_order_acquire);
        auto high = static_cast<std::uint32_t>(seen >> 32U);  // compared by WaitOnAddress()
        if (stillWaiting(seen)) {
            const auto limit = std::chrono::ceil<std::chrono::milliseconds>(atMost).count();
            using Wait = int __stdcall(const void*, void*, std::size_t, unsigned long);
            static auto* const wait = find<Wait>("WaitOnAddress");
            (void)wait(highHalf(&word), &high, sizeof high, static_cast<unsigned long>(limit));
        }
    }
    void unparkAll(const std::atomic<std::uint64_t>& word) noexcept {
        static auto* const wake = find<void __stdcall(const void*)>("WakeByAddressAll");
        wake(highHalf(&word));
    }
    void unparkOne(const std::atomic<std::uint64_t>& word) noexcept {
        static auto* const wake = find<void __stdcall(const void*)>("WakeByAddressSingle");
        wake(highHalf(&word));
    }

private:
    template <class Call>
    static Call* find(const char* name) noexcept {
        return windows::find<Call>(L"api-ms-win-core-synch-l1-2-0.dll", name);
    }
    static const void* highHalf(const void* word) noexcept {
        return static_cast<const char*>(word) + 4;
    }
};
#endif

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
        { const std::lock_guard<std::mutex> lock(mutex_); }  // after each sleeper's stillWaiting()
        changed_.notify_all();
    }

    template <class Word>
    void unparkOne(const Word&) {
        { const std::lock_guard<std::mutex> lock(mutex_); }  // like unparkAll()
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
