// A first bus: sensors flood it, an emergency stop overtakes all that they have left in it, and the
// accounts tell the fate of every message.

#include <sluice/bus.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <thread>

namespace {

struct Reading {
    double celsius;
};
struct Stop {
    const char* reason;
};
using Machine = sluice::Bus<sluice::Messages<Reading, Stop>>;

Machine bus;  // hundreds of KiB, so not on the stack

/// Publishes as fast as it can. A refused reading is lost: the next one is as good.
void sense(std::uint32_t sensor) {
    for (double celsius = 20;; celsius += 0.001) {
        const auto result = bus.publish(Reading{celsius}, {sluice::Priority::low, sensor});
        if (result == sluice::SendResult::closed) {
            return;
        }
        if (result != sluice::SendResult::ok) {
            std::this_thread::yield();
        }
    }
}

}  // namespace

int main() {
    bool isTooHot = false;
    bool isStopped = false;
    int readingsBetween = 0;

    const auto readings = bus.subscribe<Reading>([&](const Reading& reading, const auto& header) {
        readingsBetween += isTooHot && !isStopped ? 1 : 0;
        if (reading.celsius > 40 && !isTooHot) {
            isTooHot = true;
            (void)bus.publish(Stop{"too hot"}, {sluice::Priority::high, header.sender});
        }
    });
    const auto stops = bus.subscribe<Stop>([&](const Stop& stop, const auto& header) {
        isStopped = true;
        std::printf("stop: %s, says sensor %u; it overtook up to %zu readings\n", stop.reason,
                    header.sender, bus.sizeApprox() - 1);
        bus.close();  // the sensors hear of it, and run() returns when what is left is handled
    });

    std::thread first(sense, 1U);
    std::thread second(sense, 2U);
    bus.run();
    first.join();
    second.join();

    const auto total = bus.statistics().total();
    const auto count = [](std::uint64_t n) { return static_cast<unsigned long long>(n); };
    std::printf("%llu attempted = %llu accepted + %llu rejected; %llu delivered\n",
                count(total.attempted()), count(total.published), count(total.rejected()),
                count(total.delivered));
    return isStopped && readingsBetween == 0 && total.published == total.delivered ? 0 : 1;
}
