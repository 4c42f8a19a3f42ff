// The blocks of docs/guide/traces.md.
#include <sluice/actor.hpp>
#include <sluice/bus.hpp>
#include <sluice/inspect.hpp>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <thread>

#if __has_include(<sys/sdt.h>)
#include <sys/sdt.h>
#else
#define DTRACE_PROBE4(provider, name, a, b, c, d) ((void)(a), (void)(b), (void)(c), (void)(d))
#endif

namespace {

struct Scan {
    double metres = 0;
};
struct Stop {};

struct TracedTraits : sluice::FullBusTraits {
    using Trace = sluice::FlightTrace;
};
using ControlBus = sluice::Bus<sluice::Messages<Scan, Stop>, TracedTraits>;

sluice::FlightRecorder recorder;

bool record(const std::string& path) {
    static ControlBus bus;
    const auto scans = bus.subscribe<Scan>([](const Scan&) { /* ... */ });

    recorder.start(bus, "control");
    (void)bus.publish(Scan{0.4});
    (void)bus.publish(Stop{}, sluice::Priority::high);
    bus.process();
    recorder.write(path);                                  // all events that are still there
    recorder.write(path + ".1", std::chrono::seconds(5));  // those of the last five seconds
    sluice::FlightRecorder::stop(bus);
    return bus.sizeApprox() == 0;
}

/// A stop overtakes the scans that the consumer has not handled. For the picture of the guide.
bool overtake(const std::string& path) {
    using namespace std::chrono_literals;
    sluice::FlightRecorder own;
    static ControlBus bus;
    const auto scans = bus.subscribe<Scan>([](const Scan&) { std::this_thread::sleep_for(4ms); });
    const auto stops = bus.subscribe<Stop>([](const Stop&) { std::this_thread::sleep_for(2ms); });
    own.start(bus, "control");
    std::thread consumer([] { bus.run(); });
    for (int i = 0; i < 6; ++i) {
        (void)bus.publish(Scan{1.0});
        std::this_thread::sleep_for(1ms);
        if (i == 3) {
            (void)bus.publish(Stop{}, sluice::Priority::high);
        }
    }
    bus.close();
    consumer.join();
    return own.write(path);
}

void writeWhenAHandlerHangs() {
    sluice::Watchdog watchdog(std::chrono::milliseconds(20),
                              [](const char*, auto) { recorder.write("hang.perfetto-trace"); });
}

std::atomic<bool> isAsked{false};
struct AskWhenFull : sluice::BusObserver {
    static void pressureChanged(sluice::Pressure /*before*/, sluice::Pressure now) noexcept {
        if (now == sluice::Pressure::full) {
            isAsked = true;
        }
    }
};
struct WatchedTraits : TracedTraits {
    using Observer = AskWhenFull;
};

bool writeIfAsked(const std::string& path) {
    return isAsked.exchange(false) && recorder.write(path);
}

bool writeOnSignal(const std::string& path) {
    std::signal(SIGUSR1, [](int) { isAsked = true; });
    static AskWhenFull observer;
    static sluice::Bus<sluice::Messages<Stop>, WatchedTraits> bus(observer);
    recorder.start(bus, "watched");
    while (bus.tryPublish(Stop{}, sluice::Priority::high) == sluice::SendResult::ok) {
    }
    const bool isFull = writeIfAsked(path + ".3");
    (void)std::raise(SIGUSR1);
    return isFull && writeIfAsked(path + ".4") && !writeIfAsked(path);
}

struct TracedActor : sluice::BasicActorTraits<sluice::FullBusTraits> {
    using Trace = sluice::FlightTrace;
};
struct Motor : sluice::ActiveObject<Motor, sluice::Messages<Stop>, TracedActor> {
    void handle(const Stop& /*stop*/) { isOn = false; }
    bool isOn = true;
};

bool recordAnObject() {
    sluice::Running<Motor> motor;
    recorder.start(motor, "motor");
    return motor.post(Stop{}) == sluice::SendResult::ok;
}

struct UsdtTrace {
    static void record(sluice::TraceStep step, std::size_t type, sluice::Priority priority,
                       std::uint64_t id) noexcept {
        DTRACE_PROBE4(robot, message, static_cast<int>(step), type, static_cast<int>(priority), id);
    }
};
struct ProbedTraits : sluice::FullBusTraits {
    using Trace = UsdtTrace;
};

bool handleWithProbes() {
    static sluice::Bus<sluice::Messages<Stop>, ProbedTraits> bus;
    (void)bus.publish(Stop{});
    return bus.process() == 1;
}

}  // namespace

int main(int argc, char** argv) {
    const std::string path = "/tmp/sluice-traces-guide";
    for (const char* const ending : {"", ".1", ".2", ".3", ".4"}) {
        std::remove((path + ending).c_str());
    }
    if (!overtake(argc > 1 ? argv[1] : path + ".2")) {
        return 1;
    }
    writeWhenAHandlerHangs();
    return writeOnSignal(path) && record(path) && recordAnObject() && handleWithProbes() ? 0 : 1;
}
