// The code of docs/guide/bus.md.
#include <sluice/bus.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

namespace {

struct Temperature {
    int sensor;
    double celsius;
};
struct Stop {
    std::string reason;
};

using Machine = sluice::Messages<Temperature, Stop>;

// A quarter of a MiB: give it static storage or a place on the heap.
sluice::Bus<Machine> bus;

bool firstMessages() {
    double last = 0;
    const auto readings =
        bus.subscribe<Temperature>([&](const Temperature& reading) { last = reading.celsius; });
    const auto stops = bus.subscribe<Stop>([](const Stop& stop, const auto& header) {
        std::printf("stop: %s, from %u\n", stop.reason.c_str(), header.sender);
    });

    (void)bus.publish(Temperature{1, 85.5}, sluice::Priority::low);
    (void)bus.publish(Stop{"too hot"}, {sluice::Priority::high, 7});

    return bus.process() == 2 && last == 85.5;  // the stop came first
}

bool results() {
    Stop stop{"a long text, which is not copied when the message is refused"};
    switch (bus.publish(std::move(stop), sluice::Priority::high)) {
    case sluice::PublishResult::ok:
        break;  // it will be delivered, or counted as dropped or discarded
    case sluice::PublishResult::full:
    case sluice::PublishResult::refused:
    case sluice::PublishResult::closed:
        return !stop.reason.empty();  // it is still here
    }
    return bus.discard() == 1;
}

bool visitor() {
    (void)bus.publish(Temperature{2, 20});
    double sum = 0;
    const std::size_t handled = bus.processWith(sluice::overload(
        [&](const Temperature& reading) { sum += reading.celsius; },
        [](Stop& stop, const auto& header) {
            std::printf("%s %s\n", sluice::toString(header.priority), stop.reason.c_str());
        }));
    return handled == 1 && sum == 20;
}

struct Telemetry : sluice::FullBusTraits {
    static constexpr std::size_t depth = 256;
    static constexpr std::array<sluice::BusOverflow, sluice::priorityCount> overflow{
        sluice::BusOverflow::dropOldest,  // low: the newest sample is worth more than the oldest
        sluice::BusOverflow::reject,      // medium: the publisher decides
        sluice::BusOverflow::block};      // high: waits for room
    static constexpr sluice::TimeStamp timeStamp = sluice::TimeStamp::exact;
};

bool traits() {
    static sluice::Bus<Machine, Telemetry> telemetry;
    for (int i = 0; i < 1000; ++i) {
        (void)telemetry.publish(Temperature{i, 20}, sluice::Priority::low);
    }
    const auto low = telemetry.statistics().ofPriority(sluice::Priority::low);
    return low.published == 1000 && low.dropped == 847 && low.queued() == 153;
}

bool consumerThread() {
    static sluice::Bus<Machine> own;
    int seen = 0;
    std::thread consumer(
        [&] { own.runWith(sluice::partial([&](const Temperature&) { ++seen; })); });
    for (int i = 0; i < 1000; ++i) {
        while (own.publish(Temperature{i, 20}) != sluice::PublishResult::ok) {
            std::this_thread::yield();
        }
    }
    const bool inTime = own.drain(std::chrono::steady_clock::now() + std::chrono::minutes(1));
    consumer.join();
    return inTime && seen == 1000;
}

}  // namespace

int main() {
    const std::array<bool, 5> all{firstMessages(), results(), visitor(), traits(),
                                  consumerThread()};
    for (const bool good : all) {
        if (!good) {
            return 1;
        }
    }
    return 0;
}
