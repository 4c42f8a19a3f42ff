#pragma once

#include <sluice/base/platform.hpp>
#include <sluice/wait/park.hpp>

#if defined(__linux__)

#include <atomic>
#include <cstdint>
#include <sys/eventfd.h>
#include <unistd.h>

namespace sluice {

namespace detail {

/// An eventfd, a kernel counter that an event loop can watch. Tests use a fake descriptor.
class EventFd {
public:
    EventFd() noexcept = default;
    EventFd(const EventFd&) = delete;
    EventFd& operator=(const EventFd&) = delete;
    ~EventFd() {
        if (isOpen()) {
            ::close(number_);
        }
    }

    void open() noexcept { number_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }
    [[nodiscard]] bool isOpen() const noexcept { return number_ != -1; }
    [[nodiscard]] int number() const noexcept { return number_; }

    void signal() const noexcept {
        const std::uint64_t one = 1;
        [[maybe_unused]] const auto size = ::write(number_, &one, sizeof one);
    }

    void clear() const noexcept {
        std::uint64_t count = 0;
        // read() fails if the counter is already 0, which is harmless.
        [[maybe_unused]] const auto size = ::read(number_, &count, sizeof count);
    }

private:
    int number_ = -1;
};

}  // namespace detail

/// A wait strategy for a consumer in an event loop (Linux). The file descriptor of an EventFdWait
/// becomes readable when a message arrives, which wakes epoll, poll, select or asio.
///
///     struct LoopTraits : sluice::FullBusTraits { using Wait = sluice::EventFdWait; };
///     const int descriptor = bus.waiting().descriptor();  // add it to the loop, for reading
///     ...
///     void onReadable() {  // and once before the loop begins
///         do {
///             bus.process();
///         } while (bus.waitFor(0s));
///         if (bus.isDrained()) { ... leave the loop ... }
///     }
///
/// A timed wait that returns false arms the descriptor. A notification makes an armed descriptor
/// readable, and the next wait that times out clears the descriptor. The descriptor may become
/// readable without a message. EventFdWait works like Park until descriptor() is called.
///
/// Thread safety: any thread may call notifyAll(), notifyOne() and wait(). After the first call of
/// descriptor(), only the event loop's thread may call descriptor() and waitUntil(). Remove the
/// descriptor from the event loop before the EventFdWait is destroyed. A notification makes a
/// system call only if a thread sleeps or the descriptor is armed.
template <class Platform = StdPlatform, class Parker = DefaultParker,
          class Descriptor = detail::EventFd>
class BasicEventFdWait {
public:
    using Clock = typename Platform::Clock;

    /// The descriptor that the event loop watches but never reads. The first call opens the
    /// descriptor, or returns -1 and sets errno.
    [[nodiscard]] int descriptor() noexcept {
        if (!descriptor_.isOpen()) {
            descriptor_.open();
        }
        return descriptor_.number();
    }

    template <class Ready>
    void wait(Ready&& ready) {
        park_.wait(ready);
    }

    /// Arms the descriptor and returns false if `deadline` passes before `ready` returns true.
    /// Calls `ready` at least once.
    template <class Ready>
    [[nodiscard]] bool waitUntil(Ready&& ready, typename Clock::time_point deadline) {
        if (!descriptor_.isOpen()) {
            return park_.waitUntil(ready, deadline);
        }
        return (Clock::now() < deadline && park_.waitUntil(ready, deadline)) || readyOrArmed(ready);
    }

    void notifyAll() noexcept {
        park_.notifyAll();  // begins with the light fence of E1 arm
        signalIfArmed();
    }

    /// Wakes one of the waiting threads, and the event loop if the descriptor is armed.
    template <class... IsDue>
    void notifyOne(IsDue... isDue) noexcept {
        park_.notifyOne(isDue...);  // as in notifyAll()
        signalIfArmed();
    }

private:
    // Happens-before edges (proof: docs/algorithms/parking.md):
    //   E1 arm: wait <-> notify.
    //   E2 cleared: notify -> wait.
    //   E3 descriptor: wait -> notify.

    template <class Ready>
    bool readyOrArmed(Ready& ready) {
        descriptor_.clear();  // E2 cleared
        // Relaxed: value only.
        const std::uint32_t armed = (arming_.load(std::memory_order_relaxed) + 1U) | 1U;
        arming_.store(armed, std::memory_order_release);  // E3 descriptor
        Platform::Fence::heavy();                         // E1 arm
        if (!ready()) {
            return false;
        }
        arming_.store(armed + 1U, std::memory_order_relaxed);  // value only
        return true;
    }

    static bool isArmed(std::uint32_t arming) noexcept { return (arming & 1U) != 0; }

    void signalIfArmed() noexcept {
        if (SLUICE_UNLIKELY(isArmed(arming_.load(std::memory_order_relaxed)))) {  // by E1
            signal();
        }
    }

    [[gnu::noinline]] void signal() noexcept {
        std::uint32_t seen = arming_.load(std::memory_order_acquire);  // E3 descriptor
        if (isArmed(seen)) {
            // Writes the descriptor first: if this thread is preempted before arming_ changes, the
            // next notifier writes again.
            descriptor_.signal();  // E2 cleared
            // Relaxed: value only.
            arming_.compare_exchange_strong(seen, seen + 1U, std::memory_order_relaxed,
                                            std::memory_order_relaxed);
        }
    }

    BasicPark<Platform, Parker> park_;
    // Counts how often the descriptor was armed or disarmed; odd while armed.
    typename Platform::template Atomic<std::uint32_t> arming_{0};
    Descriptor descriptor_;
};

using EventFdWait = BasicEventFdWait<>;

}  // namespace sluice

#endif
