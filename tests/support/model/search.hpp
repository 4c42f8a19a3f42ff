#pragma once

#include "view.hpp"

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace sluice::model {

/// How far schedules may depart from the plain schedule. In the plain schedule each thread runs
/// until it waits, and each load returns the newest store.
struct Budget {
    int preemptions = 0;  ///< switches away from a thread that could go on
    int weakSteps = 0;    ///< loads of an older store, weak exchanges that fail for no reason,
                          ///< sleeps that end for none
};

/// A depth-first walk through all choices within a budget. It knows the executions that remain.
///
/// The list of its choices determines an execution. So the search repeats an execution up to its
/// last choice, and then chooses anew. Two schedules that differ only in the order of independent
/// steps lead to the same state. The search recognises the state by its hash and goes on from it
/// once.
class Search {
public:
    /// Starts the walk again, with this budget.
    void restart(Budget budget) {
        budget_ = budget;
        choices_.clear();
        covered_.clear();
        if (!learnt_.empty()) {
            shared_.insert(learnt_.begin(), learnt_.end());
            learnt_.clear();
        }
    }

    void beginExecution() noexcept {
        depth_ = 0;
        onKnownGround_ = false;
        left = budget_;
    }

    /// Turns to the next execution. Returns false if there is none.
    bool advance() {
        while (!choices_.empty() && choices_.back().taken + 1 == choices_.back().options) {
            choices_.pop_back();
        }
        if (!choices_.empty()) {
            ++choices_.back().taken;
        }
        return !choices_.empty();
    }

    /// Picks one of several ways to go on from a state. Executions that have made the same choices
    /// are in the same state.
    std::size_t choose(std::size_t options, std::uint64_t state) {
        if (options < 2 || onKnownGround_) {
            return 0;
        }
        if (depth_ < choices_.size()) {
            isRepeatable_ = isRepeatable_ && choices_[depth_].state == state;
            return choices_[depth_++].taken;
        }
        if (skipsKnownStates && isCovered(state)) {
            onKnownGround_ = true;
            return 0;
        }
        choices_.push_back(Choice{0, options, state});
        ++depth_;
        return 0;
    }

    /// False if an execution did not repeat its choices: it depends on more than its choices.
    bool isRepeatable() const noexcept { return isRepeatable_; }

    /// Only shared locations are worth a switch: several threads use them at once, and not all only
    /// read. The walk learns these locations, and is repeated while it finds new ones.
    bool isShared(std::uint64_t location) const { return shared_.count(location) != 0; }
    void learnShared(std::uint64_t location) {
        if (!isShared(location)) {
            learnt_.insert(location);
        }
    }
    bool mustRepeat() const noexcept { return !learnt_.empty(); }

    Budget budget() const noexcept { return budget_; }

    /// The part of the budget that the current execution has not spent.
    Budget left;

    bool skipsKnownStates = true;

private:
    struct Choice {
        std::size_t taken;
        std::size_t options;
        std::uint64_t state;
    };

    /// Whether the walk explores all executions from this state elsewhere, with at least as many
    /// preemptions left.
    bool isCovered(std::uint64_t state) {
        state = mix(state, static_cast<std::uint64_t>(left.weakSteps));
        const auto [entry, isNew] = covered_.try_emplace(state, left.preemptions);
        if (isNew || entry->second < left.preemptions) {
            entry->second = left.preemptions;
            return false;
        }
        return true;
    }

    Budget budget_;
    std::vector<Choice> choices_;
    std::size_t depth_ = 0;
    bool onKnownGround_ = false;
    bool isRepeatable_ = true;
    std::unordered_map<std::uint64_t, int> covered_;
    std::unordered_set<std::uint64_t> shared_;
    std::unordered_set<std::uint64_t> learnt_;
};

}  // namespace sluice::model
