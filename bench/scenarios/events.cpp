#include "scenarios/events.hpp"

#include "adapters/event_subjects.hpp"
#include "harness/report/comparison.hpp"
#include "harness/run/machine.hpp"
#include "scenarios/loaded_round.hpp"

#include <algorithm>
#include <iterator>
#include <memory>

namespace sluice::bench {

namespace {

/// A scenario, and the size of its rounds.
struct Work {
    Scenario scenario;
    std::size_t size;     ///< listeners, events or queued events; 0 for queues between threads
    std::uint64_t share;  ///< a round has the messages of the options, divided by this
};

Work alone(const char* name, const char* what, std::size_t size, std::uint64_t share) {
    return {{"events", name, Kind::eventCost, 0, 0, Spread::apart, what}, size, share};
}

Work together(const char* name, const char* what, std::size_t size, std::uint64_t share) {
    return {{"events", name, Kind::eventCost, 0, 1, Spread::apart, what}, size, share};
}

Work across(const char* name, std::size_t producers) {
    return {{"events", name, Kind::throughput, sizeof(ShortArgument), producers, Spread::apart,
             "queue between threads, 32-byte argument, process() in a loop"},
            0,
            1};
}

Work asleep(const char* name, Kind kind, const char* what) {
    Work work{{"events", name, kind, sizeof(ShortArgument), 1, Spread::apart, what}, 0, 1};
    work.scenario.load = kind == Kind::loadedLatency ? 0.5 : 0;
    return work;
}

const char* const withSleeper = "wait-32B-1p";

// Scenarios with one thread come first: until then no second thread has called a list.
std::vector<Work> works() {
    return {
        alone("call-1", "one call of a list with one callback", 1, 1),
        alone("call-100", "one callback's call, in a list of 100", 100, 50),
        alone("add-remove-100", "append one callback to a list of 100 and remove it", 100, 5),
        alone("add-10000", "one callback, of 10 000 added to an empty list", 10000, 5),
        alone("dispatch-100", "one dispatch, 100 event ids with one listener each", 100, 1),
        alone("enqueue-32B-1K",
              "one enqueue of a 32-byte argument, 1 000 are in each of four queues", 1000, 1),
        alone("enqueue-32B", "one enqueue of a 32-byte argument, 10 000 are queued", 10000, 1),
        alone("enqueue-32B-100K", "one enqueue of a 32-byte argument, 100 000 are queued", 100000,
              1),
        alone("enqueue-32B-1M", "one enqueue of a 32-byte argument, 1 000 000 are queued", 1000000,
              1),
        alone("enqueue-pointer-1K",
              "one std::make_shared and enqueue, 1 000 are in each of four queues", 1000, 2),
        alone("enqueue-pointer-10K", "one std::make_shared and enqueue, 10 000 are queued", 10000,
              2),
        alone("enqueue-pointer-100K", "one std::make_shared and enqueue, 100 000 are queued",
              100000, 2),
        alone("enqueue-pointer-1M", "one std::make_shared and enqueue, 1 000 000 are queued",
              1000000, 1),
        alone("process-10K", "one event of process(), 10 ids, 10 000 are queued", 10000, 1),
        alone("process-100K", "one event of process(), 10 ids, 100 000 are queued", 100000, 1),
        alone("process-1id-100K", "one event of process(), 1 id, 100 000 are queued", 100000, 1),
        alone("process-1M", "one event of process(), 10 ids, 1 000 000 are queued", 1000000, 1),
        alone("visit-100K", "one event of processQueueWith(), 100 000 are queued", 100000, 1),
        alone("visit-1id-100K", "one event of processQueueWith(), 1 id, 100 000 are queued", 100000,
              1),
        alone("visit-1M", "one event of processQueueWith(), 1 000 000 are queued", 1000000, 1),
        alone("string-10K", "enqueue and process() of a string of 40, 10 000 are queued", 10000, 4),
        together("call-1-2t", "one call of a list with one callback, wall time", 1, 2),
        together("dispatch-100-2t", "one dispatch, 100 event ids, wall time", 100, 2),
        together("add-remove-100-2t", "append and remove, after another thread has called the list",
                 100, 5),
        together("change-while-called", "append and remove, in a list of 100 that is being called",
                 100, 10),
        together("call-while-changed", "one callback's call, in a list of 100 that is changing",
                 100, 100),
        across("across-32B-1p", 1),
        across("across-32B-4p", 4),
        asleep(withSleeper, Kind::throughput,
               "queue between threads, 32-byte argument, wait and process() in a loop"),
        asleep("wait-idle-32B", Kind::idleLatency,
               "one event, from enqueue to the listener, on a queue whose consumer sleeps"),
        asleep(
            "wait-loaded-32B", Kind::loadedLatency,
            "one event, from the moment at which it was to be sent to the listener; the consumer "
            "sleeps in wait"),
    };
}

std::vector<ScalingPair> scaling() {
    return {{"one call of a list with one callback", "call-1", "call-1-2t"},
            {"one dispatch, 100 event ids", "dispatch-100", "dispatch-100-2t"}};
}

// Nanoseconds that the library promises on a machine like the one of its targets. The ratios to
// eventpp there are for other machines, if eventpp is given.
std::vector<Target> targets() {
    return {
        {"call-1", "sluice", "", 5},
        {"call-1", "sluice:single", "", 2.5},
        {"call-100", "sluice", "", 2.2},
        {"call-100", "sluice:single", "", 2.2},
        {"add-remove-100", "sluice", "", 72},
        {"dispatch-100", "sluice", "", 8},
        {"enqueue-32B", "sluice", "", 9},
        {"process-10K", "sluice", "", 8},
        {"process-100K", "sluice", "", 8},
        {"process-1M", "sluice", "", 8},
        {"visit-100K", "sluice", "", 1.5},
        {"visit-1M", "sluice", "", 2.5},
        {"dispatch-100-2t", "sluice", "", 5},
        {"across-32B-1p", "sluice/paced", "", 22},
        {"across-32B-4p", "sluice/paced", "", 30},
        {"call-1", "sluice", "eventpp", 0.26},
        {"call-100", "sluice", "eventpp", 0.23},
        {"add-remove-100", "sluice", "eventpp", 1},
        {"dispatch-100", "sluice", "eventpp", 0.31},
        {"enqueue-32B", "sluice", "eventpp", 0.31},
        {"process-10K", "sluice", "eventpp", 0.28},
        {"process-100K", "sluice", "eventpp", 0.28},
        {"process-1M", "sluice", "eventpp", 0.28},
        {"visit-100K", "sluice", "eventpp-fork", 0.56},
        {"visit-1M", "sluice", "eventpp-fork", 0.37},
        {"dispatch-100-2t", "sluice", "eventpp", 0.045},
        {"across-32B-1p", "sluice/paced", "eventpp/paced", 0.41},
        {"across-32B-4p", "sluice/paced", "eventpp/paced", 0.34},
    };
}

RoundPlan planFor(const Work& work, const SuiteOptions& options, const std::vector<int>& cpus) {
    RoundPlan plan;
    plan.placement = placementFor(work.scenario, options, cpus);
    plan.capacity = work.size;
    plan.messages = std::max<std::uint64_t>(100, options.messages / work.share);
    plan.runIn = plan.messages / 10;
    plan.load = work.scenario.load;
    plan.sendingNs = options.quick ? 10e6 : 50e6;
    if (work.scenario.kind == Kind::idleLatency) {
        plan.messages = options.quick ? 100 : 500;
        plan.restNs = 200'000;  // so that the consumer falls asleep
    }
    return plan;
}

void append(std::vector<Comparison>& all, std::vector<Comparison> more) {
    std::move(more.begin(), more.end(), std::back_inserter(all));
}

const char* const bestOnOneThread = "best peer for one thread only";

// Peers that are for one thread only are a class of their own, and floors are no peers.
std::vector<Comparison> compareEvents(const std::vector<Result>& results,
                                      const std::vector<Subject>& subjects) {
    std::vector<Subject> shared;
    std::vector<Subject> single;
    for (const Subject& subject : subjects) {
        if (subject.id.rfind(floorPrefix, 0) != 0) {
            (subject.features.topology == topologyOf(Threads::any) ? shared : single)
                .push_back(subject);
        }
    }
    std::vector<Comparison> all = compareWithPeers(results, shared);
    std::vector<Comparison> onOneThread = compareWithPeers(results, single);
    for (Comparison& comparison : onOneThread) {
        comparison.role = bestOnOneThread;
    }
    append(all, std::move(onOneThread));
    for (const char* const id : {"eventpp", "eventpp/paced", "eventpp-fork"}) {
        append(all, compareWith(results, id, id));
    }
    return all;
}

RatioColumns columns() {
    RatioColumns columns = peerColumns();
    columns.push_back({bestOnOneThread, "/ 1-thread"});
    return columns;
}

}  // namespace

Suite eventSuite(const SuiteOptions& options, const std::vector<int>& cpus) {
    Suite suite;
    suite.name = "events";
    const std::vector<Work> all = works();
    for (const Work& work : all) {
        suite.scenarios.push_back(work.scenario);
    }
    const auto subjects = std::make_shared<const EventSubjects>(eventSubjects());
    for (const EventSubject& subject : *subjects) {
        suite.subjects.push_back(subject.info);
    }
    suite.enter = [=](const Scenario& scenario, std::size_t index) -> Entrant {
        const auto& rounds = (*subjects)[index].rounds;
        const auto round = rounds.find(scenario.name);
        const auto work = std::find_if(all.begin(), all.end(), [&](const Work& each) {
            return each.scenario.name == scenario.name;
        });
        if (round == rounds.end() || work == all.end()) {
            return {};
        }
        const RoundPlan plan = planFor(*work, options, cpus);
        if (scenario.kind == Kind::loadedLatency) {
            return {plan, [plan, throughput = rounds.at(withSleeper), run = round->second] {
                        return loadedRound(throughput, run, plan);
                    }};
        }
        return {plan, [plan, run = round->second] { return run(plan); }};
    };
    suite.machineAlone = [=](const Scenario& scenario) -> std::function<Round()> {
        if (!hasSamples(scenario.kind)) {
            return nullptr;
        }
        return [=] { return wakefulnessRound(cpus[0], cpus[1]); };
    };
    suite.compare = [known = suite.subjects](const std::vector<Result>& results) {
        return compareEvents(results, known);
    };
    suite.columns = columns();
    suite.targets = targets();
    suite.scaling = scaling();
    return suite;
}

}  // namespace sluice::bench
