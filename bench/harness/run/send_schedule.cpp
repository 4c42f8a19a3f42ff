#include "harness/run/send_schedule.hpp"

#include <cmath>
#include <random>
#include <vector>

namespace sluice::bench {

PoissonMoments::PoissonMoments(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<double> begins = {0};
    while (begins.size() <= gaps) {
        // 53 bits from 0 to 1, without 1. The distribution of the standard library differs between
        // libraries.
        const double part = std::ldexp(double(random() >> 11U), -53);
        begins.push_back(begins.back() - std::log1p(-part));
    }
    const double scale = double(gaps) / begins.back();
    for (std::size_t i = 0; i < gaps; ++i) {
        begins_[i] = float(scale * begins[i]);
    }
}

}  // namespace sluice::bench
