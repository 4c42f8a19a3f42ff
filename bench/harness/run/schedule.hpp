#pragma once

/// \file
/// The order in which subjects are measured.

#include <cstddef>
#include <vector>

namespace sluice::bench {

/// The order of the subjects in one round: a row of a balanced Latin square (E. J. Williams,
/// "Experimental designs balanced for the estimation of residual effects of treatments", 1949). In
/// n rounds of n subjects, each subject takes each place once, so that a drift of the machine
/// affects all subjects alike. Each subject also runs directly after each other subject once, so
/// that no subject always finds the caches of the same predecessor. An odd number of subjects needs
/// 2n rounds for this, and each pair then occurs twice.
std::vector<std::size_t> balancedOrder(std::size_t subjects, std::size_t round);

}  // namespace sluice::bench
