#include "harness/report/report_text.hpp"

#include "sample_report.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace sluice::bench {
namespace {

std::string tableOf(const Report& report) {
    std::ostringstream out;
    printScenario(out, report.results, report.comparisons, report.machine.front(), peerColumns());
    return out.str();
}

// Six rounds each, unless told otherwise.
Report ofRounds(std::size_t rounds = fewestToRank) {
    Report report = sampleReport();
    double ns = 10;
    for (Result& result : report.results) {
        result = resultOf(result.subject, std::vector<double>(rounds, ns *= 2));
    }
    report.results.front().subject = "sluice/SpscRing";
    report.comparisons = compareWithPeers(report.results, report.subjects);
    return report;
}

TEST(ReportTextTest, NamesTheFastestWhoeverItIs) {
    Report report = ofRounds();
    EXPECT_NE(tableOf(report).find("fastest: sluice/SpscRing\n"), std::string::npos);
    report.results[2] = resultOf("boost/spsc_queue/paced", std::vector<double>(6, 1));
    EXPECT_NE(tableOf(report).find("fastest: boost/spsc_queue/paced\n"), std::string::npos);
}

TEST(ReportTextTest, RanksNothingWithFewerThanSixRounds) {
    Report report = ofRounds(5);
    std::swap(report.results.front(), report.results.back());
    const std::string table = tableOf(report);
    EXPECT_EQ(table.find("fastest"), std::string::npos);
    EXPECT_NE(table.find("no ranking: 5 rounds, 6 are needed\n"), std::string::npos);
    EXPECT_LT(table.find("\n  other/queue "), table.find("\n  sluice/SpscRing "))
        << "rows keep the order of the suite";
}

TEST(ReportTextTest, SaysHowManyRoundsWereRun) {
    Report report = ofRounds(6);
    report.repetition.rounds = 6;
    EXPECT_EQ(roundsText(report), "6 rounds");
    report.results.push_back(resultOf("sluice/SpscRing", {1}));
    report.results.back().scenario.name = "another";
    EXPECT_EQ(roundsText(report), "1 to 6 rounds, 6 planned");
}

TEST(ReportTextTest, SaysInHowManyScenariosTheMachineWasNotSteady) {
    std::ostringstream out;
    printUnsteady(out, {quietMachine()});
    EXPECT_EQ(out.str(), "");
    MachineRecord stolen = quietMachine();
    stolen.stolen = 0.1;
    printUnsteady(out, {quietMachine(), stolen});
    EXPECT_EQ(out.str().find("the machine was not steady in 1 of 2 scenarios: "), 0U);
    EXPECT_NE(out.str().find("--until-quiet 60"), std::string::npos);
}

TEST(ReportTextTest, ListsEverySubjectFastestFirst) {
    const std::string table = tableOf(ofRounds());
    const std::size_t ours = table.find("\n  sluice/SpscRing ");
    const std::size_t documented = table.find("\n  boost/spsc_queue ");
    const std::size_t slowest = table.find("\n  other/queue ");
    ASSERT_NE(slowest, std::string::npos);
    EXPECT_LT(ours, documented);
    EXPECT_LT(documented, slowest);
}

TEST(ReportTextTest, NamesTheBaselines) {
    const std::string table = tableOf(sampleReport());
    EXPECT_NE(table.find("to the best peer as documented, boost/spsc_queue\n"), std::string::npos);
    EXPECT_NE(table.find("to the best paced peer, boost/spsc_queue/paced\n"), std::string::npos);
}

TEST(ReportTextTest, NamesNoBaselineWhereRowsHaveDifferentOnes) {
    Report report = sampleReport();
    report.comparisons.push_back(report.comparisons.front());
    report.comparisons.back().baseline = "other/queue";
    EXPECT_NE(tableOf(report).find("to the best peer as documented, each row to another one\n"),
              std::string::npos);
}

TEST(ReportTextTest, ShowsAnInvalidResultInsteadOfItsTime) {
    Report report = sampleReport();
    report.results[0] = invalidResult("sluice/SpscRing");
    const std::string table = tableOf(report);
    EXPECT_NE(table.find("INVALID: delivered = accepted: 9 is not 10"), std::string::npos);
    EXPECT_EQ(table.find("fastest: sluice/SpscRing"), std::string::npos);
}

TEST(ReportTextTest, SaysWhenTheMachineWasDisturbed) {
    Report report = sampleReport();
    EXPECT_EQ(tableOf(report).find("UNSTEADY"), std::string::npos);
    report.machine.front().others = 0.4;
    EXPECT_NE(tableOf(report).find("others had 40.0 %"), std::string::npos);
    EXPECT_EQ(tableOf(report).find("\nUNSTEADY"), 0U);
    EXPECT_LT(tableOf(report).find("--until-quiet 60"), tableOf(report).find("ns median"));
}

// BR-21: the CPUs of the threads, the other distances of this machine, and the reason why a
// distance is absent.
TEST(ReportTextTest, TellsHowFarApartTheThreadsAre) {
    Report report = sampleReport();
    for (int cpu = 0; cpu < 3; ++cpu) {
        CpuPlace place;
        place.cpu = cpu;
        place.core = cpu;
        place.package = place.l3 = cpu / 2;
        report.environment.topology.push_back(place);
    }
    std::ostringstream out;
    printEnvironment(out, report.environment);
    EXPECT_NE(out.str().find("producer on CPU 0, consumer on CPU 1: same L3\n"
                             "  also here: other package, CPUs 0,2\n"
                             "  not here: same core: no two of the CPUs are hardware threads"),
              std::string::npos)
        << out.str();
}

TEST(ReportTextTest, CountsOneAsOne) {
    Report report = sampleReport();
    report.results = {resultOf("a", {1})};
    EXPECT_NE(tableOf(report).find(", 1 round\n"), std::string::npos);
    report.results = {resultOf("a", {1, 2})};
    EXPECT_NE(tableOf(report).find(", 2 rounds\n"), std::string::npos);
}

TEST(ReportTextTest, ListsAbsentSubjects) {
    std::ostringstream out;
    printAbsent(out, sampleReport().subjects);
    EXPECT_EQ(out.str(), "absent: rigtorp/SPSCQueue (not compiled in)\n");
    std::vector<Subject> subjects = sampleReport().subjects;
    subjects.resize(2);
    subjects[0].absentBecause = subjects[1].absentBecause = leftOutByFilter;
    std::ostringstream narrowed;
    printAbsent(narrowed, subjects);
    EXPECT_EQ(narrowed.str(), "left out by --filter: sluice/SpscRing, boost/spsc_queue\n");
}

TEST(ReportTextTest, PrintsLatencyUnderLoadWithTheMachineBesideIt) {
    Report report = sampleReport();
    Series series;
    series.samples = {100, 200, 300};
    series.roundNs = {200};
    series.roundP99 = {300};
    series.roundIntervalNs = {40};
    Scenario scenario = throughputScenario();
    scenario.kind = Kind::loadedLatency;
    report.machine.front().noQueue = summarize({10, 20});
    report.results = {makeResult(scenario, "a/queue", report.results[0].plan, series,
                                 report.machine.front(), Conditions{})};
    const std::string table = tableOf(report);
    EXPECT_NE(table.find("(no queue: the machine alone)"), std::string::npos);
    EXPECT_NE(table.find("a/queue"), std::string::npos);
    EXPECT_EQ(table.find("fastest"), std::string::npos);
}

Result resultOfKind(Kind kind, const std::string& subject, double value) {
    Scenario scenario = throughputScenario();
    scenario.kind = kind;
    Series series;
    series.roundNs.assign(fewestToRank, value);
    series.samples = {value, value + 1};
    RoundPlan plan;
    plan.placement.consumerCpu = 1;
    return makeResult(scenario, subject, plan, series, quietMachine(), Conditions{});
}

TEST(ReportTextTest, PrintsSingleCallsByTheirTails) {
    Report report = sampleReport();
    report.results = {resultOfKind(Kind::callLatency, "slow", 50),
                      resultOfKind(Kind::callLatency, "quick", 10)};
    report.machine.front().noQueue = summarize({7});
    const std::string table = tableOf(report);
    EXPECT_NE(table.find("(no call: the clock alone)"), std::string::npos);
    EXPECT_NE(table.find("p99.9"), std::string::npos);
    EXPECT_NE(table.find("one thread on CPU 1"), std::string::npos);
    EXPECT_LT(table.find("quick"), table.find("slow"));
}

TEST(ReportTextTest, PrintsMemoryInMiB) {
    Report report = sampleReport();
    report.results = {resultOfKind(Kind::residentMemory, "thrifty", 3)};
    const std::string table = tableOf(report);
    EXPECT_NE(table.find("MiB median"), std::string::npos);
    EXPECT_NE(table.find("least: thrifty"), std::string::npos);
}

TEST(ReportTextTest, NeverCallsAFloorTheFastest) {
    Report report = sampleReport();
    report.results = {resultOfKind(Kind::callCost, floorPrefix + "nothing", 1),
                      resultOfKind(Kind::callCost, "something", 2)};
    EXPECT_NE(tableOf(report).find("fastest: something\n"), std::string::npos);
}

TEST(ReportTextTest, SaysOfEachTargetWhetherItWasMet) {
    std::ostringstream out;
    printVerdicts(out, {{{"pair", "ours", "theirs", 0.35}, 0.3, {0.29, 0.31}},
                        {{"pair", "ours", "theirs", 0.25}, 0.3, {0.29, 0.31}},
                        {{"pair", "ours", "theirs", 0.3}, 0.3, {0.29, 0.31}},
                        {{"call", "ours", "", 5}, 4.5, {4, 5}, "median"},
                        {{"load", "ours", "", 5000}, 4500, {4000, 5000}, "p99"}});
    EXPECT_EQ(out.str(), "  target: pair: ours at most 0.35 x theirs: 0.300, met\n"
                         "  target: pair: ours at most 0.25 x theirs: 0.300, MISSED\n"
                         "  target: pair: ours at most 0.30 x theirs: 0.300, undecided\n"
                         "  target: call: ours at most 5.00 ns: 4.500, met\n"
                         "  target: load: ours at most 5000.00 ns at P99: 4500.000, met\n");
}

TEST(ReportTextTest, SaysWhatTheFigureOfAnEventIs) {
    Report report = sampleReport();
    Result result = resultOfKind(Kind::eventCost, "ours", 3);
    result.scenario.what = "one call of a list";
    report.results = {result};
    EXPECT_NE(tableOf(report).find(": one call of a list, "), std::string::npos);
    EXPECT_NE(tableOf(report).find("one thread on CPU 1"), std::string::npos);
    result.plan.placement.producerCpus = {0};
    report.results = {result};
    EXPECT_NE(tableOf(report).find("a thread each on CPUs 1,0"), std::string::npos);
}

TEST(ReportTextTest, SaysWhereTheThreadsOfALogAreAndWhichLinesGoBack) {
    Report report = sampleReport();
    Result result = resultOfKind(Kind::logThroughput, "ours", 3);
    result.scenario.suite = "log";
    result.plan.placement.producerCpus = {0, 0};
    result.series.counts.delivered = 200;
    result.series.counts.backInTime = 3;
    report.results = {result};
    EXPECT_NE(tableOf(report).find("2 threads on CPUs 0,0, the one behind the log on CPU 1"),
              std::string::npos);
    EXPECT_NE(tableOf(report).find("1.50 % of the lines BACK_IN_TIME"), std::string::npos);

    result.scenario.kind = Kind::callLatency;
    result.plan.intervalNs = 2000;
    report.results = {result};
    EXPECT_NE(tableOf(report).find("a call every 2000 ns"), std::string::npos);
    result.plan.load = 0.5;
    report.results = {result};
    EXPECT_NE(tableOf(report).find("at 50 % of its own throughput"), std::string::npos);

    result.scenario.kind = Kind::residentMemory;
    result.plan.capacity = 100;
    report.results = {result};
    EXPECT_NE(tableOf(report).find("100 threads in a process of its own"), std::string::npos);
}

TEST(ReportTextTest, LeavesColumnsOutThatSayNothing) {
    Report report = sampleReport();
    RatioColumns columns = peerColumns();
    columns.push_back({"best of a kind that is not there", "/ kind"});
    std::ostringstream out;
    printScenario(out, report.results, report.comparisons, report.machine.front(), columns);
    EXPECT_NE(out.str().find("/ paced"), std::string::npos);
    EXPECT_EQ(out.str().find("/ kind"), std::string::npos);
}

}  // namespace
}  // namespace sluice::bench
