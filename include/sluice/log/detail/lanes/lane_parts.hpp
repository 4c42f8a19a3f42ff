#pragma once

/// \file
/// The small types of a RecordLane.

#include <sluice/base/counter.hpp>
#include <sluice/log/statistics.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace sluice::log::detail {

/// The state of the lock on the oldest records of a lane. It names the side that may use them.
enum class EvictionState : unsigned char {
    free,
    evicting,  ///< the owner evicts records
    copying,   ///< the back end copies a few records
    inPlace    ///< the back end reads the records in the lane, until it has emitted them
};

/// The numbers of records that lanes have accepted, refused and lost.
struct LaneCounts {
    std::uint64_t logged = 0;    ///< accepted
    std::uint64_t rejected = 0;  ///< refused because there was no room
    std::uint64_t dropped = 0;   ///< accepted, then evicted by later records
    std::uint64_t lost = 0;      ///< begun by a thread before it was cancelled or died

    LaneCounts& operator+=(const LaneCounts& other) noexcept {
        logged += other.logged;
        rejected += other.rejected;
        dropped += other.dropped;
        lost += other.lost;
        return *this;
    }
    LaneCounts operator-(const LaneCounts& other) const noexcept {
        return {logged - other.logged, rejected - other.rejected, dropped - other.dropped,
                lost - other.lost};
    }
    void copyTo(lane_statistics& to) const noexcept {
        to.logged = logged;
        to.rejected = rejected;
        to.dropped = dropped;
        to.lost = lost;
    }
};

/// The limits of a lane.
struct LaneLimits {
    std::size_t messages;
    std::size_t bytes;     ///< a multiple of 8
    std::size_t headSize;  ///< bytes of the user's head
};

/// The bytes that a record takes in a lane.
struct RecordSize {
    std::size_t footprint;  ///< bytes, with the frame
    bool isLarge;           ///< whether the payload is in a block of its own
};

/// The records in a lane, and their bytes.
struct Occupancy {
    std::size_t messages;
    std::size_t bytes;
};

/// The maxima of one lane, or of all lanes. The back end writes them, and any thread reads them.
template <class Platform>
class LaneHighWater {
    using Number = SingleWriterNumber<Platform>;

public:
    void note(const Occupancy& found) noexcept {
        raise(messages_, found.messages);
        raise(bytes_, found.bytes);
    }
    /// Counts a stall when it begins.
    void noteStall() noexcept { stalls_.set(stalls_.get() + 1); }
    /// Notes the length of a stall: when it ends, and while it lasts.
    void noteStall(std::chrono::nanoseconds length) noexcept {
        raise(longestStall_, static_cast<std::uint64_t>(length.count()));
    }
    void reset() noexcept {
        for (Number* const number : {&messages_, &bytes_, &stalls_, &longestStall_}) {
            number->set(0);
        }
    }

    void copyTo(lane_statistics& to) const noexcept {
        to.high_water_messages = static_cast<std::size_t>(messages_.get());
        to.high_water_bytes = static_cast<std::size_t>(bytes_.get());
        to.stalls = stalls_.get();
        to.longest_stall = std::chrono::nanoseconds(static_cast<std::int64_t>(longestStall_.get()));
    }

private:
    static void raise(Number& mark, std::uint64_t value) noexcept {
        if (value > mark.get()) {
            mark.set(value);
        }
    }

    Number messages_;      ///< most records that a look has found in one lane
    Number bytes_;         ///< most bytes that a look has found in one lane
    Number stalls_;        ///< number of records that two looks in a row found announced
    Number longestStall_;  ///< longest time that a record stayed announced, in nanoseconds
};

}  // namespace sluice::log::detail
