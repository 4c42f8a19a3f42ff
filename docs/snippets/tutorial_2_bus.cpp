#include <sluice/bus.hpp>

#include <cstdio>
#include <thread>

struct Reading {
    double celsius;
};
struct Stop {
    const char* reason;
};

sluice::Bus<sluice::Messages<Reading, Stop>> bus;  // large, so not on the stack

int main() {
    bool isTooHot = false;
    bool isStopped = false;
    int readingsBefore = 0;  // the stop was published, and not handled yet
    const auto readings = bus.subscribe<Reading>([&](const Reading& reading) {
        readingsBefore += isTooHot && !isStopped ? 1 : 0;
        if (reading.celsius > 60 && !isTooHot) {
            isTooHot = true;
            (void)bus.publish(Stop{"too hot"}, sluice::Priority::high);
        }
    });
    const auto stops = bus.subscribe<Stop>([&](const Stop& stop) {
        std::printf("stop: %s\n", stop.reason);
        isStopped = true;
        bus.close();  // the sensor ends; run() returns after the last message
    });
    std::thread sensor([] {
        for (double celsius = 20;; celsius += 0.01) {
            const auto result = bus.publish(Reading{celsius}, sluice::Priority::low);
            if (result == sluice::SendResult::closed) {
                return;
            }
            if (result != sluice::SendResult::ok) {
                std::this_thread::yield();  // no room: this reading is lost, the next one is newer
            }
        }
    });
    bus.run();  // handles messages on this thread
    sensor.join();
    std::printf("readings before the stop: %d\n", readingsBefore);
    return isStopped && readingsBefore == 0 ? 0 : 1;
}
