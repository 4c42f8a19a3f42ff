#pragma once

#include <sluice/base/platform.hpp>

#include <atomic>
#include <cstdint>
#include <type_traits>

namespace sluice {

/// The type of a counter that several threads use: 64 bits, or 32 bits if 64 would need a lock. A
/// counter of 32 bits starts again at 0 after 4 billion.
using CounterWord = std::conditional_t<std::atomic<std::uint64_t>::is_always_lock_free,
                                       std::uint64_t, std::uint32_t>;

/// A counter that one thread writes and any thread reads.
///
///     sluice::SingleWriterCounter<> handled;
///     handled.add(1);                             // the writer
///     const std::uint64_t count = handled.get();  // any thread
///
/// Wait-free. Cost of add(): a load and a store, without an atomic read-modify-write.
///
/// Memory promise: a thread that reads a count sees all that the writer saw before it counted.
/// Example: the writer adds to `accepted`, and later to `handled`. A thread that reads `handled`
/// first never finds it larger than `accepted`.
///
/// Edges: E1 count: count release .. count acquire.
///
/// Tests: tests/unit/base/single_writer_counter_test.cpp, tests/model/counters_model_test.cpp.
template <class Platform = StdPlatform>
class SingleWriterCounter {
public:
    /// Adds to the count. The writer calls it.
    [[gnu::always_inline]] void add(std::uint64_t n) noexcept {
        // Relaxed: no other thread writes.
        const CounterWord count = count_.load(std::memory_order_relaxed);
        count_.store(static_cast<CounterWord>(count + n), std::memory_order_release);  // E1
    }
    [[nodiscard]] std::uint64_t get() const noexcept {
        return count_.load(std::memory_order_acquire);  // E1
    }

private:
    typename Platform::template Atomic<CounterWord> count_{0};
};

}  // namespace sluice
