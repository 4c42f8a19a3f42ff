#include "harness/checklist.hpp"

#include "harness/disturbance.hpp"

#include <algorithm>

namespace sluice::bench {

namespace {

using Results = std::vector<Result>;

std::string number(std::size_t count, const char* what) {
    return std::to_string(count) + " " + what;
}

template <class Predicate>
std::size_t countIf(const Results& results, Predicate predicate) {
    return std::size_t(std::count_if(results.begin(), results.end(), predicate));
}

// Subjects need not be alike. Whoever is compared must have said what it promises, and each
// comparison must say in what the two differ.
CheckItem featuresAligned(const Report& report) {
    CheckItem item{
        "features_aligned", "Are the features of what is compared on the table?", true, {}};
    std::size_t unknown = 0;
    for (const Subject& subject : report.subjects) {
        unknown += subject.absentBecause.empty() && subject.features.topology.empty();
    }
    const auto unequal =
        std::count_if(report.comparisons.begin(), report.comparisons.end(),
                      [](const Comparison& each) { return !each.featureDifferences.empty(); });
    item.pass = unknown == 0;
    item.detail = unknown != 0 ? number(unknown, "subjects do not say what they promise")
                               : number(std::size_t(unequal), "of ") +
                                     number(report.comparisons.size(),
                                            "comparisons are between unequal features, each "
                                            "listed with its ratio");
    return item;
}

CheckItem overflowControlled(const Report& report) {
    const Results& results = report.results;
    const std::size_t refused = countIf(results, [](const Result& result) {
        return !isInvalid(result) && result.series.counts.rejected != 0;
    });
    const std::size_t demonstrations = countIf(
        results, [](const Result& result) { return result.scenario.kind == Kind::overflow; });
    const std::size_t unbalanced = countIf(results, [](const Result& result) {
        return result.series.counts.delivered != result.series.counts.accepted &&
               !isInvalid(result);
    });
    // Its figure is the time of pushes into a queue that has room for all of them.
    const std::size_t refusedRaw =
        countIf(results, [](const Result& result) { return hasFlag(result, "REJECTED_IN_RAW"); });
    return {"overflow_controlled", "Is a refused message never counted as throughput?",
            unbalanced == 0 && refusedRaw == 0,
            number(refused, "results had refusals, ") +
                number(refusedRaw, "of them where there was to be room for all; ") +
                number(demonstrations, "overflow demonstrations are in no comparison")};
}

CheckItem clockOverhead(const Report& report) {
    std::size_t over = 0;
    std::size_t intervals = 0;
    double worst = 0;
    for (const Result& result : report.results) {
        if (!hasSamples(result.scenario.kind)) {
            ++intervals;
            worst = std::max(worst, result.clockOverhead);
            over += hasFlag(result, "CLOCK_OVERHEAD");
        }
    }
    const bool known = report.environment.clockNs >= 0;
    CheckItem item{"clock_overhead",
                   "Does reading the clock cost less than 1 % of what is timed?",
                   known && over == 0 && intervals != 0,
                   {}};
    if (!known) {
        item.detail = "the cost of the clock is not known";
    } else if (intervals == 0) {
        item.detail = "nothing but single latencies was timed, and each contains one read";
    } else {
        item.detail = "at most " + std::to_string(100 * worst) +
                      " % of a timed interval; single latencies contain one read";
    }
    return item;
}

CheckItem roundsAndWarmups(const Report& report) {
    const std::size_t few = countIf(report.results, [](const Result& result) {
        return !isInvalid(result) && result.series.roundNs.size() < fewestRounds;
    });
    const Repetition& repetition = report.repetition;
    return {"rounds_and_warmups", "Were there at least 3 warm-ups and 10 rounds each?",
            few == 0 && repetition.warmups >= fewestWarmups && repetition.rounds >= fewestRounds,
            number(repetition.warmups, "warm-ups, ") + number(repetition.rounds, "rounds; ") +
                number(few, "results have fewer than 10")};
}

CheckItem pinned(const Report& report) {
    // A thread that cannot be pinned ends its round with an error that says so.
    std::size_t unpinned = 0;
    std::size_t shared = 0;
    for (const Result& result : report.results) {
        unpinned += result.series.error.find("could not be pinned") != std::string::npos;
        shared += result.plan.placement.oversubscribed;
    }
    if (report.unpinned) {
        return {"pinned", "Was every thread tied to its CPU?", false, "none was: --unpinned"};
    }
    return {"pinned", "Was every thread tied to its CPU?", unpinned == 0,
            number(unpinned, "results with a thread that could not be pinned; ") +
                number(shared, "oversubscribed ones stand apart")};
}

CheckItem flagsUniform(const Report& report) {
    const Environment& environment = report.environment;
    CheckItem item{"flags_uniform",
                   "Were all subjects compiled with the same flags?",
                   environment.flagSets.size() == 1 && !environment.assertions &&
                       !environment.sanitized,
                   {}};
    item.detail = environment.flagSets.empty()
                      ? "the compile commands are not known"
                      : number(environment.flagSets.size(), "set of flags: ");
    for (const FlagSet& set : environment.flagSets) {
        item.detail += set.flags + " (" + number(set.units, "files) ");
    }
    if (environment.assertions || environment.sanitized) {
        item.detail += "; assertions or a sanitizer are compiled in";
    }
    return item;
}

CheckItem spreadReported(const Report& report) {
    const std::size_t missing = countIf(report.results, [](const Result& result) {
        return !isInvalid(result) && result.stats.samples < 2;
    });
    const std::size_t isMax =
        countIf(report.results, [](const Result& result) { return hasFlag(result, "P99_IS_MAX"); });
    return {"p99_and_stddev_reported", "Are P99 and standard deviation reported with every mean?",
            missing == 0,
            number(missing, "results have too few values for a spread; in ") +
                number(isMax, "the P99 is the largest of fewer than 100 values, and marked so")};
}

}  // namespace

std::vector<CheckItem> checklistOf(const Report& report) {
    return {featuresAligned(report), overflowControlled(report),
            clockOverhead(report),   roundsAndWarmups(report),
            pinned(report),          flagsUniform(report),
            spreadReported(report)};
}

std::vector<std::string> notCredibleBecause(const Report& report) {
    std::vector<std::string> reasons;
    for (const CheckItem& item : checklistOf(report)) {
        if (!item.pass) {
            reasons.push_back(item.question + " No: " + item.detail);
        }
    }
    const auto reason = [&reasons](std::size_t count, const char* what) {
        if (count != 0) {
            reasons.push_back(number(count, what));
        }
    };
    if (report.results.empty()) {
        reasons.emplace_back("there are no results");
    }
    if (report.quick) {
        reasons.emplace_back("a quick run is not for publication");
    }
    reason(report.skipped.size(), "scenarios were not run");
    if (report.wasInterrupted) {
        reasons.emplace_back("the run was interrupted");
    }
    reason(countIf(report.results, [](const Result& each) { return isInvalid(each); }),
           "results are INVALID");
    // What is ranked nowhere may vary: near its capacity no queue has a steady latency.
    reason(countIf(report.results,
                   [](const Result& each) {
                       return hasFlag(each, "UNRELIABLE") && isRanked(each.scenario.kind) &&
                              !each.plan.placement.oversubscribed;
                   }),
           "results are UNRELIABLE");
    reason(std::size_t(std::count_if(report.machine.begin(), report.machine.end(), wasDisturbed)),
           "scenarios ran while others used the CPUs");
    return reasons;
}

void printChecklist(std::ostream& out, const Report& report) {
    out << "\ncan this be believed?\n";
    for (const CheckItem& item : checklistOf(report)) {
        out << (item.pass ? "  yes  " : "  NO   ") << item.question << "\n         " << item.detail
            << '\n';
    }
    const std::vector<std::string> reasons = notCredibleBecause(report);
    out << "credible: " << (reasons.empty() ? "yes" : "no") << '\n';
    for (const std::string& reason : reasons) {
        out << "  " << reason << '\n';
    }
}

}  // namespace sluice::bench
