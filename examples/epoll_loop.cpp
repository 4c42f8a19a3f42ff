// One thread, one epoll loop: a timer of the system, a bus and a queue in the same epoll_wait().
// Two threads publish, and push their newest positions. The loop sleeps while there is nothing to
// do.

#include <sluice/bus.hpp>
#include <sluice/queue/blocking_queue.hpp>
#include <sluice/queue/overwrite_ring.hpp>
#include <sluice/wait/event_fd_wait.hpp>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <thread>
#include <unistd.h>

namespace {

using namespace std::chrono_literals;

struct Reading {
    int sensor;
    double celsius;
};

struct LoopTraits : sluice::FullBusTraits {
    using Wait = sluice::EventFdWait;
};
using Readings = sluice::Bus<sluice::Messages<Reading>, LoopTraits>;

Readings bus;  // hundreds of KiB, so not on the stack

struct Position {
    int x;
};
// Only the newest two positions count.
sluice::BlockingQueue<sluice::OverwriteRing<Position, 2>, sluice::EventFdWait> positions;

int tickEvery(std::chrono::nanoseconds period) {
    const int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    itimerspec times{};
    times.it_interval.tv_nsec = static_cast<long>(period.count());
    times.it_value = times.it_interval;
    timerfd_settime(timer, 0, &times, nullptr);
    return timer;
}

void watch(int loop, int descriptor) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = descriptor;
    epoll_ctl(loop, EPOLL_CTL_ADD, descriptor, &event);
}

/// Handles messages until there are none. The last waitFor() arms the descriptor: from then on the
/// next publication makes it readable.
void processAll() {
    do {
        bus.process();
    } while (bus.waitFor(0s));
}

/// The same for a queue. The last consumeFor() arms the descriptor.
template <class Queue, class Handler>
void consumeAll(Queue& queue, const Handler& handler) {
    while (queue.consumeFor(0s, handler) != 0) {
    }
}

}  // namespace

int main() {
    int readings = 0;
    int x = 0;
    const auto move = [&](const Position& position) { x = position.x; };
    std::uint64_t ticks = 0;
    const auto subscription = bus.subscribe<Reading>([&](const Reading&) { ++readings; });

    const auto sense = [](int sensor) {
        for (int i = 0; i < 1000; ++i) {
            while (bus.publish(Reading{sensor, 20.0 + i}) != sluice::SendResult::ok) {
                std::this_thread::yield();  // the room is full: this program waits for the loop
            }
            (void)positions.push(Position{i});
        }
    };
    std::thread first(sense, 1);
    std::thread second(sense, 2);

    const int loop = epoll_create1(EPOLL_CLOEXEC);
    const int timer = tickEvery(5ms);
    const int messages = bus.waiting().descriptor();
    const int newest = positions.waiting().descriptor();
    watch(loop, timer);
    watch(loop, messages);
    watch(loop, newest);

    processAll();  // once before the loop: it arms the descriptor
    consumeAll(positions, move);
    while (readings < 2000 || x < 999 || ticks < 3) {
        epoll_event event{};
        epoll_wait(loop, &event, 1, -1);
        if (event.data.fd == messages) {
            processAll();
        } else if (event.data.fd == newest) {
            consumeAll(positions, move);
        } else {
            std::uint64_t expired = 0;
            if (read(timer, &expired, sizeof expired) == sizeof expired) {
                ticks += expired;
            }
        }
    }

    first.join();
    second.join();
    epoll_ctl(loop, EPOLL_CTL_DEL, messages, nullptr);  // the bus will close it
    epoll_ctl(loop, EPOLL_CTL_DEL, newest, nullptr);
    close(timer);
    close(loop);
    std::printf("%d readings, at least 3 ticks\n", readings);
    return readings == 2000 ? 0 : 1;
}
