// A program with known numbers, for the tests that look at its page. Commands on stdin: `flood`
// publishes more than fits, `quiet` stops it, `end` closes the program. It prints its address
// first, and after each command the counts of its bus.

#include <sluice/actor/active_object.hpp>
#include <sluice/actor/running.hpp>
#include <sluice/bus/bus.hpp>
#include <sluice/inspect/flight_recorder.hpp>
#include <sluice/inspect/inspector.hpp>
#include <sluice/inspect/threads.hpp>
#include <sluice/live/live_page.hpp>
#include <sluice/queue/mpmc_ring.hpp>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <string>
#include <thread>

namespace {

using namespace std::chrono_literals;

struct Scan {
    int number;
};
struct Pose {
    double x;
};
struct Stop {};

struct MapperTraits : sluice::ActorTraits {
    static constexpr std::size_t depth = 64;
    static constexpr bool handlerTimes = true;
};

/// Takes 2 ms for a scan.
class Mapper : public sluice::ActiveObject<Mapper, sluice::Messages<Scan, Stop>, MapperTraits> {
public:
    void handle(const Scan& /*scan*/) {
        const auto end = std::chrono::steady_clock::now() + 2ms;
        while (std::chrono::steady_clock::now() < end) {
        }
    }
    void handle(const Stop& /*stop*/) {}
};

struct Traced : sluice::FullBusTraits {
    using Trace = sluice::FlightTrace;
};
sluice::FlightRecorder recorder;
sluice::Bus<sluice::Messages<Scan, Pose, Stop>, Traced> bus;
std::atomic<int> scansPerStep{1};  // 0: nothing is published

/// Publishes until the bus is closed.
void publish() {
    for (int step = 0;; ++step) {
        const int scans = scansPerStep;
        for (int i = 0; i < scans; ++i) {
            if (bus.publish(Scan{step}, sluice::Priority::low) == sluice::SendResult::closed) {
                return;
            }
        }
        if (scans != 0) {
            (void)bus.publish(Pose{1});
            (void)bus.publish(Stop{}, sluice::Priority::high);
        } else if (bus.isClosed()) {
            return;
        }
        std::this_thread::sleep_for(10ms);
    }
}

}  // namespace

// NOLINTNEXTLINE(bugprone-exception-escape)
int main(int argc, char** argv) {
    sluice::LiveOptions options;
    options.interval = 250ms;
    options.recorder = &recorder;
    recorder.start(bus, "control");
    for (int i = 1; i + 1 < argc; i += 2) {
        const std::string name = argv[i];
        if (name == "--unix") {
            options.unixSocket = argv[i + 1];
        } else if (name == "--token") {
            options.token = argv[i + 1];
        } else if (name == "--title") {
            options.title = argv[i + 1];
        } else if (name == "--interval") {
            options.interval = std::chrono::milliseconds(std::stoi(argv[i + 1]));
        }
    }
    sluice::MpmcRing<int, 16> ring;
    (void)ring.tryPush(1);
    sluice::Running<Mapper> mapper({"mapper"});
    const auto toMapper = bus.subscribe<Scan>(
        [&](const Scan& scan) { (void)mapper.post(scan, sluice::Priority::low); });
    const auto poses = bus.subscribe<Pose>([](const Pose& /*pose*/) {});
    const auto stops = bus.subscribe<Stop>([](const Stop& /*stop*/) {});

    sluice::Inspector inspector;
    const auto watchBus = inspector.watch("control", bus);
    const auto watchMapper = inspector.watch("mapper", mapper);
    const auto watchRing = inspector.watch("frames", ring);
    const auto watchThreads = inspector.watch("threads", sluice::readThreads);
    inspector.addFlow("laser", "control", "Scan");
    inspector.addFlow("wheels", "control", "Pose");
    inspector.addFlow("button", "control", "Stop");
    inspector.addFlow("control", "mapper");
    const sluice::LivePage page(inspector, options);
    std::thread publisher(publish);
    std::thread consumer([] { bus.run(); });
    std::printf("%s\n", page.address().c_str());
    std::fflush(stdout);

    for (std::string command; std::getline(std::cin, command) && command != "end";) {
        scansPerStep = command == "flood" ? 40 : command == "calm" ? 1 : 0;
        if (command == "pause") {  // then all numbers stand still
            std::this_thread::sleep_for(50ms);
            while (bus.sizeApprox() != 0 || mapper.sizeApprox() != 0 || mapper.isAwake()) {
                std::this_thread::sleep_for(1ms);
            }
        }
        while (command == "flood" && mapper.statistics().total().full == 0) {
            std::this_thread::sleep_for(1ms);
        }
        const auto counts = bus.statistics().total();
        const auto scans = mapper.statistics().total();
        std::printf(
            "{\"published\": %llu, \"delivered\": %llu, \"handled\": %llu, \"full\": %llu}\n",
            static_cast<unsigned long long>(counts.published),
            static_cast<unsigned long long>(counts.delivered),
            static_cast<unsigned long long>(scans.delivered),
            static_cast<unsigned long long>(scans.full));
        std::fflush(stdout);
    }
    bus.stop();
    publisher.join();
    consumer.join();
}
