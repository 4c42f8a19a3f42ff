#pragma once

/// \file
/// When the messages of an open-loop producer are due.

#include "harness/machine/clock.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace sluice::bench {

/// `constant`: all gaps are alike. `poisson`: exponentially distributed gaps, as from many
/// independent senders, so that messages come in bursts.
enum class ArrivalProcess { constant, poisson };

/// The moments of a Poisson process with one event in a unit of time, the first one at 0. A few
/// thousand gaps are drawn in advance and repeated, so that both sides of a queue get any moment
/// without a logarithm. The sum of the gaps is their number, so that the rate is exact.
class PoissonMoments {
public:
    explicit PoissonMoments(std::uint64_t seed);

    double operator[](std::uint64_t index) const noexcept {
        return double(index - index % gaps) + double(begins_[index % gaps]);
    }

    static constexpr std::size_t gaps = 4096;

private:
    // Single precision, because the values must leave room in the L1 cache.
    std::array<float, gaps> begins_{};
};

/// Send times that are fixed in advance. Latency counts from these times, even if the producer
/// sends late. So a stall counts for every message that it delays.
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
