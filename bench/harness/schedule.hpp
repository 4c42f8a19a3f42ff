#pragma once

/// \file
/// Who is measured when: the order of subjects in a round, and the send times of an open-loop
/// producer.

#include "harness/clock.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sluice::bench {

/// The order of the subjects in one round: a row of a balanced Latin square (E. J. Williams,
/// "Experimental designs balanced for the estimation of residual effects of treatments", 1949).
/// Over as many rounds as there are subjects each one takes each place once, so that a drift of the
/// machine hits all alike; and each one runs directly after each other one once, so that none
/// always finds the caches as the same one has left them. An odd number of subjects needs twice as
/// many rounds for the second, and then it is twice.
std::vector<std::size_t> balancedOrder(std::size_t subjects, std::size_t round);

/// Send times fixed in advance. Latency counts from these and not from the moment a late producer
/// finally sends, so a stall is charged to every message that it delayed.
struct SendSchedule {
    Nanoseconds start = 0;
    double intervalNs = 0;

    Nanoseconds intended(std::uint64_t index) const noexcept {
        return start + Nanoseconds(double(index) * intervalNs);
    }
};

}  // namespace sluice::bench
