#include "harness/run/send_schedule.hpp"

#include <cmath>
#include <random>
#include <vector>

namespace sluice::bench {

PoissonMoments::PoissonMoments(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<double> begins = {0};
    while (begins.size() <= gaps) {
        // 53 bits between 0 and 1, of which 1 is left out. The distribution of the standard library
        // is another one in each library.
        const double part = std::ldexp(double(random() >> 11U), -53);
        begins.push_back(begins.back() - std::log1p(-part));
    }
    const double scale = double(gaps) / begins.back();
    for (std::size_t i = 0; i < gaps; ++i) {
        begins_[i] = float(scale * begins[i]);
    }
}

}  // namespace sluice::bench
