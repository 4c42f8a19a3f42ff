#include "harness/statistics/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace sluice::bench {

namespace {

double middle(const std::vector<double>& sorted) noexcept {
    const std::size_t half = sorted.size() / 2;
    return sorted.size() % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

}  // namespace

double quantile(const std::vector<double>& sorted, double q) noexcept {
    const double rank = std::ceil(q * double(sorted.size()));
    const std::size_t index = rank < 1 ? 0 : std::size_t(rank) - 1;
    return sorted[std::min(index, sorted.size() - 1)];
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return middle(values);
}

Interval medianInterval(std::vector<double> values) {
    constexpr double doubt = 0.05;
    std::sort(values.begin(), values.end());
    const double n = double(values.size());
    // The chance that at most `outside` values lie below the median: heads of a fair coin.
    double heads = std::pow(0.5, n);
    double chance = heads;
    Interval interval;
    for (std::size_t outside = 0; 2 * outside < values.size() && 2 * chance <= doubt;) {
        interval = {values[outside], values[values.size() - 1 - outside]};
        ++outside;
        heads *= (n - double(outside) + 1) / double(outside);
        chance += heads;
    }
    return interval;
}

Stats summarize(std::vector<double> values) {
    Stats stats;
    if (values.empty()) {
        return stats;
    }
    std::sort(values.begin(), values.end());
    stats.samples = values.size();
    stats.min = values.front();
    stats.max = values.back();
    stats.median = middle(values);
    stats.p50 = quantile(values, 0.50);
    stats.p95 = quantile(values, 0.95);
    stats.p99 = quantile(values, 0.99);
    stats.p999 = quantile(values, 0.999);
    const double n = double(values.size());
    stats.mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
    double squares = 0;
    for (const double value : values) {
        squares += (value - stats.mean) * (value - stats.mean);
    }
    stats.stddev = values.size() > 1 ? std::sqrt(squares / (n - 1)) : 0;
    stats.cv = stats.mean > 0 ? stats.stddev / stats.mean : 0;
    return stats;
}

}  // namespace sluice::bench
