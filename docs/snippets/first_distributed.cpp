#include <sluice/bridge/nats/nats_bridge.hpp>

#include <chrono>
#include <cstdio>
#include <exception>

struct Position {
    int robot = 0;
    double x = 0;
    double y = 0;
};

struct FleetTraits : sluice::FullBusTraits {
    static constexpr bool origins = true;
};

// 260 KiB: give it static storage or a place on the heap.
sluice::Bus<sluice::Messages<Position>, FleetTraits> bus;

int main(int argc, char** argv) try {
    sluice::nats::NatsOptions options;
    options.url = argc > 1 ? argv[1] : "nats://127.0.0.1:4222";
    sluice::nats::NatsBridge bridge(bus, options);

    if (argc > 2) {  // this program sends
        bridge.exportType<Position>({"fleet.position"});
        (void)bus.publish(Position{7, 1.0, 2.0}, sluice::Priority::high);
        (void)bus.process();  // the consumer hands the message to the bridge
        return bridge.close(std::chrono::seconds(5)) ? 0 : 1;
    }

    const auto positions = bus.subscribe<Position>(
        [](const Position& p) { std::printf("robot %d is at %g, %g\n", p.robot, p.x, p.y); });
    bridge.importType<Position>({"fleet.position"});
    std::puts("waiting for a position");
    std::fflush(stdout);
    while (bus.process() == 0) {
        (void)bus.waitFor(std::chrono::seconds(1));
    }
    return 0;
} catch (const std::exception& trouble) {
    std::fprintf(stderr, "%s\n", trouble.what());
    return 1;
}
