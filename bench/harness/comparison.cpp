#include "harness/comparison.hpp"

#include <algorithm>

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
    if (baseline == nullptr) {
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
    const std::vector<double>& ours = subject.series.roundNs;
    const std::vector<double>& theirs = baseline.series.roundNs;
    std::vector<double> ratios;
    for (std::size_t round = 0; round < std::min(ours.size(), theirs.size()); ++round) {
        ratios.push_back(ours[round] / theirs[round]);
    }
    const auto [least, most] = std::minmax_element(ratios.begin(), ratios.end());
    return {subject.scenario.name,
            subject.subject,
            baseline.subject,
            role,
            median(ratios),
            *least,
            *most};
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
    const auto pronounce = [&verdicts](const Target& target, double reached) {
        verdicts.push_back({target, reached, reached <= target.atMost});
    };
    for (const Target& target : targets) {
        for (const Result& result : results) {
            if (target.baseline.empty() && !isInvalid(result) &&
                result.scenario.name == target.scenario && result.subject == target.subject) {
                pronounce(target, result.stats.median);
            }
        }
        // The first one: a baseline that has several roles is compared with more than once.
        const auto found =
            std::find_if(comparisons.begin(), comparisons.end(), [&](const Comparison& each) {
                return each.scenario == target.scenario && each.subject == target.subject &&
                       each.baseline == target.baseline;
            });
        if (found != comparisons.end()) {
            pronounce(target, found->ratio);
        }
    }
    return verdicts;
}

}  // namespace sluice::bench
