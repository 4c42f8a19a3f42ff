#include "harness/report/comparison.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>

namespace sluice::bench {

namespace {

bool isPeer(const std::vector<Subject>& subjects, const std::string& id, Pacing pacing) {
    return std::any_of(subjects.begin(), subjects.end(), [&](const Subject& subject) {
        return subject.id == id && !subject.ours && subject.pacing == pacing;
    });
}

const Result* bestPeer(const std::vector<Result>& results, const std::vector<Subject>& subjects,
                       Pacing pacing) {
    const Result* best = nullptr;
    for (const Result& result : results) {
        if (isInvalid(result) || !isPeer(subjects, result.subject, pacing)) {
            continue;
        }
        if (best == nullptr || result.stats.median < best->stats.median) {
            best = &result;
        }
    }
    return best;
}

void compareAll(const std::vector<Result>& results, const Result* baseline, const std::string& role,
                std::vector<Comparison>& comparisons) {
    if (baseline == nullptr || !isRanked(baseline->scenario.kind)) {
        return;
    }
    for (const Result& result : results) {
        if (!isInvalid(result) && &result != baseline) {
            comparisons.push_back(compareRounds(result, *baseline, role));
        }
    }
}

}  // namespace

Comparison compareRounds(const Result& subject, const Result& baseline, const std::string& role) {
    if (subject.scenario.kind != baseline.scenario.kind ||
        subject.scenario.name != baseline.scenario.name) {
        throw std::invalid_argument(subject.scenario.name + " is not compared with " +
                                    baseline.scenario.name + ": they measure different things");
    }
    const std::vector<double>& ours = subject.series.roundNs;
    const std::vector<double>& theirs = baseline.series.roundNs;
    std::vector<double> ratios;
    for (std::size_t round = 0; round < std::min(ours.size(), theirs.size()); ++round) {
        ratios.push_back(ours[round] / theirs[round]);
    }
    const auto [least, most] = std::minmax_element(ratios.begin(), ratios.end());
    Comparison comparison;
    comparison.scenario = subject.scenario.name;
    comparison.subject = subject.subject;
    comparison.baseline = baseline.subject;
    comparison.role = role;
    comparison.ratio = median(ratios);
    comparison.ratioMin = *least;
    comparison.ratioMax = *most;
    comparison.kind = subject.scenario.kind;
    comparison.rounds = ratios.size();
    comparison.interval = medianInterval(ratios);
    comparison.verdict = verdictOf(comparison.interval, 1);
    return comparison;
}

std::string verdictOf(const Interval& interval, double noiseFloor) {
    const double floor = std::max(noiseFloor, 1.0);
    if (interval.high < 1 / floor) {
        return "faster";
    }
    if (interval.low > floor) {
        return "slower";
    }
    return interval.low >= 1 / sameFactor && interval.high <= sameFactor ? "same" : "undecided";
}

NoiseFloor noiseFloorOf(const Result& first, const Result& twin) {
    const Comparison comparison = compareRounds(first, twin, {});
    NoiseFloor noise;
    noise.scenario = comparison.scenario;
    noise.subject = comparison.subject;
    noise.ratio = comparison.ratio;
    noise.interval = comparison.interval;
    noise.floor = std::max(1 / noise.interval.low, noise.interval.high);
    return noise;
}

void complete(std::vector<Comparison>& comparisons, const NoiseFloor* noise,
              const std::vector<Subject>& subjects) {
    const auto featuresOf = [&subjects](const std::string& id) {
        const auto found = std::find_if(subjects.begin(), subjects.end(),
                                        [&id](const Subject& subject) { return subject.id == id; });
        return found != subjects.end() ? found->features : Features{};
    };
    for (Comparison& comparison : comparisons) {
        comparison.noiseFloor = noise != nullptr ? noise->floor : -1;
        // Without a valid twin the noise is unknown.
        comparison.verdict = noise == nullptr && hasTwin(comparison.kind)
                                 ? "undecided"
                                 : verdictOf(comparison.interval, comparison.noiseFloor);
        comparison.featureDifferences =
            featureDifferences(featuresOf(comparison.subject), featuresOf(comparison.baseline));
    }
}

std::vector<std::string> featureDifferences(const Features& first, const Features& second) {
    const auto text = [](std::optional<bool> value) { return !value ? "" : *value ? "yes" : "no"; };
    std::vector<std::string> differences;
    const auto compare = [&](const char* what, const std::string& a, const std::string& b) {
        if (a != b) {
            differences.push_back(std::string(what) + ": " + (a.empty() ? "none" : a) + " / " +
                                  (b.empty() ? "none" : b));
        }
    };
    compare("topology", first.topology, second.topology);
    compare("thread-safe", text(isThreadSafe(first)), text(isThreadSafe(second)));
    compare("bound", first.bound, second.bound);
    compare("order", first.order, second.order);
    compare("allocates", text(first.allocates), text(second.allocates));
    compare("in place", text(first.inPlace), text(second.inPlace));
    compare("blocking", text(first.blocking), text(second.blocking));
    compare("priority", text(first.priority), text(second.priority));
    compare("back-pressure", text(first.backPressure), text(second.backPressure));
    compare("statistics", text(first.statistics), text(second.statistics));
    compare("type erasure", text(first.typeErasure), text(second.typeErasure));
    return differences;
}

std::vector<Comparison> compareWithPeers(const std::vector<Result>& results,
                                         const std::vector<Subject>& subjects) {
    std::vector<Comparison> comparisons;
    compareAll(results, bestPeer(results, subjects, Pacing::none), "best peer as documented",
               comparisons);
    compareAll(results, bestPeer(results, subjects, Pacing::harvest), "best paced peer",
               comparisons);
    return comparisons;
}

std::vector<Comparison> compareWith(const std::vector<Result>& results, const std::string& baseline,
                                    const std::string& role) {
    const auto found = std::find_if(results.begin(), results.end(), [&](const Result& result) {
        return result.subject == baseline && !isInvalid(result);
    });
    std::vector<Comparison> comparisons;
    compareAll(results, found != results.end() ? &*found : nullptr, role, comparisons);
    return comparisons;
}

std::vector<Verdict> judge(const std::vector<Target>& targets, const std::vector<Result>& results,
                           const std::vector<Comparison>& comparisons) {
    std::vector<Verdict> verdicts;
    const auto pronounceAlone = [&](const Target& target, const Result& result) {
        if (result.scenario.kind == Kind::loadedLatency) {
            const std::vector<double>& tails = result.series.roundP99;
            verdicts.push_back({target, median(tails), medianInterval(tails), "p99"});
        } else {
            verdicts.push_back(
                {target, result.stats.median, medianInterval(result.series.roundNs), "median"});
        }
    };
    for (const Target& target : targets) {
        for (const Result& result : results) {
            if (target.baseline.empty() && !isInvalid(result) &&
                result.scenario.name == target.scenario && result.subject == target.subject) {
                pronounceAlone(target, result);
            }
        }
        // The first one, because a baseline with several roles is in several comparisons.
        const auto found =
            std::find_if(comparisons.begin(), comparisons.end(), [&](const Comparison& each) {
                return each.scenario == target.scenario && each.subject == target.subject &&
                       each.baseline == target.baseline;
            });
        if (found != comparisons.end()) {
            verdicts.push_back({target, found->ratio, found->interval, "ratio"});
        }
    }
    return verdicts;
}

}  // namespace sluice::bench
