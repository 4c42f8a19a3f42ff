// Six queues, each where it fits: sensors that are merged by time, workers that share the load,
// checkers that share the sensors, a display that needs only the newest value, the last readings
// for a diagnosis, and a report that must never refuse a line.

#include <sluice/queue.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

namespace {

struct Reading {
    std::uint64_t time = 0;
    int value = 0;
    std::size_t sensor = 0;
};

struct OneProducer : sluice::OverwriteRingTraits {
    static constexpr bool manyProducers = false;
};

constexpr std::size_t sensors = 3;
constexpr std::size_t workers = 2;
constexpr std::uint64_t readingsEach = 1000;

}  // namespace

int main() {
    // A few long-lived producers, and only the order of each one matters: a lane for each.
    sluice::BlockingQueue<sluice::MpscLanes<Reading>> arriving(256);
    // Several threads take messages out.
    sluice::BlockingQueue<sluice::MpmcRing<Reading, 64>> work;
    // Several threads take messages out, but handle those of one sensor in their order.
    sluice::BlockingQueue<sluice::MpmcLanes<Reading>> checks(256);
    // Only the newest value counts. The dispatcher alone writes it.
    sluice::Latest<Reading, 1> newest;
    // The last readings, for a diagnosis after a failure. The dispatcher alone pushes.
    sluice::OverwriteRing<Reading, 8, OneProducer> recent;
    // Bursts must not be refused, and the reader takes everything in one batch.
    sluice::SegmentQueue<std::string> report;

    std::atomic<std::uint64_t> clock{0};
    std::vector<std::thread> sources;
    for (std::size_t sensor = 0; sensor < sensors; ++sensor) {
        sources.emplace_back([&clock, sensor, producer = arriving.producer(),
                              checked = checks.producer()]() mutable {
            for (std::uint64_t i = 0; i < readingsEach; ++i) {
                const std::uint64_t now = clock.fetch_add(1);
                (void)producer.push(Reading{now, static_cast<int>(now % 100), sensor});
                (void)checked.push(Reading{now, static_cast<int>(now % 100), sensor});
            }
        });
    }
    std::thread dispatcher([&] {
        const auto timeOf = [](const Reading& reading) { return reading.time; };
        const auto dispatch = [&](const Reading& reading) {
            (void)newest.set(reading);
            (void)recent.tryPush(reading);
            (void)work.push(reading);
        };
        while (arriving.consumeOrdered(timeOf, dispatch) != 0) {
        }
        work.close();
    });
    std::atomic<std::uint64_t> handled{0};
    std::array<std::thread, workers> crew;
    for (std::thread& worker : crew) {
        worker = std::thread([&] {
            const auto handle = [&](const Reading& reading) {
                handled.fetch_add(1);
                if (reading.value == 99) {
                    (void)report.tryPush("high at " + std::to_string(reading.time));
                }
            };
            while (work.consume(handle, 16) != 0) {
            }
        });
    }
    // Plain: no two threads handle readings of one sensor simultaneously.
    std::array<std::uint64_t, sensors> next{};
    std::array<std::uint64_t, sensors> late{};
    std::array<std::thread, workers> checkers;
    for (std::thread& checker : checkers) {
        checker = std::thread([&] {
            const auto check = [&](const Reading& reading) {
                late[reading.sensor] += reading.time < next[reading.sensor] ? 1 : 0;
                next[reading.sensor] = reading.time + 1;
            };
            while (checks.consume(check, 16) != 0) {
            }
        });
    }

    for (std::thread& source : sources) {
        source.join();
    }
    arriving.close();
    checks.close();
    dispatcher.join();
    for (std::size_t i = 0; i < workers; ++i) {
        crew[i].join();
        checkers[i].join();
    }

    const std::size_t reported = report.consume([](const std::string&) {});
    const Reading* const last = newest.update();
    std::uint64_t oldest = 0;
    const std::size_t kept =
        recent.consume([&](const Reading& reading) { oldest = reading.time; }, 1);
    std::printf("%llu readings handled, %zu reported, the newest is of %llu, kept since %llu\n",
                static_cast<unsigned long long>(handled.load()), reported,
                static_cast<unsigned long long>(last == nullptr ? 0 : last->time),
                static_cast<unsigned long long>(oldest));
    const bool good = late == decltype(late){} && handled == sensors * readingsEach &&
                      last != nullptr && reported == sensors * readingsEach / 100 && kept == 1 &&
                      recent.dropped() == sensors * readingsEach - 8;
    return good ? 0 : 1;
}
