// A bus in a program that lives in asio: its descriptor is one more thing that the io_context waits
// for, beside timers and sockets.

#include <sluice/bus.hpp>
#include <sluice/wait/event_fd_wait.hpp>

#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/steady_timer.hpp>
#include <chrono>
#include <cstdio>
#include <system_error>
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

/// Handles the bus inside of an io_context until the bus is closed and empty.
class BusReader {
public:
    explicit BusReader(asio::io_context& loop) : readable_(loop, bus.waiting().descriptor()) {}
    // The descriptor belongs to the bus, so asio must not close it.
    ~BusReader() { readable_.release(); }
    BusReader(const BusReader&) = delete;
    BusReader& operator=(const BusReader&) = delete;

    void read() {
        do {
            bus.process();
        } while (bus.waitFor(0s));  // false: the next publication makes the descriptor readable
        if (!bus.isDrained()) {
            readable_.async_wait(asio::posix::stream_descriptor::wait_read,
                                 [this](const std::error_code& error) {
                                     if (!error) {
                                         read();
                                     }
                                 });
        }
    }

private:
    asio::posix::stream_descriptor readable_;
};

}  // namespace

int main() {
    int sum = 0;
    const auto subscription =
        bus.subscribe<Order>([&](const Order& order) { sum += order.number; });

    asio::io_context loop;
    BusReader reader(loop);
    reader.read();

    std::thread producer;
    asio::steady_timer timer(loop, 1ms);  // asio's own work goes on beside the bus
    timer.async_wait([&producer](const std::error_code&) {
        producer = std::thread([] {
            for (int i = 1; i <= 100; ++i) {
                (void)bus.publish(Order{i});
            }
            bus.close();
        });
    });

    loop.run();  // returns when the timer has fired and the bus is drained
    producer.join();
    std::printf("sum %d\n", sum);
    return sum == 5050 ? 0 : 1;
}
