#pragma once

/// \file
/// Many single times in few numbers, for percentile curves and for merging.

#include <cstdint>
#include <vector>

namespace sluice::bench {

/// So many values were at least `from` and less than `to`.
struct Bucket {
    double from = 0;
    double to = 0;
    std::uint64_t count = 0;
};

/// Log-linear: 64 buckets of equal width for each doubling, so that none is wider than 1/64 of its
/// values; below 64 each is 1 wide. Only those that hold something, in ascending order. Values are
/// not negative.
std::vector<Bucket> histogramOf(const std::vector<double>& values);

}  // namespace sluice::bench
