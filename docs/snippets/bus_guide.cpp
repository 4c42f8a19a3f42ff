// The code of docs/guide/bus.md, except its first block: first_bus_messages.cpp.
#include <sluice/bus.hpp>
#include <sluice/inspect.hpp>
#include <sluice/queue/blocking_queue.hpp>
#include <sluice/queue/mpmc_ring.hpp>
#include <sluice/wait/event_fd_wait.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#if defined(__linux__)
#include <sys/epoll.h>
#include <unistd.h>
#endif

namespace {

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

bool publishing() {
    Stop stop{"moved in"};
    (void)bus.publish(std::move(stop), {sluice::Priority::high, 7});  // 7 is the sender
    (void)bus.emplace<Stop>("built in its slot");                     // medium, as nothing is said
    (void)bus.emplaceWith<Stop>(sluice::Priority::high, "the same, urgent");
    const std::array<Temperature, 3> batch{{{1, 20}, {2, 21}, {3, 22}}};
    const std::size_t accepted =
        bus.publishAll(batch.begin(), batch.end(), {sluice::Priority::low});
    return accepted == batch.size() && bus.discard() == 6;
}

bool results() {
    Stop stop{"a long text, which is not copied when the message is refused"};
    switch (bus.publish(std::move(stop), sluice::Priority::high)) {
    case sluice::SendResult::ok:
        break;  // it will be delivered, or counted as dropped or discarded
    case sluice::SendResult::full:
    case sluice::SendResult::closed:
        return !stop.reason.empty();  // it is still here
    }
    return bus.discard() == 1;
}

bool whyRefused() {
    for (int i = 0; i < 5000; ++i) {
        (void)bus.publish(Temperature{i, 20}, sluice::Priority::low);
    }

    const auto statistics = bus.statistics();
    for (const auto priority :
         {sluice::Priority::low, sluice::Priority::medium, sluice::Priority::high}) {
        const auto counts = statistics.ofPriority(priority);
        std::cout << sluice::toString(priority) << ": attempted " << counts.attempted()
                  << ", published " << counts.published << ", full " << counts.full << ", closed "
                  << counts.closed << ", queued " << counts.queued() << '\n';
    }

    const auto readings = statistics.of(0, sluice::Priority::low);  // 0: the first of Machine
    const std::size_t queued = statistics.queued[0];
    return queued == bus.roomOf(sluice::Priority::low) && bus.discard() == queued &&
           readings.full > 0;
}

struct Watcher : sluice::BusObserver {
    void pressureChanged(sluice::Pressure before, sluice::Pressure now) noexcept {
        std::printf("%s, was %s\n", sluice::toString(now), sluice::toString(before));
        ++changes;
    }
    std::atomic<int> changes{0};
};
struct Watched : sluice::FullBusTraits {
    static constexpr std::size_t depth = 100;
    using Observer = Watcher;
};

bool pressure() {
    Watcher watcher;  // must outlive the bus
    sluice::Bus<Machine, Watched> watched(watcher);
    while (watched.publish(Temperature{}, sluice::Priority::low) == sluice::SendResult::ok) {
    }
    // 60 are in: low is refused, the others have quotas of their own.
    return watched.pressure() == sluice::Pressure::full && watcher.changes == 3;
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

class Cooler final {
public:
    explicit Cooler(sluice::Bus<Machine>& from) {
        component_.subscribe<Temperature>(from, &Cooler::onTemperature);
        component_.subscribe<Stop>(from, [this](const Stop&) { isOn_ = false; });
    }
    [[nodiscard]] bool isOn() const { return isOn_; }

private:
    void onTemperature(const Temperature& reading) { isOn_ = reading.celsius > 80; }

    bool isOn_ = false;
    sluice::Component<Cooler, 2> component_{*this};  // at most two subscriptions
};

bool component() {
    bool wasOn = false;
    {
        const Cooler cooler(bus);
        (void)bus.publish(Temperature{1, 85.5});
        bus.process();
        wasOn = cooler.isOn();
        (void)bus.publish(Stop{"enough"});
        bus.process();
        wasOn = wasOn && !cooler.isOn();
    }
    return wasOn && bus.subscriptionCount<Stop>() == 0;
}

bool partOfTheTypes() {
    (void)bus.publish(Temperature{1, 85.5});
    (void)bus.publish(Stop{"skipped"});
    double highest = 0;
    bus.processWith(sluice::partial(
        sluice::overload([&](const Temperature& reading) { highest = reading.celsius; })));
    return highest == 85.5 && bus.sizeApprox() == 0;
}

struct Telemetry : sluice::FullBusTraits {
    static constexpr std::size_t depth = 256;
    static constexpr std::array<sluice::Overflow, sluice::priorityCount> overflow{
        sluice::Overflow::dropOldest,  // low: the newest sample is worth more than the oldest
        sluice::Overflow::reject,      // medium: the publisher decides
        sluice::Overflow::block};      // high: waits for a free slot
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

struct Position {
    double x, y;
};
using Sky = sluice::Bus<Machine, Telemetry>;

bool lastValue() {
    static Sky sky;

    double shown = 0;
    sluice::LastValue<Position, Sky> position(sky,
                                              [&](const Position& newest) { shown = newest.x; });
    std::thread consumer([&] { sky.run(); });
    for (int i = 1; i <= 1000; ++i) {
        (void)position.publish(Position{1.0 * i, 0});  // any thread
    }
    sky.close();
    consumer.join();
    const auto retained = position.get();  // any thread: a std::optional<Position>
    return shown == 1000 && retained->x == 1000;
}

bool timeStamps() {
    static sluice::Bus<Machine, Telemetry> stamped;
    std::chrono::nanoseconds age(-1);
    const auto readings =
        stamped.subscribe<Temperature>([&](const Temperature&, const auto& header) {
            age = sluice::Bus<Machine, Telemetry>::Clock::now() - header.timeStamp;
        });
    (void)stamped.publish(Temperature{1, 20});
    return stamped.process() == 1 && age.count() >= 0;
}

struct Image {
    std::size_t size = 0;
    std::array<unsigned char, 512> bytes;
};
std::size_t readSensor(std::array<unsigned char, 512>& bytes) {
    bytes.fill(7);
    return bytes.size();
}

bool loans() {
    static sluice::Bus<sluice::Messages<Image>> camera;
    auto image = sluice::loan<Image>(camera, sluice::Priority::low);  // an Image in its slot
    if (image) {
        image->size = readSensor(image->bytes);
        image.publish();  // without it, the slot is given back when `image` is destroyed
    }
    std::size_t seen = 0;
    camera.processWith([&](const Image& shown) { seen = shown.size; });
    return seen == 512;
}

struct ShortLived : sluice::FullBusTraits {
    static constexpr bool expiry = true;
};

bool messagesThatExpire() {
    static sluice::Bus<Machine, ShortLived> fresh;
    const auto expires = std::chrono::steady_clock::now() + std::chrono::milliseconds(50);
    const sluice::ExpiringOptions<> options{{sluice::Priority::low}, expires};
    (void)fresh.publish(Temperature{1, 20}, options);
    (void)fresh.publish(Temperature{2, 20});  // never expires
    std::this_thread::sleep_until(expires);
    return fresh.process() == 2 && fresh.statistics().total().expired == 1;
}

bool consumerThread() {
    static sluice::Bus<Machine> own;
    int seen = 0;
    std::thread consumer(
        [&] { own.runWith(sluice::partial([&](const Temperature&) { ++seen; })); });
    for (int i = 0; i < 1000; ++i) {
        while (own.publish(Temperature{i, 20}) != sluice::SendResult::ok) {
            std::this_thread::yield();
        }
    }
    const bool inTime = own.drain(std::chrono::steady_clock::now() + std::chrono::minutes(1));
    consumer.join();
    own.stop();  // from any thread, or in a handler: run() returns after this message
    return inTime && seen == 1000;
}

#if defined(__linux__)
struct LoopTraits : sluice::FullBusTraits {
    using Wait = sluice::EventFdWait;
};
using LoopBus = sluice::Bus<Machine, LoopTraits>;

void serve(LoopBus& own, int epoll) {
    epoll_event readable{};
    readable.events = EPOLLIN;
    readable.data.fd = own.waiting().descriptor();
    epoll_ctl(epoll, EPOLL_CTL_ADD, readable.data.fd, &readable);
    for (;;) {
        do {
            own.process();
        } while (own.waitFor(std::chrono::seconds(0)));  // false: from now on the loop is woken
        if (own.isDrained()) {
            break;
        }
        epoll_event event{};
        epoll_wait(epoll, &event, 1, -1);  // sockets and timers may be in it as well
    }
    epoll_ctl(epoll, EPOLL_CTL_DEL, readable.data.fd, nullptr);
}

bool eventLoop() {
    static LoopBus own;
    int seen = 0;
    const auto readings = own.subscribe<Temperature>([&](const Temperature&) { ++seen; });
    std::thread publisher([] {
        for (int i = 0; i < 1000; ++i) {
            (void)own.publish(Temperature{i, 20});
        }
        own.close();
    });
    const int epoll = epoll_create1(EPOLL_CLOEXEC);
    serve(own, epoll);
    close(epoll);
    publisher.join();
    return seen == 1000;
}
#else
bool eventLoop() {
    return true;
}
#endif

using Readings = sluice::Messages<Temperature>;
std::array<sluice::Bus<Readings>, 2> shared;

sluice::SendResult share(const Temperature& reading) {
    const auto key = static_cast<std::size_t>(reading.sensor);
    return shared[key % shared.size()].publish(reading);
}

bool severalConsumers() {
    return share(Temperature{7, 20}) == sluice::SendResult::ok && shared[1].process() == 1;
}

sluice::BlockingQueue<sluice::MpmcRing<Temperature, 64>> work;

bool workers() {
    sluice::Bus<Readings> readings;
    const auto sharing = readings.subscribe<Temperature>(
        [](const Temperature& reading) { (void)work.push(reading); });
    (void)readings.publish(Temperature{7, 20});
    readings.process();

    const auto reading = work.tryPop();  // pop() in each worker
    return reading.has_value() && reading->sensor == 7;
}

struct Stage : sluice::FullBusTraits {
    static constexpr std::array<sluice::Overflow, sluice::priorityCount> overflow{
        sluice::Overflow::block, sluice::Overflow::block, sluice::Overflow::block};
    static constexpr std::chrono::nanoseconds blockLimit = std::chrono::seconds(10);
};

bool pipeline() {
    sluice::Bus<sluice::Messages<Temperature>, Stage> first;
    sluice::Bus<sluice::Messages<Temperature>, Stage> second;
    int arrived = 0;
    std::thread filter([&] {
        first.runWith([&](const Temperature& reading) { (void)second.publish(reading); });
        second.close();
    });
    std::thread sink([&] { second.runWith([&](const Temperature&) { ++arrived; }); });
    for (int i = 0; i < 10000; ++i) {
        (void)first.publish(Temperature{i, 20});
    }
    first.close();
    filter.join();
    sink.join();
    return arrived == 10000;
}

bool metrics() {
    sluice::Inspector inspector;
    const auto watched = inspector.watch("machine", bus);
    std::string page;
    sluice::writeMetrics(inspector.snapshot(), [&](std::string_view text) { page += text; });
    return page.find("sluice_bus_high_water{object=\"machine\"}") != std::string::npos;
}

}  // namespace

int main() {
    const bool all[] = {
        publishing(),     results(),        pressure(),  visitor(),          component(),
        partOfTheTypes(), traits(),         lastValue(), timeStamps(),       messagesThatExpire(),
        loans(),          consumerThread(), eventLoop(), severalConsumers(), workers(),
        metrics(),        whyRefused()};
    for (const bool good : all) {
        if (!good) {
            return 1;
        }
    }
    return pipeline() ? 0 : 1;
}
