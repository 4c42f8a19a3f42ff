#pragma once

/// \file
/// Order statistics and moments of one sample.

#include <cstddef>
#include <limits>
#include <vector>

namespace sluice::bench {

/// All values in the unit of the sample, except the coefficient of variation (stddev / mean).
struct Stats {
    std::size_t samples = 0;
    double median = 0;
    double mean = 0;
    double stddev = 0;
    double cv = 0;
    double p50 = 0;
    double p95 = 0;
    double p99 = 0;
    double p999 = 0;
    double min = 0;
    double max = 0;
};

/// The value at quantile `q` (0 to 1) of sorted values by nearest rank: always a measured value.
/// With fewer than 1 / (1 - q) values it is the largest one.
double quantile(const std::vector<double>& sorted, double q) noexcept;

/// The middle value, or the mean of the two middle ones. `values` must not be empty.
double median(std::vector<double> values);

/// With fewer rounds the interval of a median is unknown, so nothing is ranked.
inline constexpr std::size_t fewestToRank = 6;

struct Interval {
    double low = 0;
    double high = std::numeric_limits<double>::infinity();
};

/// An interval that holds the median of the values' distribution with a confidence of at least 95
/// %, for any distribution. It lies between two of the sorted values, as far inside as the sign
/// test allows. For fewer than six values it is the whole line.
Interval medianInterval(std::vector<double> values);

/// The standard deviation divides by n - 1. An empty sample gives all zeros.
Stats summarize(std::vector<double> values);

}  // namespace sluice::bench
