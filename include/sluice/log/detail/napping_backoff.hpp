#pragma once

#include <sluice/base/backoff.hpp>

#include <chrono>
#include <thread>

namespace sluice::log::detail {

/// A Backoff that sleeps when the wait becomes long. A thread of a real-time priority that only
/// yields would never let a thread of a lower one go on, if both share a processor.
template <class Platform>
class NappingBackoff {
public:
    void wait() noexcept {
        if (!backoff_.isYielding() || yields_ < mostYields) {
            yields_ += backoff_.isYielding() ? 1U : 0U;
            backoff_.wait();
        } else {
            std::this_thread::sleep_for(nap);
        }
    }

private:
    static constexpr unsigned mostYields = 16;
    static constexpr std::chrono::microseconds nap{50};

    BasicBackoff<Platform> backoff_;
    unsigned yields_ = 0;
};

}  // namespace sluice::log::detail
