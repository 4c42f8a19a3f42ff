#pragma once

#include "station.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <random>
#include <set>
#include <thread>

namespace sluice::test {

/// The number of times that a process is killed.
inline int faultRounds(int usual) {
    const char* const text = std::getenv("SLUICE_FAULT_ROUNDS");
    return text != nullptr ? std::atoi(text) : usual;
}

/// Lets the processes work for a random time, so that the fault comes at a random point.
inline void workForAWhile() {
    static std::mt19937 random(std::random_device{}());
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 40'000));
}

inline std::set<int> upTo(int end) {
    std::set<int> all;
    for (int i = 0; i < end; ++i) {
        all.insert(i);
    }
    return all;
}

/// Sends high messages 0, 1, 2, ... on a thread of its own, as fast as the outbox takes them.
class Flood {
public:
    Flood(Station& station, const nats::NatsRoute& route)
        : outlet_(station.bridge.outlet<Position>(route)), thread_([this] { run(); }) {}
    Flood(const Flood&) = delete;
    Flood& operator=(const Flood&) = delete;
    ~Flood() { (void)stop(); }

    /// The number of accepted messages.
    int stop() {
        isStopped_ = true;
        if (thread_.joinable()) {
            thread_.join();
        }
        return accepted_;
    }

private:
    void run() {
        while (!isStopped_) {
            if (outlet_.send({accepted_, 0.0}, Priority::high) == nats::OutletResult::ok) {
                ++accepted_;
            }
            std::this_thread::sleep_for(
                std::chrono::microseconds(200));  // a pace at which the server can store them
        }
    }

    nats::Outlet<Position> outlet_;
    std::atomic<bool> isStopped_{false};
    int accepted_ = 0;  ///< written by the thread
    std::thread thread_;
};

inline void consumeAll(Station& station, int count) {
    station.consume(static_cast<std::size_t>(count));
    EXPECT_EQ(std::set<int>(station.seen.begin(), station.seen.end()), upTo(count));
    EXPECT_EQ(station.seen.size(), static_cast<std::size_t>(count));
    // Waits, because the importer may count a message a moment after the handler has seen it.
    await([&] {
        const nats::NatsStatistics s = station.bridge.statistics();
        return s.gaps == 0 && s.delivered >= station.seen.size();
    });
}

/// Consumes while the faults happen, on a thread of its own.
class Consumer {
public:
    explicit Consumer(Station& station) : station_(station), thread_([this] { run(); }) {}
    Consumer(const Consumer&) = delete;
    Consumer& operator=(const Consumer&) = delete;
    ~Consumer() { stop(); }
    void stop() {
        isStopped_ = true;
        if (thread_.joinable()) {
            thread_.join();
        }
    }

private:
    void run() {
        while (!isStopped_) {
            (void)station_.bus->waitFor(std::chrono::milliseconds(10));
            (void)station_.bus->process();
        }
    }
    Station& station_;
    std::atomic<bool> isStopped_{false};
    std::thread thread_;
};

}  // namespace sluice::test
