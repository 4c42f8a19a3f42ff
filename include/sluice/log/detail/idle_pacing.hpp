#pragma once

#include <sluice/wait/harvest_pacing.hpp>

#include <chrono>
#include <cstdint>
#include <thread>

namespace sluice::log::detail {

/// How a worker waits for the next record: the longer nothing came, the more it sleeps.
///
/// While records come it pauses for less than a microsecond, so that its harvests grow. Then it
/// gives its processor away, then it takes naps of up to half a millisecond, then it parks. Only a
/// parked worker has to be woken, which costs a logging thread a system call: the naps keep that away
/// from threads that log now and then. Nothing is delayed for longer than a nap.
class IdlePacing {
public:
    /// To be called after each harvest with what it delivered. True when the worker should park.
    bool shouldPark(std::uint64_t delivered) {
        if (delivered != 0) {
            emptyHarvests_ = 0;
            pacing_.harvested(static_cast<std::size_t>(delivered));
            return false;
        }
        ++emptyHarvests_;
        if (emptyHarvests_ <= yields) {
            std::this_thread::yield();
        } else if (emptyHarvests_ <= yields + naps) {
            std::this_thread::sleep_for(shortestNap * (1U << (emptyHarvests_ - yields - 1)));
        } else {
            emptyHarvests_ = yields + naps;  // after each time in the park: a look, then the next
            return true;
        }
        return false;
    }

private:
    static constexpr unsigned yields = 8;
    static constexpr unsigned naps = 5;
    static constexpr std::chrono::microseconds shortestNap{30};

    HarvestPacing pacing_;
    unsigned emptyHarvests_ = 0;
};

}  // namespace sluice::log::detail
