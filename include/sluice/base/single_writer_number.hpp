#pragma once

#include <sluice/base/platform.hpp>

#include <array>
#include <atomic>
#include <cstdint>

namespace sluice {

/// A number of 64 bits that one thread writes and any thread reads. It publishes no other data.
///
///     sluice::SingleWriterNumber<> latest;
///     latest.set(17);                             // the writer
///     const std::uint64_t number = latest.get();  // any thread
template <class Platform = StdPlatform,
          bool AsOneWord = std::atomic<std::uint64_t>::is_always_lock_free>
class SingleWriterNumber {
public:
    void set(std::uint64_t value) noexcept {
        value_.store(value, std::memory_order_relaxed);  // it publishes no other data
    }
    [[nodiscard]] std::uint64_t get() const noexcept {
        return value_.load(std::memory_order_relaxed);
    }

private:
    typename Platform::template Atomic<std::uint64_t> value_{0};
};

/// SingleWriterNumber for a processor that needs a lock for 64 bits at once. The writer fills two
/// copies alternately. A version tells which copy is valid. The writer never waits. A reader that
/// has interrupted the writer reads the earlier number. A reader reads again if the version has
/// changed meanwhile.
///
/// Edges: E1 value: halves written, version release .. version acquire, halves read. E2 reuse: half
/// release .. half acquire: a reader that has read a half of a later number sees a later version.
///
/// Origin: Linux's seqcount_latch, which an interrupt handler may read while it has interrupted the
/// writer. Here a write goes to one of the two copies instead of both.
///
/// Tests: tests/unit/base/single_writer_number_test.cpp,
/// tests/model/single_writer_number_model_test.cpp.
template <class Platform>
class SingleWriterNumber<Platform, false> {
    template <class T>
    using Atomic = typename Platform::template Atomic<T>;

public:
    void set(std::uint64_t value) noexcept {
        const std::uint32_t next = version_.load(std::memory_order_relaxed) + 1;  // its own
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
    struct Halves {
        Atomic<std::uint32_t> low{0};
        Atomic<std::uint32_t> high{0};
    };

    std::array<Halves, 2> copies_;
    Atomic<std::uint32_t> version_{0};
};

}  // namespace sluice
