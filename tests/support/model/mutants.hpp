#pragma once

#include "explore.hpp"
#include "site.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::model {

/// A scenario of a survey. If it has a budget of its own, this replaces the budget of the survey.
struct Scenario {
    Scenario(void (*function)()) : body(function) {}
    Scenario(void (*function)(), Budget own) : body(function), budget(own) {}

    void (*body)();
    std::optional<Budget> budget;
};

using Scenarios = std::vector<Scenario>;

/// The outcomes of the mutants of a header. Each mutant weakens one memory order of the header.
struct OrderSurvey {
    std::size_t mutants = 0;
    /// Mutants that every scenario passes: "function: action order -> weaker order", sorted.
    std::vector<std::string> survivors;
    /// Mutants that no scenario kills, although at least one exploration reached a limit of the
    /// checker. Each entry names the place, the mutant, the scenario and the limit.
    std::vector<std::string> undecided;
    /// Survivors with an exploration that needs more than half of its cap, described likewise.
    std::vector<std::string> nearCap;
    std::string problem;  ///< the report of a scenario that does not hold without any mutation
};

/// Makes an OrderSurvey. See surveyOrders().
class OrderSurveyor {
public:
    OrderSurveyor(std::string_view file, const Options& options, const Scenarios& scenarios)
        : file_(file), options_(options), scenarios_(scenarios) {}

    OrderSurvey run() {
        if (!findSites()) {
            return survey_;
        }
        for (const OrderedSite& site : sites_) {
            if (site.order == std::memory_order_acq_rel) {
                weaken(site, std::memory_order_acquire);
                weaken(site, std::memory_order_release);
            } else {
                weaken(site, std::memory_order_relaxed);
            }
        }
        std::sort(survey_.survivors.begin(), survey_.survivors.end());
        return survey_;
    }

private:
    /// Returns false if a scenario does not hold without mutation.
    bool findSites() {
        Options collecting = options_;
        collecting.onSite = [this](const Site& site, Action action, std::memory_order order) {
            if (site.fileName() == file_) {
                sites_.insert(
                    OrderedSite{file_, std::string(site.functionName()), site.line, action, order});
            }
        };
        for (std::size_t i = 0; i < scenarios_.size(); ++i) {
            const std::string objection = objectionTo(run(scenarios_[i], collecting));
            if (!objection.empty()) {
                survey_.problem = nameOfScenario(i) + ": " + objection;
                return false;
            }
        }
        return true;
    }

    static Result run(const Scenario& scenario, const Options& options) {
        Options own = options;
        own.budget = scenario.budget.value_or(options.budget);
        return explore(own, scenario.body);
    }

    void weaken(const OrderedSite& site, std::memory_order instead) {
        ++survey_.mutants;
        const Weakening weakening{site, instead};
        Options weakened = options_;
        weakened.weakening = &weakening;
        std::string undecided;
        std::string nearCap;
        for (std::size_t i = 0; i < scenarios_.size(); ++i) {
            const Result result = run(scenarios_[i], weakened);
            if (result.verdict == Verdict::fails) {
                return;  // killed
            }
            if (result.verdict == Verdict::undecided) {
                undecided = nameOfScenario(i) + ": " + result.failure;
            } else if (!result.isWithinHalfOfCap()) {
                nearCap = nameOfScenario(i) + ": " + objectionTo(result);
            }
        }
        const std::string mutant = nameOfMutant(weakening);
        const std::string place = site.file + ":" + std::to_string(site.line) + " " + mutant;
        if (!undecided.empty()) {
            survey_.undecided.push_back(place + ", " + undecided);
            return;
        }
        survey_.survivors.push_back(mutant);
        if (!nearCap.empty()) {
            survey_.nearCap.push_back(place + ", " + nearCap);
        }
    }

    static std::string nameOfMutant(const Weakening& weakening) {
        const OrderedSite& site = weakening.site;
        const std::string name = site.function + ": " + nameOf(site.action);
        const bool isFence = site.action == Action::lightFence || site.action == Action::heavyFence;
        return isFence ? name
                       : name + " " + nameOf(site.order) + " -> " + nameOf(weakening.instead);
    }

    std::string nameOfScenario(std::size_t index) const {
        return "scenario " + std::to_string(index + 1) + " of " + std::to_string(scenarios_.size());
    }

    std::string file_;
    const Options& options_;
    const Scenarios& scenarios_;
    std::set<OrderedSite> sites_;
    OrderSurvey survey_;
};

/// Finds every acquire, release and fence of the header `file` that the scenarios perform. Weakens
/// each of them by one step, one after the other. Each such mutant has one of three outcomes:
///
/// - killed: a scenario fails in a schedule that the checker shows;
/// - survived: every scenario holds. The order is too strong, or it is promised for a use that is
///   not among the scenarios;
/// - undecided: no scenario fails, and at least one exploration reached a limit of the checker.
inline OrderSurvey surveyOrders(std::string_view file, const Options& options,
                                const Scenarios& scenarios) {
    return OrderSurveyor(file, options, scenarios).run();
}

}  // namespace sluice::model
