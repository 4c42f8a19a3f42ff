#include "scenarios/bus.hpp"

#include "adapters/bus_subjects.hpp"
#include "harness/report/comparison.hpp"
#include "sample_report.hpp"
#include "scenarios/bus_matrix.hpp"

#include "support/testing.hpp"

namespace sluice::bench {
namespace {

using Strings = std::vector<std::string>;

class BusSuiteTest : public testing::Test {
protected:
    BusSuiteTest() {
        options_.quick = true;
        options_.messages = 2000;
        suite_ = busSuite(options_, {allowedCpus().front(), allowedCpus().back()});
    }

    const Scenario& scenario(const std::string& name) const {
        return *std::find_if(suite_.scenarios.begin(), suite_.scenarios.end(),
                             [&](const Scenario& each) { return each.name == name; });
    }

    bool hasScenario(const std::string& name) const {
        return std::any_of(suite_.scenarios.begin(), suite_.scenarios.end(),
                           [&](const Scenario& each) { return each.name == name; });
    }

    /// Its place in the suite, or that behind the last one.
    std::size_t indexOf(const std::string& id) const {
        const auto found = std::find_if(suite_.subjects.begin(), suite_.subjects.end(),
                                        [&](const Subject& each) { return each.id == id; });
        return std::size_t(found - suite_.subjects.begin());
    }
    bool hasSubject(const std::string& id) const { return indexOf(id) < suite_.subjects.size(); }

    Round run(const std::string& name, const std::string& id) const {
        const Entrant entrant = suite_.enter(scenario(name), indexOf(id));
        EXPECT_TRUE(entrant.run) << id << " takes no part in " << name;
        return entrant.run ? entrant.run() : Round{};
    }

    /// A round of throughput that a busy machine does not end.
    Round runUnhurried(Round (*round)(const RoundPlan&), const std::string& id) const {
        RoundPlan plan = suite_.enter(scenario("bus-64B-1p"), indexOf(id)).plan;
        plan.stallNs = 60e9;
        plan.placement.oversubscribed = true;  // a thread that waits yields
        return round(plan);
    }

    SuiteOptions options_;
    Suite suite_;
};

TEST_F(BusSuiteTest, EverySubjectDeliversWhatWasAccepted) {
    for (const BusSubject& subject : busSubjects()) {
        if (subject.info.absentBecause.empty()) {
            const std::string& id = subject.info.id;
            EXPECT_EQ(runUnhurried(subject.runs.throughput, id).error, "") << id;
            EXPECT_EQ(runUnhurried(subject.runs.mixedThroughput, id).error, "") << id << ", mixed";
        }
    }
}

TEST_F(BusSuiteTest, EveryScenarioRunsWithAVisitor) {
    for (const Scenario& each : suite_.scenarios) {
        if (each.name.find(allMixes) != std::string::npos) {
            continue;  // they send ten million messages each
        }
        const bool isDeep = each.section == overloadSection;
        const Round round = run(each.name, isDeep ? "sluice/deep:visitor" : "sluice/full:visitor");
        EXPECT_EQ(round.error, "") << each.name;
        EXPECT_GT(round.counts.delivered, options_.messages / 2) << each.name;
    }
}

TEST_F(BusSuiteTest, ScenariosOfAllModesRunWithATable) {
    for (const Scenario& each : suite_.scenarios) {
        const bool isOfAll = each.section.empty() || each.section == controlGroup ||
                             each.name == "loaded-latency-64B";
        const Entrant entrant = suite_.enter(each, indexOf("sluice/full:table"));
        EXPECT_EQ(entrant.run != nullptr, isOfAll) << each.name;
        if (entrant.run) {
            EXPECT_EQ(entrant.run().error, "") << each.name;
        }
    }
}

// The machine decides whether a message is lost. Each lost message is counted.
TEST_F(BusSuiteTest, AFloodKnowsWhatBecameOfEachMessage) {
    const Round high = run("high-under-flood-64B", "sluice/full:visitor");
    const Round low = run("low-under-flood-64B", "sluice/full:visitor");
    EXPECT_EQ(high.samples.size() + high.lost, high.counts.planned / 10);
    EXPECT_EQ(low.samples.size() + low.lost, low.counts.planned / 10 * 6);
}

// Of 2048, low messages have 1228 slots and medium ones 1638, whatever the others do. In steps of
// 234, all mixes have 220 steps of each priority.
TEST_F(BusSuiteTest, OverloadCountsTheLossesOfOneMixAndOfAll) {
    const BusSubject shallow = busSubjects()[indexOf("sluice/full:visitor")];
    const auto expectLoss = [&](const std::string& urgency, std::uint64_t sent, std::uint64_t sum) {
        EXPECT_EQ(run(urgency + "-in-overload-64B", "sluice/deep:visitor").counts.accepted, sent);
        const Scenario& mixes = scenario(urgency + "-in-overload" + allMixes);
        RoundPlan plan = suite_.enter(mixes, indexOf("sluice/deep:visitor")).plan;
        EXPECT_EQ(plan.messages, overloadMessages);
        plan.messages = 2340;
        const Round all = shallow.runs.overload(plan);
        EXPECT_EQ(all.error, "") << urgency;
        EXPECT_EQ(all.counts.attempted, 220U * 234) << urgency;
        EXPECT_EQ(all.counts.accepted, sum) << urgency;
    };
    expectLoss("high", 30000, 192 * 234 + 3 * 2048);
    expectLoss("medium", 45000, 168 * 234 + 6 * 1638);
    expectLoss("low", 75000, 110 * 234 + 15 * 1228);
}

// Bare leaves out priorities, admission and counters. The two subjects that measure the cost
// of a feature promise the same except for that feature.
TEST_F(BusSuiteTest, PairsDifferInTheirFeatureAlone) {
    const std::map<std::string, Strings> differences = {
        {"statistics", {"statistics: yes / no"}},
        {"priorities and admission", {"priority: yes / no", "back-pressure: yes / no"}},
        {"all but the ring", {"priority: yes / no", "back-pressure: yes / no"}},
        {"header", {}},
        {"time stamps, cached", {}},
        {"time stamps, exact ones", {}},
        {"depth 8192", {"bound: exact, depth 8192 / exact, depth 2048"}},
        {"depth 131072", {"bound: exact, depth 131072 / exact, depth 2048"}},
        {"padding to cache lines", {}},
        {"table of handlers", {"type erasure: yes / no"}},
    };
    for (const FeatureCost& cost : suite_.costs) {
        ASSERT_TRUE(hasSubject(cost.with)) << cost.with;
        ASSERT_TRUE(hasSubject(cost.without)) << cost.without;
        if (cost.with.rfind("sluice/", 0) == 0) {
            EXPECT_EQ(featureDifferences(suite_.subjects[indexOf(cost.with)].features,
                                         suite_.subjects[indexOf(cost.without)].features),
                      differences.at(cost.feature))
                << cost.with << " - " << cost.without;
        }
    }
}

// Each mode accepts exactly as many messages as its admission says, if there is no consumer.
TEST_F(BusSuiteTest, ModesDifferInAdmission) {
    const std::map<std::string, std::uint64_t> rooms = {{"sluice/full:visitor", 2048 * 8 / 10},
                                                        {"sluice/no-stats:table", 2048 * 8 / 10},
                                                        {"sluice/bare:visitor", 2048}};
    for (const auto& [id, room] : rooms) {
        const Counts counts = run("control-overflow-64B", id).counts;
        const std::uint64_t batches = 2;  // the first is the run-in
        EXPECT_EQ(counts.accepted, batches * room) << id;
        EXPECT_EQ(counts.rejected, batches * 7 * room) << id;
    }
}

TEST_F(BusSuiteTest, ComparesEachModeWithTheSameModeOfThePeer) {
    const std::vector<Result> results = {
        resultOf("sluice/full:visitor", {10, 10}), resultOf("mccc/full:visitor", {40, 50}),
        resultOf("mccc/full:visitor/paced", {20, 20}), resultOf("mccc/bare:visitor", {5, 5})};
    Strings compared;
    for (const Comparison& each : suite_.compare(results)) {
        compared.push_back(each.subject + " / " + each.baseline);
    }
    EXPECT_EQ(compared, (Strings{"sluice/full:visitor / mccc/full:visitor",
                                 "sluice/full:visitor / mccc/full:visitor/paced"}));
}

}  // namespace
}  // namespace sluice::bench
