// A bus as a microcontroller has it: static, with room for 256 messages, on one processor. An
// interrupt publishes, the main loop consumes. `./dev ram` builds this file for a Cortex-M4 and
// prints what it takes.

#include <sluice/base/single_core_platform.hpp>
#include <sluice/bus/bus.hpp>
#include <sluice/wait/busy_spin.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace {

struct Reading {
    std::uint16_t channel;
    std::int16_t value;
    std::uint32_t tick;
};
struct Fault {
    std::uint8_t code;
    std::uint8_t details[15];
};

using OneCore = sluice::SingleCorePlatform<sluice::ThisProgramRunsOnOneCore>;

struct McuTraits : sluice::FullBusTraits {
    using Platform = OneCore;
    using Wait = sluice::BasicBusySpin<OneCore>;
    using Index = std::uint32_t;
    // Readings are of low priority, and faults of high priority.
    static constexpr std::array<std::size_t, sluice::priorityCount> rooms{128, 64, 64};
    static constexpr std::size_t maxHandlers = 4;
    static constexpr std::size_t handlerSize = 4 * sizeof(void*);
    static constexpr std::size_t cacheLineSize = 8;  // there is no second core to keep apart
    static constexpr sluice::TimeStamp timeStamp = sluice::TimeStamp::none;
};

sluice::Bus<sluice::Messages<Reading, Fault>, McuTraits> bus;

/// What a timer would call: a reading each time, and now and then something is wrong.
void onTimer(std::uint32_t tick) {
    (void)bus.publish(Reading{1, static_cast<std::int16_t>(tick % 100), tick},
                      sluice::Priority::low);
    if (tick % 50 == 0) {
        (void)bus.publish(Fault{static_cast<std::uint8_t>(tick / 50), {}}, sluice::Priority::high);
    }
}

}  // namespace

int main() {
    std::uint32_t readings = 0;
    std::uint32_t faults = 0;
    bool faultCameFirst = true;
    const auto onReading = bus.subscribe<Reading>([&](const Reading&) { ++readings; });
    const auto onFault = bus.subscribe<Fault>([&](const Fault&) {
        ++faults;
        faultCameFirst = faultCameFirst && readings % 100 == 0;
    });
    for (std::uint32_t tick = 1; tick <= 1000; ++tick) {
        onTimer(tick);
        if (tick % 100 == 0) {
            while (bus.process() != 0) {
            }
        }
    }
    const bool allThere = readings == 1000 && faults == 20;
    const bool balanced = bus.statistics().total().published == 1020;
    return allThere && faultCameFirst && balanced ? 0 : 1;
}
