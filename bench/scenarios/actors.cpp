#include "scenarios/actors.hpp"

#include "adapters/actor_subjects.hpp"
#include "harness/report/comparison.hpp"
#include "scenarios/loaded_round.hpp"

#include <algorithm>
#include <memory>

namespace sluice::bench {

namespace {

constexpr std::size_t slots = 4096;

Scenario post(const std::string& name, std::size_t senders,
              std::size_t bytes = sizeof(ActorMessage), const std::string& section = {}) {
    Scenario scenario{"actors", name, Kind::throughput, bytes, senders, Spread::apart};
    scenario.what = "from the first post to the end of the last handler";
    scenario.section = section;
    return scenario;
}

Scenario burst(std::size_t messages) {
    const std::string count = std::to_string(messages);
    Scenario scenario = post("burst-" + count, 1, sizeof(ActorMessage), burstSection);
    scenario.what = count + " posts to an object that has nothing to do, from the first one to the "
                            "end of the last handler";
    scenario.capacity = messages;
    return scenario;
}

Scenario objects(const std::string& name, Kind kind, std::size_t count, const std::string& what) {
    Scenario scenario{"actors", name, kind, 0, 1, Spread::apart};
    scenario.capacity = count;
    scenario.what = what;
    return scenario;
}

Scenario delayAtHalfLoad() {
    Scenario scenario{"actors", "delay-half-load", Kind::loadedLatency, sizeof(ActorMessage),
                      1,        Spread::apart};
    scenario.what = "from the moment of a post to its handler";
    scenario.section = loadSection;
    scenario.load = 0.5;
    return scenario;
}

Scenario delay() {
    Scenario scenario{"actors", "delay-idle", Kind::idleLatency, sizeof(ActorMessage),
                      1,        Spread::apart};
    scenario.what = "from a post to the handler of an object that was left alone for 200 us";
    return scenario;
}

// Scenarios in a process of their own come first, before this process has a history.
std::vector<Scenario> scenarios(bool quick) {
    std::vector<Scenario> all{
        objects("idle-memory-100000", Kind::residentMemory, 100000,
                "growth of a process by 100,000 objects that have handled a message"),
        objects("idle-cpu-10000", Kind::callCost, 10000,
                "processor time of the library's threads in a second in which 10,000 objects have "
                "nothing to do"),
        post(oneSender, 1),
        post("post-4s", 4),
        post("post-1s-16B", 1, sizeof(SmallActorMessage), sizeSection),
        post("post-1s-1024B", 1, sizeof(LargeActorMessage), sizeSection),
        burst(1000),
        burst(10000),
        burst(100000),
        delay(),
        delayAtHalfLoad(),
        objects("request", Kind::callCost, 1,
                "a request to an object with a thread of its own, and its reply"),
        objects("ring-100000", Kind::callCost, 100000,
                "a hop of a token in a ring of 100,000 objects on two threads"),
    };
    if (!quick) {
        all.push_back(post("sustained-5s", 1, sizeof(ActorMessage), sustainedSection));
    }
    return all;
}

// A request wakes two threads.
constexpr std::uint64_t requestShare = 50;

// An object that waits for so long sleeps.
constexpr double restNs = 200000;
constexpr std::uint64_t delays = 500;

RoundPlan planFor(const Scenario& scenario, const SuiteOptions& options,
                  const std::vector<int>& cpus) {
    RoundPlan plan;
    plan.placement = placementFor(scenario, options, cpus);
    plan.capacity = scenario.capacity != 0 ? scenario.capacity : slots;
    plan.messages = options.messages;
    if (scenario.section == burstSection) {
        plan.capacity = plan.runIn = slots;
        plan.messages = scenario.capacity;
        return plan;
    }
    if (scenario.kind == Kind::idleLatency) {
        plan.messages = delays;
        plan.restNs = restNs;
        return plan;
    }
    if (scenario.kind == Kind::loadedLatency) {
        plan.load = scenario.load;
        plan.sendingNs = options.quick ? 10e6 : 50e6;
    } else if (scenario.section == sustainedSection) {
        plan.sendingNs = 5e9;
    } else if (scenario.section == sizeSection) {
        plan.messages = options.messages * sizeof(ActorMessage) /
                        std::max(sizeof(ActorMessage), scenario.messageBytes);
    } else if (scenario.name == "request") {
        plan.messages = std::max<std::uint64_t>(1000, options.messages / requestShare);
    } else if (scenario.capacity > 1) {
        plan.placement.roaming = cpus;
        plan.messages = std::max<std::uint64_t>(2 * scenario.capacity, options.messages);
    }
    plan.runIn = std::max<std::uint64_t>(plan.messages / 10, scenario.capacity);
    return plan;
}

Round runRound(const Scenario& scenario, const ActorSubject& subject, const RoundPlan& plan) {
    Round (*const run)(const RoundPlan&) = subject.rounds.at(scenario.name);
    return scenario.kind == Kind::loadedLatency
               ? loadedRound(subject.rounds.at(oneSender), run, plan)
           : scenario.section == sustainedSection ? sustainedRound(run, plan)
                                                  : run(plan);
}

const char* const threadOfItsOwn = "actor with a thread of its own";
const char* const pooled = "actors on a pool";
const char* const byHand = "active object written by hand";
const char* const theMachine = "two wake-ups of the machine";

std::vector<Comparison> compareActors(const std::vector<Result>& results) {
    std::vector<Comparison> all;
    for (const auto& [baseline, role] : {std::pair{"caf/detached", threadOfItsOwn},
                                         {"caf/pooled", pooled},
                                         {"sobjectizer/active_obj", threadOfItsOwn},
                                         {"sobjectizer/thread_pool", pooled},
                                         {"std/locked deque", byHand},
                                         {"eventpp/active object", byHand},
                                         {"eventpp-fork/active object", byHand},
                                         {twoWakeUps.c_str(), theMachine}}) {
        for (Comparison& each : compareWith(results, baseline, role)) {
            all.push_back(std::move(each));
        }
    }
    return all;
}

std::vector<Target> targets() {
    const char* const own = "sluice/ActiveObject";
    const char* const many = "sluice/PooledObject";
    return {
        {"post-1s", own, "caf/detached", 0.12},
        {"post-1s", own, "sobjectizer/active_obj", 0.12},
        {"post-4s", own, "caf/detached", 0.12},
        {"post-4s", own, "sobjectizer/active_obj", 0.12},
        {"post-1s", own, "eventpp/active object", 0.2},
        {"post-4s", own, "eventpp/active object", 0.2},
        {"request", own, "caf/detached", 0.1},
        {"request", own, twoWakeUps, 2.5},
        {"ring-100000", many, "caf/pooled", 0.35},
        {"ring-100000", many, "sobjectizer/thread_pool", 0.35},
    };
}

}  // namespace

Suite actorSuite(const SuiteOptions& options, const std::vector<int>& cpus) {
    Suite suite;
    suite.name = "actors";
    suite.scenarios = scenarios(options.quick);
    const auto subjects = std::make_shared<const ActorSubjects>(actorSubjects());
    for (const ActorSubject& subject : *subjects) {
        suite.subjects.push_back(subject.info);
    }
    suite.enter = [=](const Scenario& scenario, std::size_t index) -> Entrant {
        const ActorSubject& subject = (*subjects)[index];
        if (subject.rounds.count(scenario.name) == 0) {
            return {};
        }
        const RoundPlan plan = planFor(scenario, options, cpus);
        return {plan, [=] { return runRound(scenario, (*subjects)[index], plan); }};
    };
    suite.machineAlone = [](const Scenario&) { return std::function<Round()>(); };
    suite.compare = compareActors;
    suite.columns = {{threadOfItsOwn, "/ own"},
                     {pooled, "/ pooled"},
                     {byHand, "/ by hand"},
                     {theMachine, "/ wake-ups"}};
    suite.targets = targets();
    return suite;
}

}  // namespace sluice::bench
