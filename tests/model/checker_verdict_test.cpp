#include "support/model/expectations.hpp"

#include "support/testing.hpp"

// The checker itself: an exploration that reaches a limit proves nothing, neither of a scenario nor
// of a mutant, and says so.

namespace sluice::model {
namespace {

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

/// Passes data with a release and an acquire. The reader does not look at it, so nothing needs
/// them.
void pass(std::memory_order load) {
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
                (void)(x.load(relaxed) + x.load(relaxed) + x.load(relaxed));
            }
        });
}
void passUnseen() {
    pass(acquire);
}

/// The same with orders of its own: mutants of them are killed.
void passElsewhere() {
    Plain<int> data;
    Atomic<int> flag{0};
    parallel([&] { data.set(1), flag.store(1, release); },
             [&] { check(flag.load(acquire) == 0 || data.get() == 1, "the data is there"); });
}

std::size_t executionsOfPassUnseen(std::memory_order load) {
    return explore(withCap(10000), [load] { pass(load); }).executions;
}

OrderSurvey surveyThisFile(std::size_t executions, const Scenarios& scenarios) {
    return surveyOrders("checker_verdict_test.cpp", withCap(executions), scenarios);
}

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

}  // namespace
}  // namespace sluice::model
