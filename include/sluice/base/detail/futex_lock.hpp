#pragma once

#include <sluice/base/napping_backoff.hpp>
#include <sluice/base/platform.hpp>
#include <sluice/base/priority_futex.hpp>

#if defined(__linux__)

#include <atomic>
#include <cstdint>

namespace [[gnu::visibility("default")]] sluice {
namespace detail {

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

}  // namespace detail
}  // namespace sluice

#endif
