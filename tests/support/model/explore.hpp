#pragma once

#include "crash_guard.hpp"
#include "execution.hpp"
#include "fiber_strands.hpp"
#include "search.hpp"
#include "site.hpp"
#include "thread_strands.hpp"

#include <sluice/base/assert.hpp>

#include <algorithm>
#include <cstddef>
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
///     EXPECT_TRUE(result.passed) << result.report;
///
/// The scenario is run once for every schedule within the budget, and for every value a load may
/// return. Its threads communicate through atomics and cells of ModelPlatform and nothing else, and
/// do the same whenever they are scheduled the same; results are compared after parallel().
/// See docs/algorithms/model-checking.md for what is and what is not explored.
namespace sluice::model {

struct Options {
    Budget budget{2, 1};
    /// A passing exploration that needs more is reported as failed: it would prove little.
    std::size_t maxExecutions = 400000;
    /// For code with thread-local objects; a hundred times slower.
    bool ownThreads = false;
    /// Off only to test the checker itself.
    bool skipKnownStates = true;
    const Weakening* weakening = nullptr;
    std::function<void(const Site&, Action, std::memory_order)> onSite;
};

struct Result {
    bool passed = false;
    std::size_t executions = 0;
    std::string failure;  ///< what went wrong
    std::string report;   ///< the same with the schedule that leads there
};

/// Fails the execution unless `condition` holds.
inline void check(bool condition, const char* what) {
    if (!condition) {
        execution().fail(std::string("the scenario's check failed: ") + what);
    }
}

/// Runs the functions at once, the first one on the calling thread, until all have ended. Once in a
/// scenario.
template <class First, class... Others>
void parallel(First&& first, Others&&... others) {
    (execution().launch([&others] { others(); }), ...);
    execution().offer();
    first();
    execution().join();
}

/// One exploration. Lives for ever if it fails: the stacks of the failed execution refer to it.
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
                    return failed();
                }
            } while (search_.mustRepeat());
        }
        return Result{true, executions_, "", ""};
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

    Result failed() const {
        Result result{false, executions_, execution_.failure(), ""};
        if (!execution_.hasFailed()) {
            result.failure = search_.isRepeatable()
                                 ? "not finished: too many executions; make the scenario smaller"
                                 : "the scenario does something else when it is repeated";
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
