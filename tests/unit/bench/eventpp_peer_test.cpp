// The benchmark of eventpp, built with our headers.

#include "adapters/event_subjects.hpp"

#include "support/testing.hpp"

namespace sluice::bench {
namespace {

RoundPlan planFor(const std::string& scenario) {
    const int cpu = allowedCpus().front();
    const bool isAlone =
        scenario.find("2t") == std::string::npos && scenario.find("while") == std::string::npos &&
        scenario.find("across") == std::string::npos && scenario.find("wait") == std::string::npos;
    RoundPlan plan;
    plan.placement.consumerCpu = cpu;
    plan.placement.producerCpus.assign(isAlone ? 0 : 1, allowedCpus().back());
    plan.placement.oversubscribed = cpu == allowedCpus().back();
    plan.capacity = 20;
    plan.messages = 200;
    plan.runIn = 20;
    return plan;
}

/// The benchmark of eventpp, built with our headers instead of eventpp's.
TEST(EventppPeerTest, RunsWithTheHeadersThatBearItsNames) {
    EventSubjects subjects;
    addEventppNames(subjects);
    std::set<std::string> ids;
    for (const EventSubject& subject : subjects) {
        ids.insert(subject.info.id);
        EXPECT_TRUE(subject.info.ours);
        for (const auto& [scenario, round] : subject.rounds) {
            EXPECT_EQ(round(planFor(scenario)).error, "") << subject.info.id << ", " << scenario;
        }
    }
    EXPECT_EQ(ids, (std::set<std::string>{"sluice/eventpp", "sluice/eventpp/paced",
                                          "sluice/eventpp:single"}));
    EXPECT_EQ(subjects.front().rounds.count("visit-1M"), 1U) << "ours has processQueueWith()";
}

}  // namespace
}  // namespace sluice::bench
