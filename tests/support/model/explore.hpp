#pragma once

#include "crash_guard.hpp"
#include "effort.hpp"
#include "execution.hpp"
#include "fiber_strands.hpp"
#include "search.hpp"
#include "site.hpp"
#include "thread_strands.hpp"

#include <sluice/base/assert.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

/// A stateless model checker for code that takes a platform.
///
///     const model::Result result = model::explore({}, [] {
///         SpscRing<int, 1, ModelTraits> ring;
///         model::parallel([&] { (void)ring.tryPush(1); },
///                         [&] { model::check(ring.tryPop() != 2, "nothing but what was pushed");
///                         });
///     });
///     EXPECT_EQ(result.verdict, model::Verdict::holds) << result.report;
///
/// The scenario is run once for every schedule within the budget, and for every value a load may
/// return. Its threads communicate only through atomics and cells of ModelPlatform. With the same
/// schedule they do the same. The scenario compares results after parallel().
/// docs/algorithms/model-checking.md tells the limits of the exploration.
namespace sluice::model {

struct Options {
    Budget budget{2, 1};
    /// At this number the exploration stops, undecided. A scenario that holds may use half of it.
    std::size_t maxExecutions = cap(400000);
    /// For code with thread-local objects; a hundred times slower.
    bool ownThreads = false;
    /// Switched off only to test the checker itself.
    bool skipKnownStates = true;
    const Weakening* weakening = nullptr;
    std::function<void(const Site&, Action, std::memory_order)> onSite;
};

/// How an exploration ends.
enum class Verdict : std::uint8_t {
    holds,      // the scenario passes in every schedule within the budget
    fails,      // the scenario fails in the schedule that the report shows
    undecided,  // the exploration reached a limit of the checker first: nothing is known
};

struct Result {
    Verdict verdict = Verdict::undecided;
    std::size_t executions = 0;
    std::size_t maxExecutions = 0;  ///< the cap that held
    std::string failure;            ///< why the verdict is not `holds`
    std::string report;             ///< the failure and the schedule that leads there

    bool isWithinHalfOfCap() const noexcept { return executions <= maxExecutions / 2; }
    std::string count() const {
        return std::to_string(executions) + " executions, with a cap of " +
               std::to_string(maxExecutions);
    }
};

/// Advice for a scenario that comes near its cap.
inline constexpr const char* waysToFewerExecutions =
    "make the scenario smaller (fewer steps, fewer threads, no polling), lower its budget, or "
    "raise Options::maxExecutions if its time stays small";

/// Why this result must not count as a proof that the scenario holds; empty if it may.
inline std::string objectionTo(const Result& result) {
    if (result.verdict != Verdict::holds) {
        return result.report;
    }
    if (!result.isWithinHalfOfCap()) {
        return "holds, but needs more than half of its cap: " + result.count() + "; " +
               waysToFewerExecutions;
    }
    return "";
}

/// Fails the execution unless `condition` holds.
inline void check(bool condition, const char* what) {
    if (!condition) {
        execution().fail(std::string("the scenario's check failed: ") + what);
    }
}

/// Runs the functions at the same time, the first one on the calling thread, until all end. Once in
/// a scenario.
template <class First, class... Others>
void parallel(First&& first, Others&&... others) {
    (execution().launch([&others] { others(); }), ...);
    execution().offer();
    first();
    execution().join();
}

/// One exploration. A failed one is never destroyed: the stacks of its execution refer to it.
class Explorer {
public:
    explicit Explorer(const Options& options)
        : options_(options),
          strands_(makeStrands(options.ownThreads)),
          execution_(search_, *strands_, options.weakening) {
        search_.skipsKnownStates = options.skipKnownStates;
        execution_.onSite = options.onSite;
    }

    Result run(const std::function<void()>& scenario) {
        const int bounds = std::max(options_.budget.preemptions, options_.budget.weakSteps);
        for (int bound = 0; bound <= bounds; ++bound) {
            do {
                search_.restart({std::min(bound, options_.budget.preemptions),
                                 std::min(bound, options_.budget.weakSteps)});
                if (!walk(scenario)) {
                    return stopped();
                }
            } while (search_.mustRepeat());
        }
        return Result{Verdict::holds, executions_, options_.maxExecutions, "", ""};
    }

    void abandon() { strands_->abandon(); }
    bool hasFailedExecution() const noexcept { return execution_.hasFailed(); }

private:
    static std::unique_ptr<Strands> makeStrands(bool ownThreads) {
        if (ownThreads) {
            return std::make_unique<ThreadStrands>();
        }
        return std::make_unique<FiberStrands>();
    }

    bool walk(const std::function<void()>& scenario) {
        do {
            search_.beginExecution();
            execution_.run(scenario);
            ++executions_;
            if (execution_.hasFailed() || !search_.isRepeatable() ||
                executions_ == options_.maxExecutions) {
                return false;
            }
        } while (search_.advance());
        return true;
    }

    /// The result of an exploration that ended before all schedules were walked.
    Result stopped() const {
        Result result;
        result.executions = executions_;
        result.maxExecutions = options_.maxExecutions;
        if (!search_.isRepeatable()) {
            result.failure = "undecided: the scenario does something else when it is repeated";
        } else if (!execution_.hasFailed()) {
            result.failure = "undecided: the walk reached its cap: " + result.count() + "; " +
                             waysToFewerExecutions;
        } else if (execution_.hasReachedLimit()) {
            result.failure = "undecided: " + execution_.failure();
        } else {
            result.verdict = Verdict::fails;
            result.failure = execution_.failure();
        }
        const Budget budget = search_.budget();
        result.report = result.failure + "\nin execution " + std::to_string(executions_) +
                        ", with at most " + std::to_string(budget.preemptions) +
                        " preemptions and " + std::to_string(budget.weakSteps) + " weak steps:\n" +
                        execution_.trace().text();
        return result;
    }

    friend Result explore(const Options& options, const std::function<void()>& scenario);

    Options options_;
    Search search_;
    std::unique_ptr<Strands> strands_;
    Execution execution_;
    std::size_t executions_ = 0;
};

inline Result explore(const Options& options, const std::function<void()>& scenario) {
    static auto* const abandoned = new std::vector<std::unique_ptr<Explorer>>;
    const AssertionHandler previous = setAssertionHandler([](const AssertionFailure& failure) {
        execution().fail(std::string("assertion: ") + failure.message);
    });
    const CrashGuard crashGuard;
    auto explorer = std::make_unique<Explorer>(options);
    currentExecution = &explorer->execution_;
    Result result = explorer->run(scenario);
    currentExecution = nullptr;
    setAssertionHandler(previous);
    if (explorer->hasFailedExecution()) {
        explorer->abandon();
        abandoned->push_back(std::move(explorer));
    }
    return result;
}

}  // namespace sluice::model
