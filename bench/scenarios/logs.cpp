#include "scenarios/logs.hpp"

#include "adapters/log_subjects.hpp"
#include "harness/report/comparison.hpp"
#include "harness/run/allocation.hpp"

#include <algorithm>
#include <memory>

namespace sluice::bench {

namespace {

constexpr std::size_t slots = 8192;
constexpr std::size_t idleThreads = 100;

const std::string record = "\"Hello logger: msg number {}\", ";

Scenario throughput(const std::string& name, std::size_t threads, Spread spread) {
    Scenario scenario{"log", name, Kind::logThroughput, 0, threads, spread};
    scenario.what = record + "time to the microsecond, until the last one is in the file" +
                    (spread == Spread::everywhere ? ", threads on all CPUs" : "");
    return scenario;
}

Scenario calls(const std::string& name, double load) {
    Scenario scenario{"log", name, Kind::callLatency, 0, 1, Spread::apart};
    scenario.what = record + "single calls";
    scenario.load = load;
    return scenario;
}

Scenario sparse(const std::string& name, Kind kind, int rate, const std::string& figure) {
    Scenario scenario{"log", name, kind, 0, 1, Spread::apart};
    scenario.what = record + std::to_string(rate) +
                    " records a second of a thread that sleeps in between, " + figure;
    return scenario;
}

// Scenarios in a process of their own come first, before this process has a history.
std::vector<Scenario> scenarios() {
    Scenario idle{"log", "idle-100t", Kind::residentMemory, 0, 1, Spread::apart};
    idle.what = "growth of a process by 100 threads that have logged one record";
    std::vector<Scenario> all = {
        idle,
        throughput("log-1t", 1, Spread::apart),
        throughput("log-2t", 2, Spread::apart),
        throughput("log-4t", 4, Spread::apart),
        throughput("log-8t", 8, Spread::apart),
        throughput("log-2t-shared", 2, Spread::everywhere),
        throughput("log-8t-shared", 8, Spread::everywhere),
        calls("call-1t", 0),
        calls("call-1t-half-load", 0.5),
    };
    for (const int rate : sparseRates) {
        all.push_back(sparse(sparseDelay(rate), Kind::callLatency, rate,
                             "from the call until the sinks have the record"));
        all.push_back(sparse(sparseCpu(rate), Kind::callCost, rate,
                             "processor time of the process for each record"));
    }
    return all;
}

/// Records a second; 0 for a scenario that is not sparse.
int sparseRate(const Scenario& scenario) {
    for (const int rate : sparseRates) {
        if (scenario.name == sparseDelay(rate) || scenario.name == sparseCpu(rate)) {
            return rate;
        }
    }
    return 0;
}

// A record takes some peers microseconds: a quarter tells as much, if it is more than the slots.
constexpr std::uint64_t share = 4;
constexpr std::uint64_t fewestRecords = 50000;

constexpr std::uint64_t callsShare = 10;
constexpr double callIntervalNs = 2000;

// Half a second each, and ten records at least.
constexpr double sparseSeconds = 0.5;
constexpr double fewestSparse = 10;
constexpr std::uint64_t sparseRunIn = 100;

RoundPlan planFor(const Scenario& scenario, const SuiteOptions& options,
                  const std::vector<int>& cpus) {
    RoundPlan plan;
    plan.placement = placementFor(scenario, options, cpus);
    plan.capacity = scenario.kind == Kind::residentMemory ? idleThreads : slots;
    plan.messages = std::max(options.messages / share, fewestRecords);
    plan.runIn = plan.messages / 10;
    if (const double rate = sparseRate(scenario); rate > 0) {
        plan.messages = std::uint64_t(std::max(fewestSparse, rate * sparseSeconds));
        plan.runIn = sparseRunIn;
        plan.intervalNs = 1e9 / rate;
        return plan;
    }
    plan.load = scenario.load;
    if (scenario.kind == Kind::callLatency) {
        plan.messages = options.messages / callsShare;
        plan.intervalNs = callIntervalNs;
    }
    return plan;
}

const char* const sameCalls = "asynchronous logger of spdlog";
const char* const otherSpdlog = "same, of the spdlog whose headers are given";
const char* const quill = "logger that formats later";

std::vector<Comparison> compareLogs(const std::vector<Result>& results) {
    std::vector<Comparison> all;
    for (const auto& [baseline, role] : {std::pair{"spdlog/async", sameCalls},
                                         {"spdlog-peer/async", otherSpdlog},
                                         {"quill", quill}}) {
        for (Comparison& each : compareWith(results, baseline, role)) {
            all.push_back(std::move(each));
        }
    }
    return all;
}

// Nanoseconds that the library promises on a machine like the one its targets come from.
std::vector<Target> targets() {
    constexpr double sixMillion = 166;
    constexpr double eightMillion = 125;
    std::vector<Target> all;
    for (const char* const name : {"log-1t", "log-2t", "log-4t", "log-8t"}) {
        all.push_back({name, "sluice/spdlog-calls", "", sixMillion});
        all.push_back({name, "sluice/deferred", "", eightMillion});
    }
    all.push_back({"log-1t", "sluice/spdlog-calls", "spdlog/async", 1});
    all.push_back({"log-1t", "sluice/spdlog-calls", "spdlog/sync", 1});
    for (const int rate : sparseRates) {
        all.push_back({sparseCpu(rate), "sluice/spdlog-calls", "spdlog/async", 1});
    }
    return all;
}

}  // namespace

Suite logSuite(const SuiteOptions& options, const std::vector<int>& cpus) {
    Suite suite;
    suite.name = "log";
    suite.scenarios = scenarios();
    const auto subjects = std::make_shared<const LogSubjects>(logSubjects());
    for (const LogSubject& subject : *subjects) {
        suite.subjects.push_back(subject.info);
    }
    suite.enter = [=](const Scenario& scenario, std::size_t index) -> Entrant {
        const auto& rounds = (*subjects)[index].rounds;
        const auto found = rounds.find(scenario.name);
        if (found == rounds.end()) {
            return {};
        }
        const RoundPlan plan = planFor(scenario, options, cpus);
        return {plan, [plan, run = found->second] { return run(plan); }};
    };
    suite.machineAlone = [=](const Scenario& scenario) -> std::function<Round()> {
        if (scenario.kind != Kind::callLatency || sparseRate(scenario) != 0) {
            return nullptr;
        }
        return [plan = planFor(scenario, options, cpus)] { return clockAloneRound(plan); };
    };
    suite.compare = compareLogs;
    suite.columns = {{sameCalls, "/ spdlog"}, {otherSpdlog, "/ other"}, {quill, "/ quill"}};
    suite.targets = targets();
    return suite;
}

}  // namespace sluice::bench
