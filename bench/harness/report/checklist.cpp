#include "harness/report/checklist.hpp"

#include "harness/report/disturbance.hpp"
#include "harness/report/text.hpp"

#include <algorithm>
#include <set>
#include <string>

namespace sluice::bench {

namespace {

using Results = std::vector<Result>;

template <class Predicate>
std::size_t countIf(const Results& results, Predicate predicate) {
    return std::size_t(std::count_if(results.begin(), results.end(), predicate));
}

// A queue must also state its bound and its order.
bool saysWhatItPromises(const Features& features) {
    const bool isQueue =
        features.topology == "spsc" || features.topology == "mpsc" || features.topology == "mpmc";
    return !features.topology.empty() &&
           (!isQueue || (!features.bound.empty() && !features.order.empty()));
}

// Subjects may promise different things. But each subject must state its promises, so that a reader
// sees how two subjects differ.
CheckItem featuresAligned(const Report& report) {
    CheckItem item{
        "features_aligned", "Does each comparison say in which features the two differ?", true, {}};
    const auto silent =
        std::count_if(report.subjects.begin(), report.subjects.end(), [](const Subject& subject) {
            return subject.absentBecause.empty() && !saysWhatItPromises(subject.features);
        });
    const auto unequal =
        std::count_if(report.comparisons.begin(), report.comparisons.end(),
                      [](const Comparison& each) { return !each.featureDifferences.empty(); });
    item.pass = silent == 0;
    item.detail =
        silent != 0
            ? counted(std::size_t(silent), "subject") + " whose promises are not told in full"
            : std::to_string(unequal) + " of " + counted(report.comparisons.size(), "comparison") +
                  " between unequal features, each listed with its ratio";
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
    // Raw enqueue is the time of pushes into a queue that has room for all of them.
    const std::size_t refusedRaw =
        countIf(results, [](const Result& result) { return hasFlag(result, "REJECTED_IN_RAW"); });
    const auto ranked = std::count_if(
        report.comparisons.begin(), report.comparisons.end(),
        [](const Comparison& comparison) { return comparison.kind == Kind::overflow; });
    return {"overflow_controlled", "Is a refused message never counted as throughput?",
            unbalanced == 0 && refusedRaw == 0 && ranked == 0,
            counted(refused, "result") + " with refusals, " + std::to_string(refusedRaw) +
                " of them where there was to be room for all; " +
                counted(demonstrations, "overflow demonstration") + ", in " +
                counted(std::size_t(ranked), "comparison")};
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
            counted(repetition.warmups, "warm-up") + ", " + counted(repetition.rounds, "round") +
                "; " + counted(few, "result") + " with fewer than 10 rounds"};
}

CheckItem pinned(const Report& report) {
    // If a thread cannot be pinned, its round ends with an error that says so.
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
            counted(unpinned, "result") + " with a thread that could not be pinned; " +
                std::to_string(shared) + " oversubscribed, in a section apart"};
}

CheckItem flagsUniform(const Report& report) {
    const Environment& environment = report.environment;
    CheckItem item{
        "flags_uniform",
        "Were all sources compiled with the same flags, and is each prebuilt library named?",
        environment.flagSets.size() == 1 && !environment.assertions && !environment.sanitized,
        {}};
    item.detail = environment.flagSets.empty()
                      ? "the compile commands are not known"
                      : counted(environment.flagSets.size(), "set") + " of flags: ";
    for (const FlagSet& set : environment.flagSets) {
        item.detail += set.flags + " (" + counted(set.units, "file") + ") ";
    }
    std::set<std::string> prebuilt;
    for (const Subject& subject : report.subjects) {
        if (subject.prebuilt && subject.absentBecause.empty()) {
            prebuilt.insert(subject.library + " " + subject.version);
            item.pass = item.pass && !subject.version.empty();
        }
    }
    if (!prebuilt.empty()) {
        item.detail += "; " + std::to_string(prebuilt.size()) + " prebuilt with other flags:";
        for (const std::string& library : prebuilt) {
            item.detail += (library == *prebuilt.begin() ? " " : ", ") + library;
        }
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
            counted(missing, "result") + " with too few values for a spread; in " +
                std::to_string(isMax) +
                " the P99 is the largest of fewer than 100 values, and marked so"};
}

// This answers no question, because only the proof is missing; the figures may be right.
void printUncheckedLoops(std::ostream& out, const Report& report) {
    for (const Result& result : report.results) {
        const std::string because = whyLoopsUnchecked(result, report.environment);
        if (!because.empty()) {
            out << "  not checked: that no loop was optimised away (" << because << ")\n";
            return;
        }
    }
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
    const auto reason = [&reasons](bool applies, const std::string& text) {
        if (applies) {
            reasons.push_back(text);
        }
    };
    const std::size_t invalid =
        countIf(report.results, [](const Result& each) { return isInvalid(each); });
    // Unranked results may vary: near its capacity no queue has a steady latency.
    const std::size_t unreliable = countIf(report.results, [](const Result& each) {
        return hasFlag(each, "UNRELIABLE") && isRanked(each.scenario.kind) &&
               !each.plan.placement.oversubscribed;
    });
    const auto disturbed =
        std::size_t(std::count_if(report.machine.begin(), report.machine.end(), wasDisturbed));
    const auto unasked = std::size_t(
        std::count_if(report.subjects.begin(), report.subjects.end(), [](const Subject& subject) {
            return subject.absentBecause == leftOutByFilter;
        }));
    const std::size_t skipped = report.skipped.size();
    const std::size_t leftOut = report.leftOut.size();
    reason(report.results.empty(), "there are no results");
    reason(report.quick, "a quick run is not for publication");
    reason(unasked != 0, counted(unasked, "subject") + " left out by --filter");
    reason(leftOut != 0, counted(leftOut, "scenario") + " left out by --scenario or --filter");
    reason(skipped != 0, counted(skipped, "scenario") + " not run");
    reason(report.wasInterrupted, "the run was interrupted");
    reason(invalid != 0, countedAre(invalid, "result", "INVALID"));
    reason(unreliable != 0, countedAre(unreliable, "result", "UNRELIABLE"));
    reason(disturbed != 0, counted(disturbed, "scenario") + " ran while others used the CPUs");
    return reasons;
}

void printChecklist(std::ostream& out, const Report& report) {
    out << "\ncan this be believed?\n";
    for (const CheckItem& item : checklistOf(report)) {
        out << (item.pass ? "  yes  " : "  NO   ") << item.question << "\n         " << item.detail
            << '\n';
    }
    printUncheckedLoops(out, report);
    const std::vector<std::string> reasons = notCredibleBecause(report);
    out << "credible: " << (reasons.empty() ? "yes" : "no") << '\n';
    for (const std::string& reason : reasons) {
        out << "  " << reason << '\n';
    }
}

}  // namespace sluice::bench
