// The blocks of docs/guide/traces.md.
#include <sluice/actor.hpp>
#include <sluice/bus.hpp>
#include <sluice/inspect.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>

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

void writeWhenAHandlerHangs() {
    sluice::Watchdog watchdog(std::chrono::milliseconds(20),
                              [](const char*, auto) { recorder.write("hang.perfetto-trace"); });
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

int main() {
    const std::string path = "/tmp/sluice-traces-guide";
    std::remove(path.c_str());
    std::remove((path + ".1").c_str());
    writeWhenAHandlerHangs();
    return record(path) && recordAnObject() && handleWithProbes() ? 0 : 1;
}
