// One thread sleeps until a bus, a queue or a timer has something, and handles each in its turn.

#include <sluice/bus.hpp>
#include <sluice/queue.hpp>
#include <sluice/wait.hpp>

#include <chrono>
#include <cstdio>
#include <thread>

namespace {

using namespace std::chrono_literals;

struct Temperature {
    double degrees;
};
struct Command {
    int speed;
};

struct LoopTraits : sluice::FullBusTraits {
    using Wait = sluice::WaitSet::Member;
};

}  // namespace

int main() {
    sluice::WaitSet set;
    sluice::Bus<sluice::Messages<Temperature>, LoopTraits> bus;
    sluice::BlockingQueue<sluice::SpscRing<Command, 16>, sluice::WaitSet::Member> commands;

    double warmest = 0;
    int speed = 0;
    int seconds = 0;
    const auto subscription = bus.subscribe<Temperature>([&](const Temperature& temperature) {
        warmest = temperature.degrees > warmest ? temperature.degrees : warmest;
    });
    set.add(bus, [&] { return bus.process(16); });
    set.add(commands, [&] {
        return commands.tryConsume([&](const Command& command) { speed = command.speed; }, 16);
    });
    const auto clock = set.addTimer(
        sluice::WaitSet::Clock::now(), [&] { ++seconds; }, 1s);

    std::thread sensor([&] {
        for (int i = 0; i < 100; ++i) {
            (void)bus.publish(Temperature{20.0 + i});
        }
        bus.close();
    });
    std::thread operatorsDesk([&] {
        (void)commands.push(Command{7});
        commands.close();
    });

    while (set.size() > 1) {  // until the bus and the queue are closed and drained
        (void)set.wait();
    }
    set.remove(clock);
    sensor.join();
    operatorsDesk.join();
    std::printf("%.0f degrees, speed %d, %s\n", warmest, speed, seconds > 0 ? "on time" : "late");
    return warmest == 119.0 && speed == 7 && seconds > 0 ? 0 : 1;
}
