#pragma once

/// \file
/// The order in which subjects are measured.

#include <cstddef>
#include <vector>

namespace sluice::bench {

/// The order of the subjects in one round: a row of a balanced Latin square (E. J. Williams,
/// "Experimental designs balanced for the estimation of residual effects of treatments", 1949).
/// Over as many rounds as there are subjects each one takes each place once, so that a drift of the
/// machine hits all alike; and each one runs directly after each other one once, so that none
/// always finds the caches as the same one has left them. An odd number of subjects needs twice as
/// many rounds for the second, and then it is twice.
std::vector<std::size_t> balancedOrder(std::size_t subjects, std::size_t round);

}  // namespace sluice::bench
