/// \file
/// The bridge to NATS: messages from a bus to a bus.

#include "adapters/nats_subjects.hpp"

#if defined(SLUICE_BENCH_NATS)
#include <sluice/bridge/nats/nats_bridge.hpp>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#endif

namespace sluice::bench {

#if defined(SLUICE_BENCH_NATS)
namespace {

using namespace std::chrono_literals;

struct BridgedTraits : FullBusTraits {
    static constexpr bool origins = true;
    // 4,096 slots for messages of 1,024 bytes would take 4 MiB, more than the second cache has.
    static constexpr std::size_t depth = 512;
};
template <std::size_t Bytes>
using BridgedBus = Bus<Messages<TextMessage<Bytes>>, BridgedTraits>;

template <std::size_t Bytes>
TextMessage<Bytes> textMessage() {
    TextMessage<Bytes> message;
    (void)message.text.assign(std::string(Bytes, 'x'));
    return message;
}

nats::NatsOptions bridgeOptions() {
    nats::NatsOptions options;
    options.url = natsUrl();
    options.maxMessageSize = 2048;
    options.sendBuffer = std::size_t{1} << 28;  // a round fits, because no message may be refused
    return options;
}

nats::NatsOptions optionsAtOnce(bool sendsAtOnce) {
    nats::NatsOptions options = bridgeOptions();
    options.sendAtOnce = sendsAtOnce;
    return options;
}

template <std::size_t Bytes, bool AtOnce>
Round publishRound(const RoundPlan& plan) {
    const auto bus = std::make_unique<BridgedBus<Bytes>>();
    nats::NatsBridge<BridgedBus<Bytes>> bridge(*bus, optionsAtOnce(AtOnce));
    bridge.template exportType<TextMessage<Bytes>>({"text"});
    const auto message = textMessage<Bytes>();
    const std::uint64_t last = plan.runIn + plan.messages - 1;
    return timedCalls(plan, [&](std::uint64_t number) {
        const bool isAccepted = bus->publish(message) == SendResult::ok;
        const bool isLast = number + 1 == plan.runIn || number == last;
        if (number % 256 == 0 || isLast) {
            while (bus->process() != 0) {
            }
        }
        return isAccepted &&
               (!isLast || (bridge.flush(60s) && bridge.statistics().sent == number + 1));
    });
}

/// High messages, which may use the whole outbox.
template <std::size_t Bytes>
Round storeRound(const RoundPlan& plan) {
    const auto bus = std::make_unique<BridgedBus<Bytes>>();
    const nats::NatsRoute route{"text", 1, nats::Profile::durable};
    nats::NatsOptions options = bridgeOptions();
    options.durable.stream = "bench";
    options.durable.name = "reader";
    options.durable.streamBytes = std::int64_t{1} << 30;
    deleteStream("bench_high");
    deleteStream("bench_rest");
    {  // a stream keeps messages that it has a reader for
        const auto other = std::make_unique<BridgedBus<Bytes>>();
        nats::NatsBridge<BridgedBus<Bytes>> reader(*other, options);
        reader.template importType<TextMessage<Bytes>>(route);
    }
    nats::NatsBridge<BridgedBus<Bytes>> bridge(*bus, options);
    auto outlet = bridge.template outlet<TextMessage<Bytes>>(route);
    const auto message = textMessage<Bytes>();
    const std::uint64_t last = plan.runIn + plan.messages - 1;
    return timedCalls(plan, [&](std::uint64_t number) {
        const std::chrono::nanoseconds stall(static_cast<std::int64_t>(plan.stallNs));
        const nats::OutletResult result = outlet.sendFor(stall, message, Priority::high);
        const Nanoseconds giveUp = now() + Nanoseconds(plan.stallNs);
        const bool isLast = number + 1 == plan.runIn || number == last;
        while (isLast && bridge.statistics().held != 0 && now() < giveUp) {
            std::this_thread::sleep_for(50us);
        }
        return result == nats::OutletResult::ok && (!isLast || bridge.statistics().held == 0);
    });
}

template <bool AtOnce>
Round delayRound(const RoundPlan& plan) {
    using Bus64 = BridgedBus<64>;
    using Text = TextMessage<64>;
    const auto here = std::make_unique<Bus64>();
    const auto there = std::make_unique<Bus64>();
    std::atomic<std::uint64_t> count{0};
    std::atomic<Nanoseconds> at{0};
    const Subscription handler = there->subscribe<Text>([&](const Text&) {
        at.store(now());
        count.fetch_add(1);
    });
    nats::NatsBridge<Bus64> sender(*here, optionsAtOnce(AtOnce));
    nats::NatsBridge<Bus64> receiver(*there, bridgeOptions());
    receiver.importType<Text>({"delay"});
    sender.exportType<Text>({"delay"});
    std::atomic<bool> isOver{false};
    std::thread consumer([&] {
        while (!isOver.load()) {
            (void)there->waitFor(10ms);
            (void)there->process();
        }
    });
    const auto message = textMessage<64>();
    Round round = delaysOf(plan, count, at, [&] {
        const bool isAccepted = here->publish(message) == SendResult::ok;
        return here->process() == 1 && isAccepted;
    });
    isOver.store(true);
    consumer.join();
    return round;
}

}  // namespace
#endif

void addSluiceBridge(NatsSubjects& subjects) {
    NatsSubject subject;
    subject.info.id = "sluice/bridge";
    subject.info.library = "sluice";
    subject.info.ours = true;
    subject.info.features.topology = "any thread";
    subject.info.features.bound = "exact";
    subject.info.features.order = "each producer";
    subject.info.features.blocking = true;
    subject.info.features.priority = true;
    subject.info.features.backPressure = true;
    subject.info.features.statistics = true;
    subject.info.features.typeErasure = true;
#if defined(SLUICE_BENCH_NATS)
    subject.info.use = "exportType from a bus of 512 messages that its sender consumes; an outlet "
                       "in the durable profile; importType into a bus with a thread that waits";
    if (natsUrl().empty()) {
        subject.info.absentBecause = noServer;
    }
    subject.rounds = {{"core-64B", &publishRound<64, false>},
                      {"core-1024B", &publishRound<1024, false>},
                      {"durable-64B", &storeRound<64>},
                      {"durable-1024B", &storeRound<1024>},
                      {"delay-core", &delayRound<false>}};
#else
    subject.info.absentBecause = notCompiledIn("SLUICE_BRIDGE_NATS", "ON");
#endif
    subjects.push_back(subject);
    NatsSubject atOnce = subject;
    atOnce.info.id = "sluice/bridge/at-once";
#if defined(SLUICE_BENCH_NATS)
    atOnce.info.use = "exportType with sendAtOnce: each message is written to the socket alone";
    atOnce.rounds = {{"core-64B", &publishRound<64, true>}, {"delay-core", &delayRound<true>}};
#endif
    subjects.push_back(atOnce);
}

}  // namespace sluice::bench
