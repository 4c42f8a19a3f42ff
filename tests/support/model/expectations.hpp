#pragma once

#include "explore.hpp"
#include "mutants.hpp"
#include "platform.hpp"
#include "support/sanitizers.hpp"

#include <sluice/queue/queue_traits.hpp>

#include "support/testing.hpp"

namespace sluice::model {

inline constexpr auto relaxed = std::memory_order_relaxed;
inline constexpr auto acquire = std::memory_order_acquire;
inline constexpr auto release = std::memory_order_release;

/// Polls a flag that another thread sets with release.
template <class T>
void await(const Atomic<T>& flag) {
    while (flag.load(acquire) == 0) {
        ModelPlatform::pause();
    }
}

inline Options options(Budget budget) {
    Options result;
    result.budget = budget;
    return result;
}

/// EXPECT_TRUE(holds(scenario)): the scenario fails in no schedule within the budget, and the walk
/// through the schedules needs at most half of its cap.
inline testing::AssertionResult holds(const std::function<void()>& scenario,
                                      const Options& options = {}) {
    const Result result = explore(options, scenario);
    const std::string objection = objectionTo(result);
    return objection.empty()
               ? testing::AssertionSuccess() << "holds in " << result.executions << " executions"
               : testing::AssertionFailure() << objection;
}

/// EXPECT_TRUE(failsWith("data race", scenario)): it fails so in some schedule.
inline testing::AssertionResult failsWith(const std::string& reason,
                                          const std::function<void()>& scenario,
                                          const Options& options = {}) {
    const Result result = explore(options, scenario);
    if (result.verdict == Verdict::holds) {
        return testing::AssertionFailure()
               << "no failure in " << result.executions << " executions";
    }
    if (result.verdict == Verdict::undecided) {
        return testing::AssertionFailure() << result.report;
    }
    return result.failure.find(reason) != std::string::npos
               ? testing::AssertionSuccess()
               : testing::AssertionFailure() << "another failure: " << result.report;
}

/// The orders of this header, or std::nullopt under sanitizers: they end the process for the faults
/// that mutants are meant to have.
inline std::optional<OrderSurvey> ordersOf([[maybe_unused]] std::string_view file,
                                           [[maybe_unused]] const Options& options,
                                           [[maybe_unused]] const Scenarios& scenarios) {
#if SLUICE_TEST_ASAN || SLUICE_TEST_TSAN
    return std::nullopt;
#else
    return surveyOrders(file, options, scenarios);
#endif
}

inline void list(testing::AssertionResult& failure, const std::string& heading,
                 const std::vector<std::string>& mutants) {
    failure << heading;
    for (const std::string& mutant : mutants) {
        failure << "\n    " << mutant;
    }
}

/// EXPECT_TRUE(survive(expected, ordersOf(header, options, scenarios))): these mutants pass all
/// scenarios, and every other mutant is killed. A mutant that is undecided is not killed.
inline testing::AssertionResult survive(const std::vector<std::string>& expected,
                                        const std::optional<OrderSurvey>& orders) {
    if (!orders) {
        return testing::AssertionSuccess() << "not under sanitizers";
    }
    const OrderSurvey& survey = *orders;
    if (!survey.problem.empty()) {
        return testing::AssertionFailure() << "without a mutation, " << survey.problem;
    }
    const bool isDecided = survey.undecided.empty() && survey.nearCap.empty();
    if (isDecided && survey.survivors == expected && survey.mutants > expected.size()) {
        return testing::AssertionSuccess();
    }
    testing::AssertionResult failure = testing::AssertionFailure();
    list(failure, "of " + std::to_string(survey.mutants) + " mutants, these pass all scenarios:",
         survey.survivors);
    if (!survey.undecided.empty()) {
        list(failure, "\nthese are neither killed nor passed:", survey.undecided);
    }
    if (!survey.nearCap.empty()) {
        list(failure, "\nthese pass too close to the cap:", survey.nearCap);
    }
    return failure;
}

/// Traits of a queue under the checker: positions of 8 bits that wrap after one message.
struct ModelTraits : QueueTraits {
    using Platform = ModelPlatform;
    using Index = std::uint8_t;
    static constexpr std::uint64_t firstPosition = 254;
};

/// The numbers of messages that exist, that were accepted, and that were delivered. At its end no
/// message may exist: declare it before the queue.
struct Ledger {
    Ledger() = default;
    Ledger(const Ledger&) = delete;
    Ledger& operator=(const Ledger&) = delete;
    ~Ledger() { check(alive == 0, "each message is destroyed once"); }

    int alive = 0;
    int accepted = 0;
    int delivered = 0;
};

/// A message whose content is checked for data races. A Ledger counts the messages that exist.
class Message {
public:
    Message(int number, Ledger& ledger) : number_(number), ledger_(&ledger) { ++ledger_->alive; }
    Message(const Message& other) : number_(other.number_), ledger_(other.ledger_) {
        ++ledger_->alive;
    }
    Message& operator=(const Message&) = delete;
    ~Message() { --ledger_->alive; }

    int number(Site site = Site::here()) const { return number_.get(site); }
    Ledger& ledger() const { return *ledger_; }

private:
    Plain<int> number_;
    Ledger* ledger_;
};

}  // namespace sluice::model
