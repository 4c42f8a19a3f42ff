#include "notes.hpp"
#include "station.hpp"

#include "support/watchdog.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>

// Links that a server stops, closes or denies.

namespace sluice::test {
namespace {

using namespace std::chrono_literals;
using nats::LinkState;
using nats::NatsOptions;
using nats::NatsRoute;
using nats::SendResult;

std::string onlyFor(const std::string& password) {
    return "authorization { user: robot, password: " + password + " }\n" + NatsServer::withStreams;
}

/// A bridge whose links libnats has closed, because the server has refused its password twice.
struct RefusedStation {
    RefusedStation() {
        server.kill();
        await([&] { return station.bridge.state(Priority::high) == LinkState::disconnected; });
    }
    static NatsOptions options(const NatsServer& of) {
        NatsOptions made = durableOptionsFor(of, "sender");
        made.user = "robot";
        made.password = "first";
        made.durable.outboxMessages = 8;
        return made;
    }
    void refuse() {
        server.startWith(onlyFor("second"));
        await([&] { return station.bridge.state(Priority::high) == LinkState::closed; });
    }

    const Watchdog watchdog{[](std::FILE*) {}};
    NatsServer server{onlyFor("first")};
    Station station{options(server)};
    nats::Outlet<Position> outlet =
        station.bridge.outlet<Position>({"position", 1, nats::Profile::durable});
};

TEST(BrokenLinkTest, AClosedLinkAcceptsNothing) {
    RefusedStation refused;
    EXPECT_EQ(refused.outlet.send(Position{}, Priority::high), SendResult::ok);
    refused.refuse();
    EXPECT_EQ(refused.outlet.send(Position{}, Priority::high), SendResult::closed);
    EXPECT_FALSE(refused.station.bridge.close(10ms));
    EXPECT_EQ(refused.station.bridge.statistics().abandoned, 1U);
}

TEST(BrokenLinkTest, AClosedLinkEndsTheWaitForRoom) {
    RefusedStation refused;
    while (refused.outlet.send(Position{}, Priority::high) == SendResult::ok) {
    }
    SendResult result = SendResult::ok;
    std::thread waiting([&] {
        result = refused.outlet.sendFor(std::chrono::hours::max(), Position{}, Priority::high);
    });
    refused.refuse();
    waiting.join();
    EXPECT_EQ(result, SendResult::closed);
}

// The window has one slot, so a message without an answer would hold back all later ones.
TEST(BrokenLinkTest, ADeniedMessageIsUndeliverableAndHoldsBackNoOther) {
    const Watchdog watchdog{[](std::FILE*) {}};
    const NatsServer server("authorization { users = [ { user: robot, password: right, "
                            "permissions: { publish: { deny: \"fleet.high.secret\" } } } ] }\n" +
                            std::string(NatsServer::withStreams));
    Notes notes;
    NatsOptions options = durableOptionsFor(server, "sender");
    options.user = "robot";
    options.password = "right";
    options.durable.inFlight = 1;
    options.observer = &notes;
    Station sender(options);
    auto secret = sender.bridge.outlet<Position>({"secret", 1, nats::Profile::durable});
    auto allowed = sender.bridge.outlet<Position>({"position", 1, nats::Profile::durable});
    EXPECT_EQ(secret.send(Position{1, 0.5}, Priority::high), SendResult::ok);
    EXPECT_EQ(allowed.send(Position{2, 0.5}, Priority::high), SendResult::ok);
    EXPECT_TRUE(sender.bridge.close(60s));
    const nats::NatsStatistics sent = sender.bridge.statistics();
    EXPECT_EQ(sent.undeliverable, 1U);
    EXPECT_EQ(sent.acknowledged, 1U);
    EXPECT_TRUE(notes.has("fleet.high.secret"));
}

// The server stands still until the end of the test, and the buffers of the connection are full.
TEST(BrokenLinkTest, AServerThatReadsNothingEndsNeitherSendingNorClosing) {
    const Watchdog watchdog{[](std::FILE*) {}};
    const NatsServer server;
    NatsOptions options = optionsFor(server);
    options.connectTimeout = 100ms;
    options.writeTimeout = 100ms;
    Station sender(options);
    auto outlet = sender.bridge.outlet<Position>({"position"});
    server.stop();
    SendResult result = SendResult::ok;
    while (result == SendResult::ok) {
        result = outlet.send(Position{});
    }
    EXPECT_EQ(result, SendResult::congested);
    await([&] { return sender.bridge.state(Priority::medium) == LinkState::disconnected; });
    EXPECT_FALSE(sender.bridge.close(100ms));
}

}  // namespace
}  // namespace sluice::test
