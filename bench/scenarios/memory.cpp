#include "scenarios/memory.hpp"

#include "adapters/memory_subjects.hpp"
#include "harness/report/comparison.hpp"

#include <algorithm>
#include <iterator>
#include <memory>

namespace sluice::bench {

namespace {

constexpr std::size_t mebi = kibi * kibi;

// Scenarios in a process of their own come first, before this process has a history.
std::vector<Scenario> scenarios() {
    const auto one = [](const std::string& name, Kind kind, std::size_t bytes) {
        return Scenario{"memory", name, kind, bytes, 1, Spread::apart};
    };
    std::vector<Scenario> all;
    for (const char* const name :
         {"resident-peak-64B", "resident-freed-64B", "resident-trimmed-64B"}) {
        all.push_back(one(name, Kind::residentMemory, 64));
    }
    for (const std::size_t bytes :
         {std::size_t{1}, std::size_t{64}, kibi, 4 * kibi, 32 * kibi, mebi, 4 * mebi}) {
        all.push_back(one("pair-" + sizeName(bytes), Kind::callCost, bytes));
    }
    for (const std::size_t bytes : {std::size_t{64}, 4 * kibi}) {
        all.push_back(one("batch-fifo-" + sizeName(bytes), Kind::callCost, bytes));
        all.push_back(one("batch-random-" + sizeName(bytes), Kind::callCost, bytes));
    }
    all.push_back({"memory", "across-64B-1p", Kind::throughput, 64, 1, Spread::apart});
    all.push_back({"memory", "across-64B-4p", Kind::throughput, 64, 4, Spread::apart});
    all.push_back(one("call-allocate-64B", Kind::callLatency, 64));
    all.push_back(one("call-free-64B", Kind::callLatency, 64));
    all.push_back({"memory", "kinds-128B", Kind::throughput, 128, 1, Spread::apart});
    all.push_back({"memory", "kinds-2KiB", Kind::throughput, 2 * kibi, 1, Spread::apart});
    return all;
}

const char* const glibc = "glibc/malloc";
const char* const mimalloc = "mimalloc";

std::vector<Target> targets() {
    const char* const pool = "sluice/BlockPool";
    return {
        {"pair-64B", pool, glibc, 0.35},        {"across-64B-1p", pool, glibc, 0.3},
        {"across-64B-1p", pool, mimalloc, 0.8}, {"across-64B-4p", pool, glibc, 0.3},
        {"across-64B-4p", pool, mimalloc, 0.8},
    };
}

// Large blocks take longer to touch, and some allocators map and unmap each: fewer of them take
// about as long.
std::uint64_t callsFor(std::size_t bytes, std::uint64_t callsOfSmallOnes) {
    const std::uint64_t share = bytes <= 64          ? 1
                                : bytes <= 4 * kibi  ? 8
                                : bytes <= 32 * kibi ? 16
                                : bytes <= mebi      ? 2000
                                                     : 8000;
    return std::max<std::uint64_t>(callsOfSmallOnes / share, 50);
}

bool startsWith(const std::string& text, const char* beginning) {
    return text.rfind(beginning, 0) == 0;
}

std::size_t liveBlocks(const Scenario& scenario) {
    switch (scenario.kind) {
    case Kind::residentMemory:
        return std::size_t{262144};  // 16 MiB
    case Kind::callLatency:
        return std::size_t{4096};
    case Kind::callCost:
        return startsWith(scenario.name, "pair") ? std::size_t{1} : std::size_t{1000};
    default:
        return std::size_t{4096};  // slots of the ring
    }
}

RoundPlan planFor(const Scenario& scenario, const SuiteOptions& options,
                  const std::vector<int>& cpus) {
    RoundPlan plan;
    plan.placement = placementFor(scenario, options, cpus);
    plan.capacity = liveBlocks(scenario);
    plan.messages = options.messages;
    plan.runIn = 4 * plan.capacity;
    plan.timesFree = startsWith(scenario.name, "call-free");
    plan.shuffled = startsWith(scenario.name, "batch-random");
    if (scenario.kind == Kind::callCost) {
        plan.messages = callsFor(scenario.messageBytes, options.messages);
        plan.runIn = plan.messages / 10;
    } else if (scenario.kind == Kind::callLatency) {
        plan.messages = options.messages / 10;
        plan.runIn = plan.messages;
    } else if (scenario.kind == Kind::residentMemory) {
        plan.messages = 5 * plan.capacity;
        plan.moment = startsWith(scenario.name, "resident-peak")    ? Moment::peak
                      : startsWith(scenario.name, "resident-freed") ? Moment::freed
                                                                    : Moment::trimmed;
    }
    return plan;
}

std::vector<Comparison> compareWithHeaps(const std::vector<Result>& results) {
    // Next to nothing is left after a trim: how many times that is would say nothing.
    if (results.front().plan.moment == Moment::trimmed) {
        return {};
    }
    // The kinds of messages have a heap of their own among them.
    const bool kinds = startsWith(results.front().scenario.name, "kinds");
    std::vector<Comparison> comparisons =
        compareWith(results, kinds ? "kinds/polymorphic, glibc" : glibc, "C library's heap");
    const std::vector<Comparison> others =
        compareWith(results, mimalloc, "allocator for passing messages on");
    comparisons.insert(comparisons.end(), others.begin(), others.end());
    return comparisons;
}

}  // namespace

Suite memorySuite(const SuiteOptions& options, const std::vector<int>& cpus) {
    Suite suite;
    suite.name = "memory";
    suite.scenarios = scenarios();
    const auto subjects = std::make_shared<const MemorySubjects>(memorySubjects());
    for (const MemorySubject& subject : *subjects) {
        suite.subjects.push_back(subject.info);
    }
    suite.enter = [=](const Scenario& scenario, std::size_t index) -> Entrant {
        const auto& rounds = (*subjects)[index].rounds;
        const auto found = rounds.find(scenario.name);
        if (found == rounds.end()) {
            return {};
        }
        RoundPlan plan = planFor(scenario, options, cpus);
        if (scenario.kind == Kind::throughput) {
            plan.messages /= (*subjects)[index].fewerAcross;
        }
        return {plan, [plan, round = found->second] { return round(plan); }};
    };
    suite.machineAlone = [=](const Scenario& scenario) -> std::function<Round()> {
        if (scenario.kind != Kind::callLatency) {
            return nullptr;
        }
        return [plan = planFor(scenario, options, cpus)] { return clockAloneRound(plan); };
    };
    suite.compare = compareWithHeaps;
    suite.columns = {{"C library's heap", "/ glibc"},
                     {"allocator for passing messages on", "/ mimalloc"}};
    suite.targets = targets();
    return suite;
}

}  // namespace sluice::bench
