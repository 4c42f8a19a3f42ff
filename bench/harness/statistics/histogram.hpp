#pragma once

/// \file
/// Histograms of single times, for percentile curves and for merging.

#include <cstdint>
#include <vector>

namespace sluice::bench {

/// The number of values that are at least `from` and less than `to`.
struct Bucket {
    double from = 0;
    double to = 0;
    std::uint64_t count = 0;
};

/// Log-linear: each doubling has 64 buckets of equal width, so no bucket is wider than 1/64 of its
/// values. Below 64 each bucket is 1 wide. Returns the buckets that are not empty, in ascending
/// order. Values are not negative.
std::vector<Bucket> histogramOf(const std::vector<double>& values);

}  // namespace sluice::bench
