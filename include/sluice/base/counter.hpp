#pragma once

#include <sluice/base/platform.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <limits>

namespace sluice {

/// The integer type of shared counters: 64 bits, or 32 bits if 64-bit atomics need a lock. A 32-bit
/// counter wraps to 0 after 4 billion.
using CounterWord = StdPlatform::WideWord;

/// A counter that one thread writes and any thread reads.
///
///     sluice::SingleWriterCounter<> handled;
///     handled.add(1);                             // the writer
///     const std::uint64_t count = handled.get();  // any thread
///
/// A thread that reads a count also sees all writes that the writer made before add().
template <class Platform = StdPlatform>
class SingleWriterCounter {
public:
    SLUICE_ALWAYS_INLINE void add(std::uint64_t n) noexcept {
        const CounterWord count = count_.load(std::memory_order_relaxed);  // own variable
        // A mask narrows the sum: g++ would warn about a redundant cast if CounterWord has 64 bits.
        count_.store((count + n) & std::numeric_limits<CounterWord>::max(),
                     std::memory_order_release);  // E1 count
    }
    [[nodiscard]] std::uint64_t get() const noexcept {
        return count_.load(std::memory_order_acquire);  // E1 count
    }

private:
    // Edge E1: add -> get.
    typename Platform::template Atomic<CounterWord> count_{0};
};

/// A 64-bit number that one thread writes and any thread reads. Synchronizes no other data.
///
///     sluice::SingleWriterNumber<> latest;
///     latest.set(17);                             // the writer
///     const std::uint64_t number = latest.get();  // any thread
template <class Platform = StdPlatform,
          bool AsOneWord = std::atomic<std::uint64_t>::is_always_lock_free>
class SingleWriterNumber {
public:
    void set(std::uint64_t value) noexcept {
        value_.store(value, std::memory_order_relaxed);  // value only
    }
    [[nodiscard]] std::uint64_t get() const noexcept {
        return value_.load(std::memory_order_relaxed);  // value only
    }

private:
    typename Platform::template Atomic<std::uint64_t> value_{0};
};

/// The specialisation for processors without lock-free 64-bit atomics. The writer never waits. A
/// reader retries if the number changes during the read.
template <class Platform>
class SingleWriterNumber<Platform, false> {
    template <class T>
    using Atomic = typename Platform::template Atomic<T>;

public:
    void set(std::uint64_t value) noexcept {
        const std::uint32_t next = version_.load(std::memory_order_relaxed) + 1;  // own variable
        Halves& halves = copies_[next % 2];
        halves.low.store(static_cast<std::uint32_t>(value), std::memory_order_release);  // E2 reuse
        halves.high.store(static_cast<std::uint32_t>(value >> 32U), std::memory_order_release);
        version_.store(next, std::memory_order_release);  // E1 value
    }

    [[nodiscard]] std::uint64_t get() const noexcept {
        std::uint32_t version = version_.load(std::memory_order_acquire);  // E1 value
        for (;;) {
            const Halves& halves = copies_[version % 2];
            const std::uint64_t low = halves.low.load(std::memory_order_acquire);  // E2 reuse
            const std::uint64_t high = halves.high.load(std::memory_order_acquire);
            const std::uint32_t last = version_.load(std::memory_order_acquire);
            if (last == version) {
                return high << 32U | low;
            }
            version = last;
        }
    }

private:
    // Origin: seqcount_latch of Linux. set() writes the copy that `version_` does not select.
    //
    // Happens-before edges:
    //   E1 value: set -> get.
    //   E2 reuse: set -> get. A get() that reads a half of a later set() sees a new version_.

    struct Halves {
        Atomic<std::uint32_t> low{0};
        Atomic<std::uint32_t> high{0};
    };

    std::array<Halves, 2> copies_;  // copies_[version_ % 2] is valid
    Atomic<std::uint32_t> version_{0};
};

/// Raises `maximum` to `value` if `value` is larger. Lock-free; synchronizes no other data.
template <class Atomic, class T>
void storeMax(Atomic& maximum, T value) noexcept {
    T seen = maximum.load(std::memory_order_relaxed);  // value only
    while (seen < value && !maximum.compare_exchange_weak(seen, value, std::memory_order_relaxed,
                                                          std::memory_order_relaxed)) {
    }
}

}  // namespace sluice
