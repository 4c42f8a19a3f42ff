#pragma once

#include <sluice/base/platform.hpp>

#include <atomic>
#include <cstddef>
#include <functional>
#include <type_traits>
#include <utility>

namespace sluice::test {

/// Runs a function once, in front of a chosen access to an atomic variable. The function does the
/// work of another thread, in the same thread, and therefore the same way each time.
///
/// An access under a spin lock is not chosen, because the function could not take the lock. If
/// isOnOneProcessor is set, it is chosen too, because the function is then a real interrupt.
class Interruption {
public:
    /// Interrupts the access with this number, counted from 0 while this object exists.
    Interruption(std::size_t access, std::function<void()> action)
        : left_(access), action_(std::move(action)) {
        current = this;
    }
    Interruption(const Interruption&) = delete;
    Interruption& operator=(const Interruption&) = delete;
    ~Interruption() { current = nullptr; }

    /// Whether the chosen access was made.
    [[nodiscard]] bool happened() const noexcept { return happened_; }

    static void beforeAccess() {
        if (current != nullptr && (locksHeld == 0 || isOnOneProcessor) && current->left_-- == 0) {
            Interruption& self = *std::exchange(current, nullptr);
            self.happened_ = true;
            self.action_();
        }
    }

    inline static int locksHeld = 0;
    inline static bool isOnOneProcessor = false;

private:
    inline static Interruption* current = nullptr;

    std::size_t left_;
    std::function<void()> action_;
    bool happened_ = false;
};

template <class T>
class InterruptedAtomic : public std::atomic<T> {
    using Base = std::atomic<T>;

public:
    using Base::Base;

    T load(std::memory_order order) const {
        Interruption::beforeAccess();
        return Base::load(order);
    }
    void store(T value, std::memory_order order) {
        Interruption::beforeAccess();
        Base::store(value, order);
        if constexpr (std::is_same_v<T, bool>) {
            // Only spin locks and lanes of a bus release a false. A lane does so while no spin lock
            // is held.
            const bool isUnlock = !value && order == std::memory_order_release;
            Interruption::locksHeld -= isUnlock && Interruption::locksHeld != 0 ? 1 : 0;
        }
    }
    T exchange(T value, std::memory_order order) {
        Interruption::beforeAccess();
        const T before = Base::exchange(value, order);
        if constexpr (std::is_same_v<T, bool>) {
            // Only a spin lock acquires a true.
            Interruption::locksHeld +=
                value && !before && order == std::memory_order_acquire ? 1 : 0;
        }
        return before;
    }
    T fetch_add(T value, std::memory_order order) {
        Interruption::beforeAccess();
        return Base::fetch_add(value, order);
    }
    T fetch_sub(T value, std::memory_order order) {
        Interruption::beforeAccess();
        return Base::fetch_sub(value, order);
    }
    T fetch_or(T value, std::memory_order order) {
        Interruption::beforeAccess();
        return Base::fetch_or(value, order);
    }
    bool compare_exchange_strong(T& expected, T desired, std::memory_order success,
                                 std::memory_order failure) {
        Interruption::beforeAccess();
        return Base::compare_exchange_strong(expected, desired, success, failure);
    }
    bool compare_exchange_weak(T& expected, T desired, std::memory_order success,
                               std::memory_order failure) {
        Interruption::beforeAccess();
        return Base::compare_exchange_weak(expected, desired, success, failure);
    }
    bool compare_exchange_weak(T& expected, T desired, std::memory_order order) {
        Interruption::beforeAccess();
        return Base::compare_exchange_weak(expected, desired, order);
    }
};

/// One thread does the work of all threads, so counters per thread would be shared.
struct InterruptingPlatform : StdPlatform {
    static constexpr bool hasThreads = false;
    template <class T>
    using Atomic = InterruptedAtomic<T>;
};

/// Runs `operation` once for each of its accesses, on a new `scene`, with `action` before this
/// access. Then it calls check(scene). Returns the number of accesses.
template <class MakeScene, class Operation, class Action, class Check>
std::size_t interruptEverywhere(MakeScene makeScene, Operation operation, Action action,
                                Check check) {
    for (std::size_t access = 0;; ++access) {
        const auto scene = makeScene();
        bool happened = false;
        {
            const Interruption interruption(access, [&] { action(*scene); });
            operation(*scene);
            happened = interruption.happened();
        }
        if (!happened) {
            return access;
        }
        check(*scene);
    }
}

}  // namespace sluice::test
