#include "harness/report/report_text.hpp"

#include "harness/report/report_json.hpp"
#include "harness/report/text.hpp"

#include <algorithm>
#include <cmath>

namespace sluice::bench {

namespace {

std::string listOf(const std::vector<int>& numbers) {
    std::string text;
    for (const int number : numbers) {
        text += (text.empty() ? "" : ",") + std::to_string(number);
    }
    return text;
}

// "on CPU 0", or the CPUs of threads that are tied to none.
std::string placeText(const Placement& placement, const std::vector<int>& cpus) {
    if (!placement.roaming.empty()) {
        return "on any of the CPUs " + listOf(placement.roaming);
    }
    return (cpus.size() == 1 ? "on CPU " : "on CPUs ") + listOf(cpus);
}

// The flags that differ from row to row. The title has the others.
std::string rowFlags(const Result& result) {
    std::string text;
    // Single times of all subjects include the clock. Another line of the report says so.
    if (!hasSamples(result.scenario.kind) && hasFlag(result, "CLOCK_OVERHEAD")) {
        text += "  CLOCK_OVERHEAD";
    }
    for (const char* shown :
         {"UNRELIABLE", "REJECTED_IN_RAW", "REORDERED", "TIMEOUTS", "BEHIND_SCHEDULE"}) {
        if (hasFlag(result, shown)) {
            text += std::string("  ") + shown;
        }
    }
    if (result.series.counts.backInTime != 0) {
        text += format("  %.2f %% of the lines BACK_IN_TIME",
                       100 * double(result.series.counts.backInTime) /
                           double(result.series.counts.delivered));
    }
    return text;
}

std::string crewText(const RoundPlan& plan) {
    return counted(plan.producers(), "producer") + " " +
           placeText(plan.placement, plan.placement.producerCpus) + ", consumer " +
           placeText(plan.placement, {plan.placement.consumerCpu}) + ", " +
           (plan.capacity == 0 ? "unbounded" : "capacity " + std::to_string(plan.capacity)) + ", " +
           (plan.placement.oversubscribed ? "yields" : "spins") + " when full and when empty";
}

std::string aloneText(const RoundPlan& plan) {
    return "one thread " + placeText(plan.placement, plan.placement.producerCpus) + ", capacity " +
           std::to_string(plan.capacity) + ", " + std::to_string(plan.batch) +
           " pushes at a time, then the queue is emptied";
}

std::string threadText(const RoundPlan& plan) {
    return "one thread " + placeText(plan.placement, {plan.placement.consumerCpu}) + ", up to " +
           std::to_string(plan.capacity) + " live, " + std::to_string(plan.messages) +
           " in a round";
}

std::string eventText(const RoundPlan& plan) {
    std::vector<int> cpus = {plan.placement.consumerCpu};
    cpus.insert(cpus.end(), plan.placement.producerCpus.begin(), plan.placement.producerCpus.end());
    return (cpus.size() == 1 ? "one thread " : "a thread each ") + placeText(plan.placement, cpus) +
           ", " + std::to_string(plan.messages) + " times in a round";
}

std::string logText(const Result& result) {
    const RoundPlan& plan = result.plan;
    if (result.scenario.kind == Kind::residentMemory) {
        return std::to_string(plan.capacity) + " threads in a process of its own";
    }
    const std::string pace =
        plan.load > 0         ? format(", calls at %.0f %% of its own throughput", 100 * plan.load)
        : plan.intervalNs > 0 ? format(", a call every %.0f ns", plan.intervalNs)
                              : std::string();
    return counted(plan.producers(), "thread") + " " +
           placeText(plan.placement, plan.placement.producerCpus) + ", the one behind the log " +
           placeText(plan.placement, {plan.placement.consumerCpu}) + ", " +
           std::to_string(plan.capacity) + " slots, " + std::to_string(plan.messages) +
           " records in a round" + pace;
}

std::string whatText(const Scenario& scenario) {
    return scenario.what.empty()
               ? kindName(scenario.kind) + ", " + std::to_string(scenario.messageBytes) +
                     (passesMessages(scenario.kind) ? "-byte messages" : "-byte blocks")
               : scenario.what;
}

std::string threadsText(const Result& result) {
    const Kind kind = result.scenario.kind;
    return hasConsumer(kind)                ? crewText(result.plan)
           : passesMessages(kind)           ? aloneText(result.plan)
           : kind == Kind::eventCost        ? eventText(result.plan)
           : result.scenario.suite == "log" ? logText(result)
                                            : threadText(result.plan);
}

void printTitle(std::ostream& out, const Result& result) {
    out << '\n'
        << result.scenario.name << ": " << whatText(result.scenario) << ", "
        << counted(result.series.roundNs.size(), "round")
        << (hasFlag(result, "QUICK") ? " (quick: not for publication)" : "")
        << (result.scenario.section.empty() ? "" : "\n  section: " + result.scenario.section)
        << "\n  " << threadsText(result) << '\n';
}

void printMachine(std::ostream& out, const MachineRecord& machine) {
    const Stats& line = machine.lineOneWay;
    const Stats& streamed = machine.lineStreamed;
    out << format(
        "  machine meanwhile: a cache line one way %.1f ns [%.1f .. %.1f], streamed %.2f ns "
        "[%.2f .. %.2f]",
        line.median, line.min, line.max, streamed.median, streamed.min, streamed.max);
    if (machine.others >= 0) {
        out << format("; others had %.1f %%, stolen %.1f %%", 100 * machine.others,
                      100 * machine.stolen);
    }
    if (machine.discardedRounds != 0) {
        out << "; " << counted(machine.discardedRounds, "round") << " not counted";
    }
    out << '\n';
}

// Warns first, because the figures of an unsteady machine mean less.
void printWarning(std::ostream& out, const MachineRecord& machine) {
    if (!isSteady(machine)) {
        out << "\nUNSTEADY: others had the CPUs, or the time of a cache line changed by more than "
               "half. Ratios mean more than medians. To replace such rounds: --until-quiet 60";
    }
}

std::string intervalText(const Interval& interval) {
    return std::isfinite(interval.high) ? format("[%.3f %.3f]", interval.low, interval.high)
                                        : std::string("[?]");
}

// The ratio of a subject to the baseline of that role: 1 for the baseline itself, "-" without one.
std::string ratioText(const std::vector<Comparison>& comparisons, const std::string& subject,
                      const std::string& role) {
    for (const Comparison& comparison : comparisons) {
        if (comparison.role == role && comparison.baseline == subject) {
            return "1";
        }
        if (comparison.role == role && comparison.subject == subject) {
            return format("%.3f ", comparison.ratio) + intervalText(comparison.interval) + " " +
                   comparison.verdict;
        }
    }
    return "-";
}

const char* const noBaseline = "none in this run";

std::string baselineText(const std::vector<Comparison>& comparisons, const std::string& role) {
    std::string baseline = noBaseline;
    for (const Comparison& comparison : comparisons) {
        if (comparison.role == role) {
            if (baseline != noBaseline && baseline != comparison.baseline) {
                return "each row to another one";
            }
            baseline = comparison.baseline;
        }
    }
    return baseline;
}

// Sorts by a figure of the statistics: the best result first, invalid results last. If there are
// too few rounds for a ranking, the subjects keep the order of the suite.
template <class Figure>
std::vector<Result> sorted(std::vector<Result> results, Figure figure) {
    const bool isRanking = std::all_of(results.begin(), results.end(), [](const Result& each) {
        return isInvalid(each) || each.series.roundNs.size() >= fewestToRank;
    });
    std::stable_sort(results.begin(), results.end(), [&](const Result& a, const Result& b) {
        return isInvalid(a) != isInvalid(b) ? isInvalid(b)
                                            : isRanking && figure(a.stats) < figure(b.stats);
    });
    return results;
}

void printInvalid(std::ostream& out, const Result& result) {
    out << format("  %-38s INVALID: ", result.subject.c_str()) << result.series.error << '\n';
}

void printRankedRow(std::ostream& out, const Result& result,
                    const std::vector<Comparison>& comparisons, const RatioColumns& columns) {
    const Stats& stats = result.stats;
    out << format("  %-38s %9.2f  [%8.2f .. %9.2f]  %5.2f  %9.2f", result.subject.c_str(),
                  stats.median, stats.min, stats.max, stats.cv, stats.p99);
    for (const RatioColumn& column : columns) {
        out << format("  %-31s", ratioText(comparisons, result.subject, column.role).c_str());
    }
    out << rowFlags(result) << '\n';
}

void printBaselines(std::ostream& out, const std::vector<Comparison>& comparisons,
                    const RatioColumns& columns) {
    for (const RatioColumn& column : columns) {
        out << "  " << column.heading << ": to the " << column.role << ", "
            << baselineText(comparisons, column.role) << '\n';
    }
}

// The columns that have a ratio in this scenario, or all if none has one.
RatioColumns columnsOf(const std::vector<Comparison>& comparisons, const RatioColumns& columns) {
    RatioColumns used;
    for (const RatioColumn& column : columns) {
        if (baselineText(comparisons, column.role) != noBaseline) {
            used.push_back(column);
        }
    }
    return used.empty() ? columns : used;
}

void printRanked(std::ostream& out, const std::vector<Result>& results,
                 const std::vector<Comparison>& comparisons, const RatioColumns& all) {
    const RatioColumns columns = columnsOf(comparisons, all);
    const bool memory = results.front().scenario.kind == Kind::residentMemory;
    out << format("  %-38s %9s  [%8s .. %9s]  %5s  %9s", "subject",
                  memory ? "MiB median" : "ns median", "min", "max", "cv", "p99");
    for (const RatioColumn& column : columns) {
        out << format("  %-31s", column.heading.c_str());
    }
    out << '\n';
    for (const Result& result : results) {
        if (isInvalid(result)) {
            printInvalid(out, result);
        } else {
            printRankedRow(out, result, comparisons, columns);
        }
    }
    const auto best = std::find_if(results.begin(), results.end(), [](const Result& result) {
        return !isInvalid(result) && result.subject.rfind(floorPrefix, 0) != 0;
    });
    if (best != results.end() && isRanked(best->scenario.kind)) {
        const std::size_t rounds = best->series.roundNs.size();
        if (rounds < fewestToRank) {
            out << "  no ranking: " << counted(rounds, "round") << ", " << fewestToRank
                << " are needed\n";
        } else {
            out << (memory ? "  least: " : "  fastest: ") << best->subject << '\n';
        }
    }
    printBaselines(out, comparisons, columns);
}

void printCalls(std::ostream& out, const std::vector<Result>& results,
                const MachineRecord& machine) {
    const auto row = [&out](const char* name, const Stats& stats) {
        out << format("  %-38s %8.0f  %8.0f  %8.0f  %8.0f  %9.0f", name, stats.p50, stats.p95,
                      stats.p99, stats.p999, stats.max);
    };
    out << format("  %-38s %8s  %8s  %8s  %8s  %9s\n", "subject", "p50", "p95", "p99", "p99.9",
                  "max");
    row("(no call: the clock alone)", machine.noQueue);
    out << '\n';
    for (const Result& result : results) {
        if (isInvalid(result)) {
            printInvalid(out, result);
            continue;
        }
        row(result.subject.c_str(), result.stats);
        out << rowFlags(result) << '\n';
    }
    out << "  all in ns, the clock's own time included; sorted by p99.9\n";
}

void printNoQueue(std::ostream& out, const MachineRecord& machine) {
    const Stats& stats = machine.noQueue;
    out << format("  %-38s %10s  %8.0f  %8.0f  %9.0f  %9.0f  %9.0f\n",
                  "(no queue: the machine alone)", "-", stats.p50, stats.p95, stats.p99,
                  machine.noQueueRoundP99, stats.max);
}

void printLoaded(std::ostream& out, const std::vector<Result>& results,
                 const MachineRecord& machine) {
    out << format("  %-38s %10s  %8s  %8s  %9s  %9s  %9s  %9s\n", "subject", "sent every", "p50",
                  "p95", "p99", "round p99", "max", "timed out");
    printNoQueue(out, machine);
    for (const Result& result : results) {
        if (isInvalid(result)) {
            printInvalid(out, result);
            continue;
        }
        const Stats& stats = result.stats;
        out << format("  %-38s %10.2f  %8.0f  %8.0f  %9.0f  %9.0f  %9.0f  %9llu",
                      result.subject.c_str(), median(result.series.roundIntervalNs), stats.p50,
                      stats.p95, stats.p99, median(result.series.roundP99), stats.max,
                      static_cast<unsigned long long>(result.series.timedOut))
            << rowFlags(result) << '\n';
    }
    out << "  all in ns; round p99: the median of the rounds' P99, p99: that of all samples "
           "together\n"
        << format("  each subject at %.0f %% of its own throughput, so rows are not ranked\n",
                  100 * results.front().plan.load)
        << (results.front().plan.arrivals == ArrivalProcess::poisson
                ? "  messages come as a Poisson process, the same one for all\n"
                : "  messages come at a constant interval\n");
}

void printFlood(std::ostream& out, const std::vector<Result>& results) {
    out << format("  %-38s %8s  %8s  %9s  %9s  %10s  %7s\n", "subject", "p50", "p99", "p99.9",
                  "max", "sent", "lost");
    for (const Result& result : results) {
        if (isInvalid(result)) {
            printInvalid(out, result);
            continue;
        }
        const Stats& stats = result.stats;
        const double lost = double(result.series.lost);
        const double sent = lost + double(result.series.samples.size());
        out << format("  %-38s %8.0f  %8.0f  %9.0f  %9.0f  %10.0f  %5.1f %%",
                      result.subject.c_str(), stats.p50, stats.p99, stats.p999, stats.max, sent,
                      sent > 0 ? 100 * lost / sent : 0)
            << rowFlags(result) << '\n';
    }
    const RoundPlan& plan = results.front().plan;
    out << format("  all in ns; the consumer works %.0f ns on each message, and %.0f %% of what it "
                  "can handle "
                  "is sent\n",
                  plan.handleNs, 100 * plan.load);
}

// Prints the pair of CPUs of the figures, and the pairs at other distances.
void printDistances(std::ostream& out, const std::vector<CpuPlace>& places) {
    if (places.size() < 2) {
        return;
    }
    const std::string distance = distanceOf(places[0], places[1]);
    out << "producer on CPU " << places[0].cpu << ", consumer on CPU " << places[1].cpu << ": "
        << (distance.empty() ? "nobody knows how far apart" : distance) << '\n';
    for (const CpuPair& pair : pairsByDistance(places)) {
        if (pair.distance != distance) {
            out << "  also here: " << pair.distance << ", CPUs " << pair.first << ',' << pair.second
                << '\n';
        }
    }
    for (const MissingDistance& missing : missingDistances(places)) {
        out << "  not here: " << missing.distance << ": " << missing.because << '\n';
    }
}

}  // namespace

RatioColumns peerColumns() {
    return {{"best peer as documented", "/ peer"}, {"best paced peer", "/ paced"}};
}

void printEnvironment(std::ostream& out, const Environment& environment) {
    const std::string flags =
        environment.flagSets.empty() ? "" : environment.flagSets.front().flags;
    out << environment.cpu << ", CPUs " << listOf(environment.cpus)
        << (environment.virtualMachine ? " of a virtual machine, " : ", ") << environment.kernel
        << '\n'
        << environment.compiler << ' ' << flags << '\n'
        << format("one clock read %.1f ns\n", environment.clockNs);
    printDistances(out, environment.topology);
    if (environment.assertions || environment.sanitized) {
        out << "WARNING: assertions or a sanitizer are compiled in; figures say nothing\n";
    }
}

void printScenario(std::ostream& out, const std::vector<Result>& results,
                   const std::vector<Comparison>& comparisons, const MachineRecord& machine,
                   const RatioColumns& columns) {
    if (results.empty()) {
        return;
    }
    printWarning(out, machine);
    printTitle(out, results.front());
    printMachine(out, machine);
    switch (results.front().scenario.kind) {
    case Kind::loadedLatency:
        printLoaded(out, results, machine);
        break;
    case Kind::floodLatency:
        printFlood(out, results);
        break;
    case Kind::overflow:
        printRanked(out, results, {}, {});
        break;
    case Kind::callLatency:
        printCalls(out, sorted(results, [](const Stats& stats) { return stats.p999; }), machine);
        break;
    default:
        printRanked(out, sorted(results, [](const Stats& stats) { return stats.median; }),
                    comparisons, columns);
    }
}

void printUnsteady(std::ostream& out, const std::vector<MachineRecord>& machine) {
    const auto unsteady = std::size_t(std::count_if(
        machine.begin(), machine.end(), [](const auto& each) { return !isSteady(each); }));
    if (unsteady == 0) {
        return;
    }
    out << "the machine was not steady in " << unsteady << " of "
        << counted(machine.size(), "scenario")
        << ": others had the CPUs, or the time of a cache line changed by more than half.\n"
           "  Ratios mean more than medians. To replace such rounds, for at most a minute a "
           "scenario: --until-quiet 60\n";
}

void printVerdicts(std::ostream& out, const std::vector<Verdict>& verdicts) {
    for (const Verdict& verdict : verdicts) {
        const Target& target = verdict.target;
        const std::string unit = verdict.figure == "p99"   ? "ns at P99"
                                 : target.baseline.empty() ? "ns"
                                                           : "x " + target.baseline;
        out << format("  target: %s: %s at most %.2f %s: %.3f, %s\n", target.scenario.c_str(),
                      target.subject.c_str(), target.atMost, unit.c_str(), verdict.reached,
                      verdict.isMet()      ? "met"
                      : verdict.isMissed() ? "MISSED"
                                           : "undecided");
    }
}

void printAbsent(std::ostream& out, const std::vector<Subject>& subjects) {
    std::string leftOut;
    for (const Subject& subject : subjects) {
        if (subject.absentBecause == leftOutByFilter) {
            leftOut += (leftOut.empty() ? "" : ", ") + subject.id;
        } else if (!subject.absentBecause.empty()) {
            out << "absent: " << subject.id << " (" << subject.absentBecause << ")\n";
        }
    }
    if (!leftOut.empty()) {
        out << leftOutByFilter << ": " << leftOut << '\n';
    }
}

}  // namespace sluice::bench
