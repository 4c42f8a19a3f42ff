#pragma once

#include "bridged_bus.hpp"
#include "nats_server.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace sluice::test {

inline constexpr std::chrono::seconds patience(20);

/// Polls until the condition holds, because neither a bridge nor libnats offers an event to wait
/// for.
template <class Condition>
void await(Condition&& condition) {
    while (!condition()) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

inline nats::NatsOptions optionsFor(const NatsServer& server) {
    nats::NatsOptions options;
    options.url = server.url();
    options.reconnectWait = std::chrono::milliseconds(10);
    options.reconnectJitter = std::chrono::milliseconds(10);
    return options;
}

/// Options with a durable profile and short times, so that messages are soon sent and delivered
/// again.
inline nats::NatsOptions durableOptionsFor(const NatsServer& server, const std::string& name) {
    nats::NatsOptions options = optionsFor(server);
    options.durable.stream = "fleet";
    options.durable.name = name;
    options.durable.ackWait = std::chrono::milliseconds(500);
    options.durable.retryWait = std::chrono::milliseconds(10);
    options.durable.redeliverAfter = std::chrono::milliseconds(1000);
    return options;
}

/// A message as a bridge of the origin 42 would send it.
inline std::vector<unsigned char> message(std::uint64_t sequence,
                                          const nats::NatsRoute& route = {"position"},
                                          std::uint64_t origin = 42) {
    const Position position{static_cast<int>(sequence), 1.0};
    wire::Envelope envelope;
    envelope.type = nats::detail::typeOf(route);
    envelope.priority = static_cast<std::uint8_t>(Priority::medium);
    envelope.origin = origin;
    envelope.sequence = sequence;
    std::vector<unsigned char> bytes(200);
    wire::Buffer body(bytes.data() + wire::envelopeSize, bytes.size() - wire::envelopeSize);
    EXPECT_TRUE(wire::encode(position, body));
    bytes.resize(wire::envelopeSize + body.size());
    wire::encodeEnvelope(envelope, bytes.data(), static_cast<std::uint32_t>(body.size()));
    return bytes;
}

/// A bus with a bridge, and the messages that its consumer has seen.
struct Station {
    explicit Station(const NatsServer& server) : Station(optionsFor(server)) {}
    explicit Station(const nats::NatsOptions& options) : bridge(*bus, options) {}

    /// Consumes until this many positions have been seen.
    void consume(std::size_t count) {
        while (seen.size() < count) {
            (void)bus->waitFor(std::chrono::milliseconds(10));
            (void)bus->process();
        }
    }
    void send(int robot, Priority priority = Priority::medium) {
        ASSERT_EQ(bus->publish(Position{robot, 0.5}, priority), SendResult::ok);
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
