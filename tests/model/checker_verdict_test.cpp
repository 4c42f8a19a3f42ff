#include "support/model/effort.hpp"
#include "support/model/expectations.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

// The checker itself: an exploration that reaches a limit proves nothing, neither of a scenario nor
// of a mutant, and says so.

namespace sluice::model {
namespace {

constexpr auto relaxed = std::memory_order_relaxed;
constexpr auto acquire = std::memory_order_acquire;
constexpr auto release = std::memory_order_release;

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

Options withCap(std::size_t executions) {
    Options options;
    options.budget = {1, 2};
    options.maxExecutions = executions;
    return options;
}

void threeAdders() {
    Atomic<int> x{0};
    const auto add = [&] { (void)x.fetch_add(1, relaxed); };
    parallel(add, add, add);
}

TEST(CheckerVerdictTest, AWalkThatReachesItsCapIsUndecided) {
    const Result result = explore(withCap(5), threeAdders);
    EXPECT_EQ(result.verdict, Verdict::undecided);
    EXPECT_TRUE(contains(result.failure, "reached its cap: 5 executions, with a cap of 5; make the "
                                         "scenario smaller"))
        << result.failure;
    EXPECT_FALSE(holds(threeAdders, withCap(5)));
    EXPECT_FALSE(failsWith("reached its cap", threeAdders, withCap(5))) << "it has not failed";
}

TEST(CheckerVerdictTest, AWalkThatHoldsNeedsAtMostHalfOfItsCap) {
    const std::size_t needed = explore(withCap(10000), threeAdders).executions;
    EXPECT_TRUE(holds(threeAdders, withCap(2 * needed)));

    const testing::AssertionResult tooNear = holds(threeAdders, withCap(2 * needed - 1));
    EXPECT_FALSE(tooNear);
    EXPECT_TRUE(contains(tooNear.message(), "more than half of its cap: " + std::to_string(needed) +
                                                " executions, with a cap of " +
                                                std::to_string(2 * needed - 1) + ";"))
        << tooNear.message();
}

TEST(CheckerVerdictTest, TooManyThreadsAtomicsOrStepsAreUndecided) {
    const auto expectUndecided = [](const std::string& limit,
                                    const std::function<void()>& scenario) {
        const Result result = explore({}, scenario);
        EXPECT_EQ(result.verdict, Verdict::undecided) << limit;
        EXPECT_TRUE(contains(result.failure, limit)) << result.failure;
    };
    const auto nothing = [] {};
    expectUndecided("too many threads",
                    [&] { parallel(nothing, nothing, nothing, nothing, nothing); });
    expectUndecided("too many atomics", [] {
        std::vector<std::unique_ptr<Atomic<int>>> atomics;
        for (;;) {
            atomics.push_back(std::make_unique<Atomic<int>>(0));
        }
    });
    expectUndecided("a livelock, or a scenario that is too long", [] {
        Atomic<int> x{0};
        for (;;) {
            (void)x.fetch_add(1, relaxed);
        }
    });
}

TEST(CheckerVerdictTest, AScenarioThatIsNotRepeatableIsUndecided) {
    int runs = 0;
    const Result result = explore({}, [&] {
        Atomic<int> x{0};
        if (++runs % 2 == 0) {
            x.store(1, relaxed);
        }
        parallel([&] { x.store(2, relaxed); }, [&] { x.store(3, relaxed); });
    });
    EXPECT_EQ(result.verdict, Verdict::undecided);
    EXPECT_TRUE(contains(result.failure, "something else when it is repeated")) << result.failure;
}

// The surveys weaken the orders of this file. Without them the reader may find each of the values
// that x has had, so that the walk is far longer.

/// Passes data with a release and an acquire. Nothing needs them unless the reader looks at it.
void pass(std::memory_order load, bool looks) {
    Plain<int> data;
    Atomic<int> x{0};
    Atomic<int> flag{0};
    parallel(
        [&] {
            data.set(1);
            for (int i = 1; i <= 5; ++i) {
                x.store(i, relaxed);
            }
            flag.store(1, release);
        },
        [&] {
            if (flag.load(load) == 1) {
                check(!looks || data.get() == 1, "the data is there");
                (void)(x.load(relaxed) + x.load(relaxed) + x.load(relaxed));
            }
        });
}
void passUnseen() {
    pass(acquire, false);
}
void passSeen() {
    pass(acquire, true);
}

/// The same with orders of its own: mutants of them are killed.
void passElsewhere() {
    Plain<int> data;
    Atomic<int> flag{0};
    parallel([&] { data.set(1), flag.store(1, release); },
             [&] { check(flag.load(acquire) == 0 || data.get() == 1, "the data is there"); });
}

std::size_t executionsOfPassUnseen(std::memory_order load) {
    return explore(withCap(10000), [load] { pass(load, false); }).executions;
}

OrderSurvey surveyThisFile(std::size_t executions, const Scenarios& scenarios) {
    return surveyOrders("checker_verdict_test.cpp", withCap(executions), scenarios);
}

const std::vector<std::string> bothOrders{"operator(): load acquire -> relaxed",
                                          "operator(): store release -> relaxed"};

TEST(CheckerVerdictTest, AMutantThatReachesTheCapIsNotKilled) {
    const std::size_t twiceNeeded = 2 * executionsOfPassUnseen(acquire);
    ASSERT_GT(executionsOfPassUnseen(relaxed), twiceNeeded);

    const OrderSurvey survey = surveyThisFile(twiceNeeded, {passElsewhere, passUnseen});
    EXPECT_EQ(survey.problem, "");
    EXPECT_EQ(survey.mutants, 4U);
    EXPECT_EQ(survey.survivors, std::vector<std::string>{});
    ASSERT_EQ(survey.undecided.size(), 2U);
    const std::string count = std::to_string(twiceNeeded);
    for (const std::string& mutant : survey.undecided) {
        EXPECT_TRUE(contains(mutant, "checker_verdict_test.cpp:")) << mutant;
        EXPECT_TRUE(contains(mutant, " -> relaxed, scenario 2 of 2: undecided")) << mutant;
        EXPECT_TRUE(contains(mutant, count + " executions, with a cap of " + count)) << mutant;
        EXPECT_TRUE(contains(mutant, "make the scenario smaller")) << mutant;
    }

    const testing::AssertionResult expectation = survive({}, survey);
    EXPECT_FALSE(expectation);
    EXPECT_TRUE(contains(expectation.message(), survey.undecided[0])) << expectation.message();
}

TEST(CheckerVerdictTest, AScenarioThatFailsKillsAMutantThatAnotherOneLeavesUndecided) {
    const std::size_t twiceNeeded = 2 * executionsOfPassUnseen(acquire);
    EXPECT_TRUE(survive({}, surveyThisFile(twiceNeeded, {passUnseen, passSeen})));
}

TEST(CheckerVerdictTest, AMutantThatPassesNearTheCapIsReported) {
    const std::size_t needed = executionsOfPassUnseen(relaxed);
    const Scenarios scenarios{passElsewhere, passUnseen};
    EXPECT_TRUE(survive(bothOrders, surveyThisFile(2 * needed, scenarios)));

    const OrderSurvey survey = surveyThisFile(2 * needed - 1, scenarios);
    EXPECT_EQ(survey.problem, "");
    EXPECT_EQ(survey.survivors, bothOrders);
    EXPECT_EQ(survey.nearCap.size(), 2U);
    EXPECT_FALSE(survive(bothOrders, survey));
}

TEST(CheckerVerdictTest, ASurveyNamesTheScenarioThatDoesNotHold) {
    const OrderSurvey atCap = surveyThisFile(5, {passUnseen});
    EXPECT_TRUE(contains(atCap.problem, "scenario 1 of 1: undecided")) << atCap.problem;
    EXPECT_FALSE(survive({}, atCap));

    const OrderSurvey nearCap =
        surveyThisFile(2 * executionsOfPassUnseen(acquire) - 1, {passUnseen});
    EXPECT_TRUE(contains(nearCap.problem, "more than half of its cap")) << nearCap.problem;
    EXPECT_FALSE(survive({}, nearCap));
}

TEST(CheckerVerdictTest, TheEffortIsOrdinaryOrFull) {
    EXPECT_EQ(effortFrom(nullptr), Effort::ordinary);
    EXPECT_EQ(effortFrom("ordinary"), Effort::ordinary);
    EXPECT_EQ(effortFrom("full"), Effort::full);
    EXPECT_EXIT((void)effortFrom("deep"), testing::ExitedWithCode(2),
                "SLUICE_MODEL_EFFORT is 'deep'; it can be: ordinary, full");
}

}  // namespace
}  // namespace sluice::model
