#pragma once

#include "bridged_bus.hpp"
#include "nats_server.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <vector>

namespace sluice::test {

inline constexpr std::chrono::seconds patience(20);

inline nats::NatsOptions optionsFor(const NatsServer& server) {
    nats::NatsOptions options;
    options.url = server.url();
    options.reconnectWait = std::chrono::milliseconds(10);
    options.reconnectJitter = std::chrono::milliseconds(10);
    return options;
}

/// A bus with a bridge, and what its consumer has seen.
struct Station {
    explicit Station(const NatsServer& server) : bridge(*bus, optionsFor(server)) {}

    /// Consumes until so many positions have been seen.
    void consume(std::size_t count) {
        while (seen.size() < count) {
            (void)bus->waitFor(std::chrono::milliseconds(10));
            (void)bus->process();
        }
    }
    void send(int robot, Priority priority = Priority::medium) {
        ASSERT_EQ(bus->publish(Position{robot, 0.5}, priority), PublishResult::ok);
        (void)bus->process();
    }

    std::unique_ptr<TestBus> bus = std::make_unique<TestBus>();
    std::vector<int> seen;
    std::vector<Priority> priorities;
    Subscription handler =
        bus->subscribe<Position>([this](const Position& position, const TestBus::Header& header) {
            seen.push_back(position.robot);
            priorities.push_back(header.priority);
        });
    TestBridge bridge;
};

}  // namespace sluice::test
