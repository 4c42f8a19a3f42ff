#include "harness/report/feature_cost.hpp"

#include "harness/report/comparison.hpp"
#include "harness/report/text.hpp"

#include <algorithm>
#include <cmath>

namespace sluice::bench {

namespace {

// A pair of one scenario. A missing result is null.
struct Pair {
    const Result* with = nullptr;
    const Result* without = nullptr;
    bool isThere() const noexcept { return with != nullptr && without != nullptr; }
};

Pair pairOf(const std::vector<Result>& results, const std::string& scenario,
            const FeatureCost& cost) {
    const auto find = [&](const std::string& subject) {
        const auto found = std::find_if(results.begin(), results.end(), [&](const Result& each) {
            return each.scenario.name == scenario && each.subject == subject && !isInvalid(each);
        });
        return found != results.end() ? &*found : nullptr;
    };
    return {find(cost.with), find(cost.without)};
}

void printRow(std::ostream& out, const FeatureCost& cost, const Pair& pair) {
    const Difference difference = differenceOf(*pair.with, *pair.without);
    const Interval& interval = difference.interval;
    const std::string range =
        std::isfinite(interval.high) ? format("[%+.2f %+.2f]", interval.low, interval.high) : "[?]";
    out << format("  %-38s %+9.2f  %-18s %s (%.2f) - %s (%.2f)\n", cost.feature.c_str(),
                  difference.ns, range.c_str(), cost.with.c_str(), pair.with->stats.median,
                  cost.without.c_str(), pair.without->stats.median);
}

void printScenarioCosts(std::ostream& out, const std::vector<Result>& results,
                        const std::string& scenario, const std::vector<FeatureCost>& costs) {
    bool hasTitle = false;
    for (const FeatureCost& cost : costs) {
        const Pair pair = pairOf(results, scenario, cost);
        if (!pair.isThere()) {
            continue;
        }
        if (!hasTitle) {
            out << "cost of features: " << scenario
                << ", ns for one message: median of the rounds' differences, and its interval\n";
            hasTitle = true;
        }
        printRow(out, cost, pair);
    }
}

}  // namespace

Difference differenceOf(const Result& with, const Result& without) {
    const std::vector<double>& more = with.series.roundNs;
    const std::vector<double>& less = without.series.roundNs;
    std::vector<double> differences;
    for (std::size_t round = 0; round < std::min(more.size(), less.size()); ++round) {
        differences.push_back(more[round] - less[round]);
    }
    return {median(differences), medianInterval(differences)};
}

std::vector<Comparison> compareFeatures(const std::vector<Result>& results,
                                        const std::vector<FeatureCost>& costs) {
    std::vector<Comparison> comparisons;
    for (const FeatureCost& cost : costs) {
        const Pair pair =
            results.empty() ? Pair{} : pairOf(results, results.front().scenario.name, cost);
        if (pair.isThere()) {
            comparisons.push_back(
                compareRounds(*pair.with, *pair.without, "cost of " + cost.feature));
        }
    }
    return comparisons;
}

void printFeatureCosts(std::ostream& out, const std::vector<Result>& results,
                       const std::vector<FeatureCost>& costs) {
    std::string last;
    for (const Result& result : results) {
        const Scenario& scenario = result.scenario;
        // The other sections repeat the main one in special circumstances.
        if (scenario.kind == Kind::throughput && scenario.section.empty() &&
            scenario.name != last) {
            last = scenario.name;
            printScenarioCosts(out, results, last, costs);
        }
    }
}

}  // namespace sluice::bench
