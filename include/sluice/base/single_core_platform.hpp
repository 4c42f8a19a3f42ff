#pragma once

#include <sluice/base/platform.hpp>

#include <atomic>
#include <cstddef>
#include <type_traits>

namespace sluice {

/// A template argument that confirms that the program runs on one processor.
struct ThisProgramRunsOnOneCore {};

namespace detail {

/// A std::atomic that constrains only the compiler. On one processor, interrupt handlers see
/// accesses in the order that the compiler emits.
template <class T>
class SingleCoreAtomic {
public:
    constexpr SingleCoreAtomic() noexcept = default;
    constexpr SingleCoreAtomic(T value) noexcept : value_(value) {}

    T load(std::memory_order) const noexcept {
        const T value = value_.load(std::memory_order_relaxed);
        compilerBarrier();
        return value;
    }
    void store(T value, std::memory_order) noexcept {
        compilerBarrier();
        value_.store(value, std::memory_order_relaxed);
    }
    T exchange(T value, std::memory_order) noexcept {
        return alone([&] { return value_.exchange(value, std::memory_order_relaxed); });
    }
    T fetch_add(T value, std::memory_order) noexcept {
        return alone([&] { return value_.fetch_add(value, std::memory_order_relaxed); });
    }
    T fetch_sub(T value, std::memory_order) noexcept {
        return alone([&] { return value_.fetch_sub(value, std::memory_order_relaxed); });
    }
    T fetch_or(T value, std::memory_order) noexcept {
        return alone([&] { return value_.fetch_or(value, std::memory_order_relaxed); });
    }
    bool compare_exchange_weak(T& expected, T desired, std::memory_order order,
                               std::memory_order = std::memory_order_relaxed) noexcept {
        return compare_exchange_strong(expected, desired, order);
    }
    bool compare_exchange_strong(T& expected, T desired, std::memory_order,
                                 std::memory_order = std::memory_order_relaxed) noexcept {
        return alone([&] {
            return value_.compare_exchange_strong(expected, desired, std::memory_order_relaxed);
        });
    }

private:
    template <class Change>
    static auto alone(Change change) noexcept {
        compilerBarrier();
        const auto result = change();
        compilerBarrier();
        return result;
    }

    std::atomic<T> value_{};
};

}  // namespace detail

/// The platform for microcontrollers with one processor and interrupts.
///
///     using Platform = sluice::SingleCorePlatform<sluice::ThisProgramRunsOnOneCore>;
///
/// SingleCorePlatform has no hardware barriers, so it has data races on several processors. Waits
/// spin, because only an interrupt handler can end a wait.
template <class Word>
struct SingleCorePlatform : StdPlatform {
    static_assert(std::is_same_v<Word, ThisProgramRunsOnOneCore>,
                  "SingleCorePlatform is unsafe with more than one processor: say "
                  "SingleCorePlatform<ThisProgramRunsOnOneCore> if you know that there is one");

    template <class T>
    using Atomic = detail::SingleCoreAtomic<T>;

    struct Fence {
        static void light() noexcept { detail::compilerBarrier(); }
        static bool tryLight() noexcept { return light(), true; }
        static void heavy() noexcept { detail::compilerBarrier(); }
    };

    static constexpr bool hasThreads = false;
    static const void* thisThread() noexcept { return &mark; }
    static std::size_t threadNumber() noexcept { return 1; }
    static bool& runsHandlers() noexcept {
        static bool runs = false;
        return runs;
    }
    static void yield() noexcept { pause(); }

private:
    static constexpr char mark = 0;
};

}  // namespace sluice
