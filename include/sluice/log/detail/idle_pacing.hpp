#pragma once

#include <chrono>
#include <cstdint>
#include <thread>

namespace sluice::log::detail {

/// How a worker waits for the next record: the longer nothing came, the more it sleeps.
///
/// While records come it naps after each harvest that was not a large one, so that the next one is:
/// a look at a lane takes over the cache line that its thread writes with every record, and both
/// pay for that. When nothing came it gives its processor away, then it takes longer naps, of up to
/// half a millisecond, then it parks. Only a parked worker has to be woken, which costs a logging
/// thread a system call: the naps keep that away from threads that log now and then. Nothing is
/// delayed for longer than a nap, and what the system adds to it, on Linux 50 microseconds.
class IdlePacing {
public:
    /// To be called after each harvest with what it delivered. True when the worker should park.
    bool shouldPark(std::uint64_t delivered) {
        if (delivered != 0) {
            emptyHarvests_ = 0;
            if (delivered < large) {
                std::this_thread::sleep_for(shortestNap);
            }
            return false;
        }
        ++emptyHarvests_;
        if (emptyHarvests_ <= yields) {
            std::this_thread::yield();
        } else if (emptyHarvests_ <= yields + naps) {
            std::this_thread::sleep_for(shortestNap * (1U << (emptyHarvests_ - yields)));
        } else {
            emptyHarvests_ = yields + naps;  // after each time in the park: a look, then the next
            return true;
        }
        return false;
    }

private:
    static constexpr std::uint64_t large = 512;
    static constexpr unsigned yields = 8;
    static constexpr unsigned naps = 5;
    static constexpr std::chrono::microseconds shortestNap{15};

    unsigned emptyHarvests_ = 0;
};

}  // namespace sluice::log::detail
