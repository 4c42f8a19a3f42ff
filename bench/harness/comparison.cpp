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

std::vector<Verdict> judge(const std::vector<Target>& targets,
                           const std::vector<Comparison>& comparisons) {
    std::vector<Verdict> verdicts;
    for (const Target& target : targets) {
        for (const Comparison& comparison : comparisons) {
            if (comparison.scenario == target.scenario && comparison.subject == target.subject &&
                comparison.baseline == target.baseline) {
                verdicts.push_back({target, comparison.ratio, comparison.ratio <= target.atMost});
            }
        }
    }
    return verdicts;
}

}  // namespace sluice::bench
