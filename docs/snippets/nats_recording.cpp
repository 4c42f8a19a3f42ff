// nats_recording URL FILE COUNT records COUNT positions of a NATS server in a file, and
// nats_recording URL FILE publishes them again with their timing.
#include <sluice/bridge/nats/nats_bridge.hpp>
#include <sluice/record/recorder.hpp>
#include <sluice/record/replay.hpp>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>
#include <thread>

struct Position {
    int robot = 0;
    double x = 0;
    double y = 0;
};

struct FleetTraits : sluice::FullBusTraits {
    static constexpr bool origins = true;
};
using FleetBus = sluice::Bus<sluice::Messages<Position>, FleetTraits>;
using Bridge = sluice::nats::NatsBridge<FleetBus>;
FleetBus fleet;

int record(Bridge& bridge, const char* file, std::uint64_t count) {
    sluice::Recorder recorder(file);
    recorder.record(fleet, "fleet");
    bridge.importType<Position>({"fleet.position"});
    std::puts("recording");
    std::fflush(stdout);
    while (recorder.statistics().accepted < count) {
        (void)fleet.waitFor(std::chrono::seconds(1));
        (void)fleet.process();
    }
    return 0;
}

int replay(Bridge& bridge, const char* file) {
    bridge.exportType<Position>({"fleet.position"});
    sluice::Replay replay(file);
    replay.into(fleet, "fleet");
    std::thread consumer([] { fleet.run(); });
    replay.run();
    fleet.close();
    consumer.join();
    return bridge.close(std::chrono::seconds(5)) ? 0 : 1;
}

int main(int argc, char** argv) try {
    if (argc < 3) {
        return 2;
    }
    sluice::nats::NatsOptions options;
    options.url = argv[1];
    Bridge bridge(fleet, options);
    return argc > 3 ? record(bridge, argv[2], std::stoull(argv[3])) : replay(bridge, argv[2]);
} catch (const std::exception& trouble) {
    std::fprintf(stderr, "%s\n", trouble.what());
    return 1;
}
