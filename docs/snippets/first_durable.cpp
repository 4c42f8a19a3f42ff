#include <sluice/bridge/nats/nats_bridge.hpp>

#include <chrono>
#include <cstdio>
#include <exception>

struct Alarm {
    int code = 0;
};

struct FleetTraits : sluice::FullBusTraits {
    static constexpr bool origins = true;
};

sluice::Bus<sluice::Messages<Alarm>, FleetTraits> bus;

int main(int argc, char** argv) try {
    sluice::nats::NatsOptions options;
    options.url = argc > 1 ? argv[1] : "nats://127.0.0.1:4222";
    options.durable.stream = "fleet";   // the same in all programs
    options.durable.name = "operator";  // of an importer: unique, and the same after a restart
    sluice::nats::NatsBridge bridge(bus, options);

    sluice::nats::NatsRoute alarms;
    alarms.subject = "alarm";
    alarms.profile = sluice::nats::Profile::durable;
    alarms.untilHandled = true;  // the importer acknowledges when the handlers have returned

    if (argc > 2) {  // this program sends
        auto outlet = bridge.outlet<Alarm>(alarms);
        const auto result =
            outlet.sendFor(std::chrono::seconds(5), Alarm{7}, sluice::Priority::high);
        const bool isStored = bridge.close(std::chrono::seconds(5));
        return result == sluice::nats::OutletResult::ok && isStored ? 0 : 1;
    }

    const auto handler =
        bus.subscribe<Alarm>([](const Alarm& alarm) { std::printf("alarm %d\n", alarm.code); });
    bridge.importType<Alarm>(alarms);
    std::puts("waiting for an alarm");
    std::fflush(stdout);
    while (bus.process() == 0) {
        (void)bus.waitFor(std::chrono::seconds(1));
    }
    return bridge.close(std::chrono::seconds(5)) ? 0 : 1;  // acknowledges the alarm
} catch (const std::exception& trouble) {
    std::fprintf(stderr, "%s\n", trouble.what());
    return 1;
}
