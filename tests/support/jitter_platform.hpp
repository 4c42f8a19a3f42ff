#pragma once

#include "support/dice.hpp"

#include <sluice/base/platform.hpp>

#include "support/testing.hpp"
#include <thread>

namespace sluice::test {

/// Sometimes delays the calling thread: mostly by a few pauses, seldom by microseconds or a yield.
/// Without it, a machine with two cores rarely stops a thread between two given instructions.
inline void jitter() noexcept {
    // Each thread has its own dice, so that jitter() does not synchronise threads.
    thread_local Dice dice(
        static_cast<std::uint32_t>(std::hash<std::thread::id>{}(std::this_thread::get_id())));
    const std::uint32_t eyes = dice();
    std::uint32_t pauses = 0;
    if (eyes % 8 == 0) {
        pauses = eyes / 8 % 32;
    } else if (eyes % 257 == 0) {
        pauses = eyes / 257 % 1024;
    } else if (eyes % 509 == 0) {
        std::this_thread::yield();
    }
    for (; pauses != 0; --pauses) {
        cpuPause();
    }
}

/// An atomic variable with jitter before and after each access.
template <class T>
class JitterAtomic : public std::atomic<T> {
    using Base = std::atomic<T>;

    /// Delays before and after the access of its scope.
    struct Shaken {
        Shaken() noexcept { jitter(); }
        Shaken(const Shaken&) = delete;
        Shaken& operator=(const Shaken&) = delete;
        ~Shaken() { jitter(); }
    };

public:
    using Base::Base;

    T load(std::memory_order order) const noexcept {
        const Shaken shaken;
        return Base::load(order);
    }
    void store(T value, std::memory_order order) noexcept {
        const Shaken shaken;
        Base::store(value, order);
    }
    T exchange(T value, std::memory_order order) noexcept {
        const Shaken shaken;
        return Base::exchange(value, order);
    }
    T fetch_add(T value, std::memory_order order) noexcept {
        const Shaken shaken;
        return Base::fetch_add(value, order);
    }
    T fetch_sub(T value, std::memory_order order) noexcept {
        const Shaken shaken;
        return Base::fetch_sub(value, order);
    }
    T fetch_or(T value, std::memory_order order) noexcept {
        const Shaken shaken;
        return Base::fetch_or(value, order);
    }
    bool compare_exchange_weak(T& expected, T desired, std::memory_order success,
                               std::memory_order failure) noexcept {
        const Shaken shaken;
        return Base::compare_exchange_weak(expected, desired, success, failure);
    }
    bool compare_exchange_strong(T& expected, T desired, std::memory_order success,
                                 std::memory_order failure) noexcept {
        const Shaken shaken;
        return Base::compare_exchange_strong(expected, desired, success, failure);
    }
};

/// A cell that fails the test if its object is used, built or destroyed at a wrong time.
template <class T>
class CheckedCell {
public:
    template <class... Args>
    T& construct(Args&&... args) {
        EXPECT_FALSE(alive_) << "a message is built where one lives";
        T& built = cell_.construct(std::forward<Args>(args)...);
        alive_ = true;
        return built;
    }
    T& get() noexcept {
        EXPECT_TRUE(alive_) << "a message is read where none lives";
        return cell_.get();
    }
    const T& get() const noexcept {
        EXPECT_TRUE(alive_) << "a message is read where none lives";
        return cell_.get();
    }
    void destroy() noexcept {
        EXPECT_TRUE(alive_) << "a message is destroyed where none lives";
        alive_ = false;
        cell_.destroy();
    }
    void destroyAndOwnLines() noexcept {
        EXPECT_TRUE(alive_) << "a message is destroyed where none lives";
        alive_ = false;
        cell_.destroyAndOwnLines();
    }

private:
    // Plain on purpose: the edges of the queue order it, as they order the message.
    bool alive_ = false;
    Cell<T> cell_;
};

/// The standard platform with irregular timing and cells that check the queue's bookkeeping.
struct JitterPlatform : StdPlatform {
    template <class T>
    using Atomic = JitterAtomic<T>;
    template <class T>
    using Cell = CheckedCell<T>;
};

}  // namespace sluice::test
