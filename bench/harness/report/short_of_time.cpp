#include "harness/report/short_of_time.hpp"

#include <algorithm>

namespace sluice::bench {

std::vector<Scenario> mostUsefulFirst(std::vector<Scenario> scenarios) {
    const auto rankOf = [](const Scenario& each) {
        return each.producers > 1 && isRanked(each.kind) ? 0 : each.section.empty() ? 1 : 2;
    };
    std::stable_sort(scenarios.begin(), scenarios.end(),
                     [&](const Scenario& a, const Scenario& b) { return rankOf(a) < rankOf(b); });
    return scenarios;
}

}  // namespace sluice::bench
