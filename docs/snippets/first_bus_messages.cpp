#include <sluice/bus.hpp>

#include <cstddef>
#include <cstdio>
#include <string>

struct Temperature {
    int sensor;
    double celsius;
};
struct Stop {
    std::string reason;
};

using Machine = sluice::Messages<Temperature, Stop>;

// Hundreds of KiB: give it static storage or a place on the heap.
sluice::Bus<Machine> bus;

int main() {
    double last = 0;
    const auto readings =
        bus.subscribe<Temperature>([&](const Temperature& reading) { last = reading.celsius; });
    const auto stops = bus.subscribe<Stop>([](const Stop& stop, const auto& header) {
        std::printf("stop: %s, from %u\n", stop.reason.c_str(), header.sender);
    });

    (void)bus.publish(Temperature{1, 85.5}, sluice::Priority::low);
    (void)bus.publish(Stop{"too hot"}, {sluice::Priority::high, 7});  // 7 is the sender

    const std::size_t handled = bus.process();  // the stop comes first
    return handled == 2 && last == 85.5 ? 0 : 1;
}
