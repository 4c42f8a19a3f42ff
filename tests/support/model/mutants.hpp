#pragma once

#include "explore.hpp"
#include "site.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::model {

using Scenarios = std::vector<std::function<void()>>;

/// What becomes of a header when its memory orders are weakened, one at a time.
struct OrderSurvey {
    std::size_t mutants = 0;
    /// Mutants that every scenario passes: "function: action order -> weaker order", sorted.
    std::vector<std::string> survivors;
    std::string problem;  ///< the report of a scenario that fails without any mutation
};

/// Finds every acquire, release and fence of the header `file` that the scenarios perform, weakens
/// each in turn as far as one step goes, and tells which of these mutants no scenario notices. An
/// order that no scenario needs is either too strong, or promised for a use that is not among the
/// scenarios.
inline OrderSurvey surveyOrders(std::string_view file, const Options& options,
                                const Scenarios& scenarios) {
    OrderSurvey survey;
    std::set<OrderedSite> sites;
    Options collecting = options;
    collecting.onSite = [&](const Site& site, Action action, std::memory_order order) {
        if (site.fileName() == file) {
            sites.insert(OrderedSite{std::string(file), std::string(site.functionName()), site.line,
                                     action, order});
        }
    };
    for (const auto& scenario : scenarios) {
        const Result result = explore(collecting, scenario);
        if (!result.passed) {
            survey.problem = result.report;
            return survey;
        }
    }

    const auto survives = [&](const Weakening& weakening) {
        Options weakened = options;
        weakened.weakening = &weakening;
        return std::all_of(scenarios.begin(), scenarios.end(), [&](const auto& scenario) {
            return explore(weakened, scenario).passed;
        });
    };
    const auto weaken = [&](const OrderedSite& site, std::memory_order instead) {
        ++survey.mutants;
        if (survives(Weakening{site, instead})) {
            const bool isFence =
                site.action == Action::lightFence || site.action == Action::heavyFence;
            survey.survivors.push_back(
                site.function + ": " + nameOf(site.action) +
                (isFence ? std::string()
                         : std::string(" ") + nameOf(site.order) + " -> " + nameOf(instead)));
        }
    };
    for (const OrderedSite& site : sites) {
        if (site.order == std::memory_order_acq_rel) {
            weaken(site, std::memory_order_acquire);
            weaken(site, std::memory_order_release);
        } else {
            weaken(site, std::memory_order_relaxed);
        }
    }
    std::sort(survey.survivors.begin(), survey.survivors.end());
    return survey;
}

}  // namespace sluice::model
