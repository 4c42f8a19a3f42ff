#pragma once

/// \file
/// The small types of a Lane.

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace sluice::log::detail {

/// Who has the oldest records of a lane in hand, and for what.
enum class LaneClaim : unsigned char { none, evicting, copying, inPlace };

struct LaneLimits {
    std::size_t messages;
    std::size_t bytes;     ///< a multiple of 8
    std::size_t headSize;  ///< of the user's head
};

/// What a record needs in a lane.
struct Room {
    std::size_t footprint;
    bool isLarge;  ///< it has a block of its own
};

struct Occupancy {
    std::size_t messages;
    std::size_t bytes;
};

/// What the back end has noticed; any thread may read it.
template <class Platform>
struct LaneMarks {
    template <class T>
    using Atomic = typename Platform::template Atomic<T>;

    Atomic<std::size_t> messages{0};  ///< most that a look has found
    Atomic<std::size_t> bytes{0};
    Atomic<std::uint64_t> stalls{0};       ///< records that were still announced at the next look
    Atomic<std::int64_t> longestStall{0};  ///< in nanoseconds

    // Relaxed, all: one writer, and no data follows a number.
    template <class T>
    static void raise(Atomic<T>& mark, T value) noexcept {
        if (value > mark.load(std::memory_order_relaxed)) {
            mark.store(value, std::memory_order_relaxed);
        }
    }
    void reset() noexcept {
        messages.store(0, std::memory_order_relaxed);
        bytes.store(0, std::memory_order_relaxed);
        stalls.store(0, std::memory_order_relaxed);
        longestStall.store(0, std::memory_order_relaxed);
    }
};

}  // namespace sluice::log::detail
