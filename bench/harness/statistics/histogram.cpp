#include "harness/statistics/histogram.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace sluice::bench {

namespace {

constexpr double perDoubling = 64;

// The width of the bucket of a value: a power of two, 1 below 128.
double widthAt(double value) {
    return value < perDoubling ? 1 : std::exp2(std::floor(std::log2(value / perDoubling)));
}

}  // namespace

std::vector<Bucket> histogramOf(const std::vector<double>& values) {
    std::map<double, Bucket> buckets;
    for (const double value : values) {
        const double width = widthAt(value);
        const double from = std::floor(std::max(0.0, value) / width) * width;
        Bucket& bucket = buckets.try_emplace(from, Bucket{from, from + width, 0}).first->second;
        ++bucket.count;
    }
    std::vector<Bucket> all;
    all.reserve(buckets.size());
    for (const auto& [from, bucket] : buckets) {
        all.push_back(bucket);
    }
    return all;
}

}  // namespace sluice::bench
