// A bus and a queue in a program that lives in asio: their descriptors are two more things that the
// io_context waits for, beside timers and sockets.

#include <sluice/bus.hpp>
#include <sluice/queue/blocking_queue.hpp>
#include <sluice/queue/overwrite_ring.hpp>
#include <sluice/wait/event_fd_wait.hpp>

#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/steady_timer.hpp>
#include <chrono>
#include <cstdio>
#include <functional>
#include <system_error>
#include <thread>
#include <utility>

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

struct Position {
    int x;
};
// Only the newest position counts.
sluice::BlockingQueue<sluice::OverwriteRing<Position, 1>, sluice::EventFdWait> positions;

/// Handles a bus or a queue inside of an io_context until it is closed and empty.
template <class Source>
class Reader {
public:
    /// `handleAll` handles messages until there are none; its last wait arms the descriptor.
    Reader(asio::io_context& loop, Source& source, std::function<void()> handleAll)
        : source_(source),
          handleAll_(std::move(handleAll)),
          readable_(loop, source.waiting().descriptor()) {}
    // The descriptor belongs to the source, so asio must not close it.
    ~Reader() { readable_.release(); }
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;

    void read() {
        handleAll_();
        if (!source_.isDrained()) {
            readable_.async_wait(asio::posix::stream_descriptor::wait_read,
                                 [this](const std::error_code& error) {
                                     if (!error) {
                                         read();
                                     }
                                 });
        }
    }

private:
    Source& source_;
    std::function<void()> handleAll_;
    asio::posix::stream_descriptor readable_;
};

}  // namespace

int main() {
    int sum = 0;
    const auto subscription =
        bus.subscribe<Order>([&](const Order& order) { sum += order.number; });

    int x = 0;
    const auto move = [&](const Position& position) { x = position.x; };

    asio::io_context loop;
    Reader orderReader(loop, bus, [] {
        do {
            bus.process();
        } while (bus.waitFor(0s));  // false: the next publication makes the descriptor readable
    });
    Reader positionReader(loop, positions, [&] {
        while (positions.consumeFor(0s, move) != 0) {  // 0: the next push does
        }
    });
    orderReader.read();
    positionReader.read();

    std::thread producer;
    asio::steady_timer timer(loop, 1ms);  // asio's own work goes on beside the bus
    timer.async_wait([&producer](const std::error_code&) {
        producer = std::thread([] {
            for (int i = 1; i <= 100; ++i) {
                (void)bus.publish(Order{i});
                (void)positions.push(Position{i});
            }
            bus.close();
            positions.close();
        });
    });

    loop.run();  // returns when the timer has fired, and bus and queue are drained
    producer.join();
    std::printf("sum %d, at %d\n", sum, x);
    return sum == 5050 && x == 100 ? 0 : 1;
}
