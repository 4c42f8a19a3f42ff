#pragma once

/// \file
/// The settings of a record queue.

#include <sluice/base/overflow.hpp>
#include <sluice/base/platform.hpp>
#include <sluice/base/send_result.hpp>
#include <sluice/base/setup_error.hpp>
#include <sluice/base/spin_lock.hpp>
#include <sluice/log/detail/lanes/stamp_clock.hpp>
#include <sluice/wait/event_count.hpp>

#include <chrono>
#include <cstddef>

namespace sluice::log::detail {

/// A function that makes room on the thread that posts, so that this thread need not wait. A back
/// end without a thread sets it.
struct RoomMaker {
    /// Returns false if the calling thread is not the thread that empties the lanes. Null: no such
    /// function.
    bool (*make)(void* core) noexcept = nullptr;
    /// The argument of make().
    void* core = nullptr;
};

/// The settings of a record queue.
struct RecordQueueOptions {
    static constexpr std::size_t mostMessages = std::size_t{1} << 30U;
    static constexpr std::size_t mostBytes = std::size_t{1} << 30U;

    std::size_t laneMessages = 8192;  ///< most records in the lane of a thread: 1 to 2^30
    /// Most bytes in the lane of a thread, with headers: at most 2^30.
    std::size_t laneBytes = std::size_t{1} << 20U;
    /// The longest time that a stalled thread may hold the output back: more than zero.
    std::chrono::nanoseconds maxHold = std::chrono::nanoseconds::max();
    /// Used if a lane is full and the policy is `block`.
    RoomMaker roomMaker;

    /// Returns the options. Reports a set-up error if laneMessages or laneBytes is out of its
    /// range, or if maxHold is not positive. `leastBytes` is the smallest laneBytes.
    [[nodiscard]] const RecordQueueOptions& checked(std::size_t leastBytes) const {
        check("messages of a lane", laneMessages, 1, mostMessages);
        check("bytes of a lane", laneBytes, leastBytes, mostBytes);
        if (maxHold <= maxHold.zero()) {
            setupError("maxHold of a record queue in nanoseconds is too small", 0, 1);
        }
        return *this;
    }

private:
    static void check(const char* what, std::size_t value, std::size_t least, std::size_t most) {
        if (value < least || value > most) {
            setupError(what, value, value < least ? least : most);
        }
    }
};

/// The usual traits of a record queue.
struct RecordQueueTraits {
    using Platform = StdPlatform;
    using Clock = StampClock;
    using FullFence = PortableFence;  ///< if two threads both call heavy(), it orders them
    using Parker = DefaultParker;     ///< puts the threads of the queue to sleep
    using Lock = SpinLock;       ///< guards the list of lanes
};

}  // namespace sluice::log::detail
