#pragma once

#include <sluice/actor/request.hpp>
#include <sluice/base/assert.hpp>
#include <sluice/base/platform.hpp>
#include <sluice/base/role_check.hpp>
#include <sluice/base/send_result.hpp>
#include <sluice/base/spin_lock.hpp>
#include <sluice/bus/messages.hpp>
#include <sluice/wait/park.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <type_traits>
#include <utility>

namespace sluice::detail {

/// The coroutines that wait for a free slot in one object's mailbox, the oldest first. Any thread
/// may call any member.
template <class Platform>
class RoomWaiters {
    using Guard = std::lock_guard<BasicSpinLock<Platform>>;

public:
    RoomWaiters() = default;
    RoomWaiters(const RoomWaiters&) = delete;
    RoomWaiters& operator=(const RoomWaiters&) = delete;
    ~RoomWaiters() {
        const Guard guard(lock_);
        if (waits_ != 0) {
            failAssertion({"no coroutine awaits room",
                           "an object is destroyed while a coroutine waits for room in it: end the "
                           "object of that coroutine first",
                           __FILE__, __LINE__});
        }
    }

    /// A waiting coroutine, which is listed from add() until remove(), end() or its wake-up.
    class Wait {
    public:
        explicit Wait(Waker& waker) noexcept : waker_(waker) {}

    private:
        friend RoomWaiters;
        Waker& waker_;
        Wait* older_ = nullptr;
        Wait* newer_ = nullptr;
        bool isListed_ = false;  ///< guarded by lock_
        bool isCounted_ = false;
    };

    /// The number of notifications so far. Read it before trying to post, and pass it to add().
    [[nodiscard]] std::uint32_t notifications() const noexcept {
        return notifications_.load(std::memory_order_acquire);  // E1 room
    }

    /// Returns false if notifications() no longer equals `seen`; the caller must then post again.
    [[nodiscard]] bool add(Wait& wait, std::uint32_t seen) noexcept {
        const Guard guard(lock_);
        if (notifications_.load(std::memory_order_relaxed) != seen) {  // under the lock
            return false;
        }
        waits_ += wait.isCounted_ ? 0 : 1;
        wait.isCounted_ = wait.isListed_ = true;
        wait.older_ = newest_;
        wait.newer_ = nullptr;
        (newest_ != nullptr ? newest_->newer_ : oldest_) = &wait;
        newest_ = &wait;
        return true;
    }

    /// Removes a wait, so that its waker is not called. Returns false if the wait is not listed.
    bool remove(Wait& wait) noexcept {
        const Guard guard(lock_);
        const bool isListed = wait.isListed_;
        if (isListed) {
            unlink(guard, wait);
        }
        return isListed;
    }
    /// Must be called after the last add(). After end(), the wait and this list may be destroyed.
    void end(Wait& wait) noexcept {
        if (std::exchange(wait.isCounted_, false)) {
            const Guard guard(lock_);
            if (wait.isListed_) {
                unlink(guard, wait);
            }
            --waits_;
        }
    }

    /// Wakes the oldest waiting coroutine.
    void notifyOne() noexcept {
        const Guard guard(lock_);
        wakeOldest(guard);
    }
    /// Wakes all waiting coroutines, because one alone might end without trying to post.
    void notifyAll() noexcept {
        const Guard guard(lock_);
        do {
            wakeOldest(guard);
        } while (oldest_ != nullptr);
    }

private:
    // Happens-before edge (proof: docs/algorithms/actors.md): E1 room: wakeOldest -> notifications.

    /// Calls the waker under lock_, so that remove() waits for a running waker.
    void wakeOldest(const Guard& guard) noexcept {
        const std::uint32_t before =
            notifications_.load(std::memory_order_relaxed);           // under the lock
        notifications_.store(before + 1, std::memory_order_release);  // E1 room
        if (oldest_ != nullptr) {
            oldest_->waker_.wake();
            unlink(guard, *oldest_);
        }
    }
    void unlink(const Guard& /*guard*/, Wait& wait) noexcept {
        (wait.older_ != nullptr ? wait.older_->newer_ : oldest_) = wait.newer_;
        (wait.newer_ != nullptr ? wait.newer_->older_ : newest_) = wait.older_;
        wait.isListed_ = false;
    }

    BasicSpinLock<Platform> lock_;
    Wait* oldest_ = nullptr;  ///< guarded by lock_
    Wait* newest_ = nullptr;  ///< guarded by lock_
    std::size_t waits_ = 0;   ///< number of Waits between add() and end(); guarded by lock_
    typename Platform::template Atomic<std::uint32_t> notifications_{0};  ///< written under lock_
};

template <class Object, class T>
struct PostToAwait {
    Object& object;
    T message;
    std::chrono::nanoseconds timeout;
    PublishOptions options;
};

[[nodiscard]] constexpr bool isWithoutRoom(SendResult result) noexcept {
    return result == SendResult::full;
}

struct RoomWaits {
    Park roomMade_;                     ///< threads in tryFor() wait here
    RoomWaiters<StdPlatform> waiters_;  ///< coroutines in awaitPost() wait here
};
struct NoRoomWaits {};

/// Adds awaitPost() to an object that has tryPost().
template <class Object, class Traits>
class AwaitedPosting : std::conditional_t<Traits::awaitedPosts, RoomWaits, NoRoomWaits> {
public:
    /// For `co_await`: waits up to `timeout` for a free slot in the mailbox, and posts the message.
    template <class T, class Rep, class Period, class Options = PublishOptions>
    [[nodiscard]] auto awaitPost(T&& message, std::chrono::duration<Rep, Period> timeout,
                                 const Options& options = {}) {
        expectOn<T>();
        using Nanoseconds = std::chrono::time_point<StdPlatform::Clock, std::chrono::nanoseconds>;
        static_assert(std::is_nothrow_move_constructible_v<std::decay_t<T>>,
                      "a message whose post is awaited must have a noexcept move constructor");
        return PostToAwait<Object, std::decay_t<T>>{
            static_cast<Object&>(*this), std::forward<T>(message),
            deadlineAfter(Nanoseconds(), timeout).time_since_epoch(), optionsOf<Traits>(options)};
    }
    /// For detail::AwaitedPost.
    [[nodiscard]] auto& roomWaiters() noexcept { return this->waiters_; }

protected:
    /// Calls tryOnce() until a slot is free or `timeout` has passed. In a handler, calls tryOnce()
    /// only once. Returns tryOnce()'s last result. `manual` is the object's ManualExecutor or null.
    template <class Rep, class Period, class TryOnce>
    SendResult tryFor(std::chrono::duration<Rep, Period> timeout, const TryOnce& tryOnce,
                      HandlerWait* manual) {
        expectOn<TryOnce>();
        SendResult result = SendResult::full;
        if constexpr (Traits::awaitedPosts) {
            const auto isOver = [&] {
                result = tryOnce();
                return !isWithoutRoom(result);
            };
            if (isOver() || HandlerThread<StdPlatform>::isHere()) {
                return result;
            }
            const auto deadline = deadlineAfter(timeOf<StdPlatform::Clock>(manual), timeout);
            if (manual != nullptr) {
                (void)manual->runUntil(isOver, deadline);
            } else {
                (void)this->roomMade_.waitUntil(isOver, deadline);
            }
        }
        return result;
    }
    /// The object's thread calls notifyOneOfRoom() when a message has left the mailbox.
    void notifyOneOfRoom() noexcept {
        if constexpr (Traits::awaitedPosts) {
            this->roomMade_.notifyOne();
            this->waiters_.notifyOne();
        }
    }
    /// The object's thread calls notifyRoom() after each batch of messages and at its end.
    void notifyRoom() noexcept {
        if constexpr (Traits::awaitedPosts) {
            this->roomMade_.notifyAll();
            this->waiters_.notifyAll();
        }
    }

private:
    template <class T>
    static void expectOn() {
        static_assert(Traits::awaitedPosts || sizeof(T) == 0,
                      "to wait for room, set awaitedPosts to true in the traits of this object");
    }
};

}  // namespace sluice::detail
