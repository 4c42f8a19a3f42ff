#pragma once

#include "nats_server.hpp"

#include <sluice/bridge/nats/nats_bridge.hpp>

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <memory>
#include <vector>

namespace sluice::test {

struct Position {
    int robot = 0;
    double x = 0;
};
struct Picture {
    std::array<unsigned char, 2000> pixels{};
};

struct BridgedTraits : FullBusTraits {
    static constexpr bool origins = true;
    static constexpr std::size_t depth = 64;
};
using TestBus = Bus<Messages<Position, Picture>, BridgedTraits>;
using TestBridge = nats::NatsBridge<TestBus>;

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
