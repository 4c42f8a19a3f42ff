#include "scenarios/bridge.hpp"

#include "adapters/nats_subjects.hpp"
#include "harness/report/comparison.hpp"

#include <algorithm>
#include <memory>

namespace sluice::bench {

namespace {

Scenario publishing(const std::string& name, std::size_t bytes, const std::string& what) {
    Scenario scenario{"bridge", name, Kind::callCost, bytes, 1, Spread::apart};
    scenario.what = what;
    return scenario;
}

std::vector<Scenario> scenarios() {
    const std::string core = "publishing until the server has all messages, at most once";
    const std::string durable = "publishing until the server has stored all messages";
    Scenario delay{"bridge", "delay-core", Kind::idleLatency, 64, 1, Spread::apart};
    delay.what = "from a publish to the handler of the other side, one message each millisecond";
    return {
        publishing("core-64B", 64, core),
        publishing("core-1024B", 1024, core),
        publishing("durable-64B", 64, durable),
        publishing("durable-1024B", 1024, durable),
        delay,
        publishing("encode", 0, "a message of five fields into a MessagePack map"),
        publishing("decode", 0, "a message of five fields from a MessagePack map"),
    };
}

// A stored message takes some ten times as long as one that is only sent.
constexpr std::uint64_t durableShare = 20;
constexpr std::uint64_t delays = 500;

RoundPlan planFor(const Scenario& scenario, const SuiteOptions& options,
                  const std::vector<int>& cpus) {
    RoundPlan plan;
    plan.placement = placementFor(scenario, options, cpus);
    // libnats and the server have threads of their own.
    plan.placement.roaming = cpus;
    plan.messages = options.messages;
    if (scenario.kind == Kind::idleLatency) {
        plan.messages = delays;
        plan.restNs = 1e6;
    } else if (scenario.name.rfind("durable", 0) == 0) {
        plan.messages = std::max<std::uint64_t>(1000, options.messages / durableShare);
    }
    plan.runIn = plan.messages / 10;
    return plan;
}

const char* const plainProgram = "a plain program of libnats";
const char* const otherCodec = "msgpack-cxx";

std::vector<Comparison> compareBridges(const std::vector<Result>& results) {
    std::vector<Comparison> all = compareWith(results, "libnats/plain", plainProgram);
    for (Comparison& each : compareWith(results, "msgpack-cxx/map", otherCodec)) {
        all.push_back(std::move(each));
    }
    return all;
}

// 0.9 of the rate.
constexpr double rate = 1 / 0.9;
// At most 10 us more than libnats. A target is a ratio, and libnats takes 850 us or more, because
// it waits almost a millisecond before it writes a single message.
constexpr double delay = 1 + 10.0 / 850;

}  // namespace

Suite bridgeSuite(const SuiteOptions& options, const std::vector<int>& cpus) {
    Suite suite;
    suite.name = "bridge";
    suite.scenarios = scenarios();
    auto made = std::make_shared<NatsSubjects>();
    for (const auto add : {addSluiceBridge, addLibnats, addSluiceWire, addMsgpackCxx}) {
        add(*made);
    }
    const std::shared_ptr<const NatsSubjects> subjects = made;
    for (const NatsSubject& subject : *subjects) {
        suite.subjects.push_back(subject.info);
    }
    suite.enter = [=](const Scenario& scenario, std::size_t index) -> Entrant {
        const NatsSubject& subject = (*subjects)[index];
        const auto round = subject.rounds.find(scenario.name);
        if (round == subject.rounds.end()) {
            return {};
        }
        const RoundPlan plan = planFor(scenario, options, cpus);
        return {plan, [run = round->second, plan] { return run(plan); }};
    };
    suite.machineAlone = [](const Scenario&) { return std::function<Round()>(); };
    suite.compare = compareBridges;
    suite.columns = {{plainProgram, "/ libnats"}, {otherCodec, "/ msgpack"}};
    for (const char* const name : {"core-64B", "core-1024B", "durable-64B", "durable-1024B"}) {
        suite.targets.push_back({name, "sluice/bridge", "libnats/plain", rate});
    }
    suite.targets.push_back({"delay-core", "sluice/bridge", "libnats/plain", delay});
    return suite;
}

}  // namespace sluice::bench
