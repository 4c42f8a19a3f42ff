#include "harness/report/control_group.hpp"

#include "harness/report/text.hpp"

#include <algorithm>

namespace sluice::bench {

namespace {

const Result* find(const std::vector<Result>& results, Kind kind, const std::string& subject) {
    const auto found = std::find_if(results.begin(), results.end(), [&](const Result& result) {
        return result.scenario.section == controlGroup && result.scenario.kind == kind &&
               result.subject == subject;
    });
    return found != results.end() ? &*found : nullptr;
}

std::string millions(const Result* result) {
    if (result == nullptr) {
        return "-";
    }
    return isInvalid(*result) ? "INVALID" : format("%.1f", perSecond(*result) / 1e6);
}

double part(std::uint64_t some, std::uint64_t all) {
    return all == 0 ? 0 : double(some) / double(all);
}

// The figure that would be published if each attempt counted.
std::string ifRefusalsCounted(const Result& result) {
    const Counts& counts = result.series.counts;
    const double acceptedPart = part(counts.accepted, counts.attempted);
    return isInvalid(result) || acceptedPart == 0
               ? "-"
               : format("%.1f", perSecond(result) / acceptedPart / 1e6);
}

void printRow(std::ostream& out, const Result& overflow, const std::vector<Result>& results) {
    const Counts& counts = overflow.series.counts;
    const std::uint64_t refused = counts.rejected + counts.dropped;
    out << format("  %-38s %12s  %12s  %9.1f %%  %14s  %14s\n", overflow.subject.c_str(),
                  millions(find(results, Kind::rawEnqueue, overflow.subject)).c_str(),
                  millions(&overflow).c_str(), 100 * part(refused, counts.attempted),
                  ifRefusalsCounted(overflow).c_str(),
                  millions(find(results, Kind::throughput, overflow.subject)).c_str());
}

}  // namespace

bool isAskedFor(const Scenario& scenario, const std::vector<Scenario>& scenarios,
                const std::regex& filter) {
    const auto matches = [&filter](const Scenario& each) {
        return std::regex_search(each.name, filter);
    };
    if (scenario.section != controlGroup) {
        return matches(scenario);
    }
    return std::any_of(scenarios.begin(), scenarios.end(), [&](const Scenario& each) {
        return each.section == controlGroup && matches(each);
    });
}

void printControlGroup(std::ostream& out, const std::vector<Result>& results) {
    bool hasTitle = false;
    for (const Result& result : results) {
        if (result.scenario.kind != Kind::overflow || result.scenario.section != controlGroup) {
            continue;
        }
        if (!hasTitle) {
            out << "control group: millions of accepted messages in a second; the columns measure "
                   "different things and are not compared\n"
                << format("  %-38s %12s  %12s  %11s  %14s  %14s\n", "subject", "raw enqueue",
                          "overflow", "refused", "(if counted)", "with consumer");
            hasTitle = true;
        }
        printRow(out, result, results);
    }
    if (hasTitle) {
        out << "  overflow and (if counted) are a demonstration, not a throughput: the queue is "
               "full"
               " and most pushes fail at once\n\n";
    }
}

}  // namespace sluice::bench
