#pragma once

#include <sluice/base/backoff.hpp>

#include <algorithm>
#include <chrono>
#include <thread>

namespace sluice::detail {

/// The wait between two looks for a free block. It spins for some microseconds; after that it
/// sleeps, so that a thread of a lower priority on the same core can free one.
template <class Platform>
class Nap {
public:
    void take() {
        if (!backoff_.isYielding()) {
            backoff_.wait();
            return;
        }
        std::this_thread::sleep_for(length_);
        length_ = std::min(2 * length_, longest);
    }

private:
    static constexpr std::chrono::microseconds longest{2000};

    BasicBackoff<Platform> backoff_;
    std::chrono::microseconds length_{50};
};

}  // namespace sluice::detail
