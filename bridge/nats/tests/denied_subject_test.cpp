#include "notes.hpp"
#include "station.hpp"

#include "support/watchdog.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

// Subjects that the server does not let a bridge publish.

namespace sluice::nats {
namespace {

using namespace std::chrono_literals;
using namespace test;

/// Settings of a server whose user "robot" may not publish these subjects: "\"a\", \"b\"".
std::string without(const std::string& subjects) {
    return "max_payload: 1MB\nauthorization { users = [ { user: robot, password: right, "
           "permissions: { publish: { deny: [" +
           subjects + "] } } } ] }\n" + NatsServer::withStreams;
}

NatsOptions robotOf(const NatsServer& server) {
    NatsOptions options = durableOptionsFor(server, "sender");
    options.user = "robot";
    options.password = "right";
    return options;
}

// The server denies each message. It denies the last one after all others.
TEST(DeniedSubjectTest, ManyDenialsAreOneLine) {
    const Watchdog watchdog{[](std::FILE*) {}};
    const NatsServer server(without("\"one.medium\", \"two.medium\""));
    Notes notes;
    NatsOptions options = robotOf(server);
    options.observer = &notes;
    Station sender(options);
    auto one = sender.bridge.outlet<Position>({"one"});
    for (int i = 0; i < 100; ++i) {
        EXPECT_EQ(one.send(Position{}), OutletResult::ok);
    }
    EXPECT_EQ(sender.bridge.outlet<Position>({"two"}).send(Position{}), OutletResult::ok);
    await([&] { return notes.has("two.medium"); });
    EXPECT_EQ(notes.count("one.medium"), 1);
}

// Both denials arrive together, before any message is sent again.
TEST(DeniedSubjectTest, EachOfTwoIsGivenUpAndHoldsBackNoOther) {
    const Watchdog watchdog{[](std::FILE*) {}};
    const NatsServer server(without("\"fleet.high.one\", \"fleet.high.two\""));
    Notes notes;
    NatsOptions options = robotOf(server);
    options.observer = &notes;
    options.durable.inFlight = 2;
    options.durable.ackWait = 1h;
    for (int round = 0; round < 10; ++round) {
        Station sender(options);
        for (const char* const subject : {"one", "two", "position", "position"}) {
            auto outlet = sender.bridge.outlet<Position>({subject, 1, Profile::durable});
            EXPECT_EQ(outlet.send(Position{}, Priority::high), OutletResult::ok);
        }
        EXPECT_TRUE(sender.bridge.close(60s));
        EXPECT_EQ(sender.bridge.statistics().undeliverable, 2U);
        EXPECT_EQ(sender.bridge.statistics().acknowledged, 2U);
        EXPECT_TRUE(notes.has("fleet.high.one"));
    }
}

}  // namespace
}  // namespace sluice::nats
