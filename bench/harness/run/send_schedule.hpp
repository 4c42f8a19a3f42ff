#pragma once

/// \file
/// When the messages of an open-loop producer are due.

#include "harness/machine/clock.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace sluice::bench {

/// `constant`: all gaps are alike. `poisson`: as from many senders that know nothing of each other,
/// so that messages come in bursts; the gaps are exponentially distributed.
enum class ArrivalProcess { constant, poisson };

/// The moments of a Poisson process with one event in a unit of time, the first one at 0. Both
/// sides of a queue ask it for any moment without a wait for a logarithm: a few thousand gaps are
/// drawn in advance and repeated. Their sum is their number, so that the rate is exact.
class PoissonMoments {
public:
    explicit PoissonMoments(std::uint64_t seed);

    double operator[](std::uint64_t index) const noexcept {
        return double(index - index % gaps) + double(begins_[index % gaps]);
    }

    static constexpr std::size_t gaps = 4096;

private:
    // Of single precision, so that they leave room in the first cache.
    std::array<float, gaps> begins_{};
};

/// Send times fixed in advance. Latency counts from these and not from the moment a late producer
/// finally sends, so a stall is charged to every message that it delayed.
struct SendSchedule {
    Nanoseconds start = 0;
    double intervalNs = 0;

    /// Null: a constant interval.
    const PoissonMoments* moments = nullptr;

    Nanoseconds intended(std::uint64_t index) const noexcept {
        const double moment = moments != nullptr ? (*moments)[index] : double(index);
        return start + Nanoseconds(moment * intervalNs);
    }
};

}  // namespace sluice::bench
