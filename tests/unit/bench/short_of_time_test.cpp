// In which order scenarios run when time is short, and how many rounds they get.

#include "harness/report/short_of_time.hpp"

#include "harness/run/interleave.hpp"

#include <gtest/gtest.h>

#include <string>

namespace sluice::bench {
namespace {

Scenario scenarioOf(const std::string& name, std::size_t producers, const std::string& section = "",
                    Kind kind = Kind::throughput) {
    Scenario scenario;
    scenario.name = name;
    scenario.producers = producers;
    scenario.section = section;
    scenario.kind = kind;
    return scenario;
}

TEST(ShortOfTimeTest, SeveralProducersComeFirstAndSectionsLast) {
    std::string order;
    for (const Scenario& each : mostUsefulFirst(
             {scenarioOf("depth", 1, depthSection), scenarioOf("one", 1), scenarioOf("two", 2),
              scenarioOf("four", 4), scenarioOf("load", 2, loadSection, Kind::loadedLatency)})) {
        order += each.name + " ";
    }
    EXPECT_EQ(order, "two four one depth load ");
}

Round roundThatTakes(Nanoseconds ns) {
    const Nanoseconds began = now();
    while (now() - began < ns) {
    }
    Round round;
    round.ns = double(ns);
    return round;
}

std::size_t roundsWithin(double budgetNs, double longestNs) {
    Repetition repetition{0, 10};
    repetition.budgetNs = budgetNs;
    repetition.longestNs = longestNs;
    return interleave({[] { return roundThatTakes(100); }}, repetition,
                      [](std::size_t, std::size_t) {})
        .front()
        .roundNs.size();
}

TEST(ShortOfTimeTest, AScenarioThatHasBegunHasEnoughRoundsToRank) {
    EXPECT_EQ(roundsWithin(1, 0), fewestToRank);
    EXPECT_EQ(roundsWithin(1, 1), 1U) << "the time of the whole run is over";
    EXPECT_EQ(roundsWithin(0, 0), 10U);
}

}  // namespace
}  // namespace sluice::bench
