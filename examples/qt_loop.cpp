// A bus in a program that lives in Qt's event loop: its descriptor is one more thing that the loop
// waits for, beside timers, sockets and windows.

#include <sluice/bus.hpp>
#include <sluice/wait/event_fd_wait.hpp>

#include <QCoreApplication>
#include <QSocketNotifier>
#include <QTimer>

#include <chrono>
#include <cstdio>
#include <thread>

namespace {

using namespace std::chrono_literals;

struct Order {
    int number;
};

struct LoopTraits : sluice::FullBusTraits {
    using Wait = sluice::EventFdWait;
};
using Orders = sluice::Bus<sluice::Messages<Order>, LoopTraits>;

Orders bus;  // hundreds of KiB, so not on the stack

/// Handles the bus inside of Qt's event loop. It ends the loop when the bus is closed and empty.
class BusReader {
public:
    BusReader() : readable_(bus.waiting().descriptor(), QSocketNotifier::Read) {
        QObject::connect(&readable_, &QSocketNotifier::activated, &readable_, [this] { read(); });
    }

    void read() {
        do {
            bus.process();
        } while (bus.waitFor(0s));  // false: the next publication makes the descriptor readable
        if (bus.isDrained()) {
            readable_.setEnabled(false);
            QCoreApplication::quit();
        }
    }

private:
    QSocketNotifier readable_;
};

}  // namespace

int main(int argc, char** argv) {
    QCoreApplication application(argc, argv);
    int sum = 0;
    const auto subscription =
        bus.subscribe<Order>([&](const Order& order) { sum += order.number; });

    BusReader reader;
    reader.read();  // once before the loop: it arms the descriptor

    std::thread producer;
    QTimer::singleShot(1, [&producer] {  // Qt's own work goes on beside the bus
        producer = std::thread([] {
            for (int i = 1; i <= 100; ++i) {
                (void)bus.publish(Order{i});
            }
            bus.close();
        });
    });

    QCoreApplication::exec();  // returns when the bus is drained
    producer.join();
    std::printf("sum %d\n", sum);
    return sum == 5050 ? 0 : 1;
}
