// Several senders of one route in one bridge. They share its sequences: two messages with one
// sequence would be one message for the server and for importers.

#include "bridged_bus.hpp"
#include "nats_server.hpp"
#include "station.hpp"

#include "support/watchdog.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <set>
#include <stdexcept>
#include <string>

namespace sluice::test {
namespace {

using nats::NatsRoute;
using nats::OutletResult;
using nats::Profile;

class SharedRouteTest : public testing::TestWithParam<Profile> {
protected:
    const Watchdog watchdog{[](std::FILE*) {}};
    const NatsServer server{NatsServer::withStreams};
    Station sender{durableOptionsFor(server, "sender")};
    Station receiver{durableOptionsFor(server, "receiver")};
    const NatsRoute route{"position", 1, GetParam()};
};

TEST_P(SharedRouteTest, TwoOutletsAndAnExportLoseNothing) {
    receiver.bridge.importType<Position>(route);
    sender.bridge.exportType<Position>(route);
    auto first = sender.bridge.outlet<Position>(route);
    auto second = sender.bridge.outlet<Position>(route);
    for (int i = 0; i < 12; i += 3) {
        ASSERT_EQ(first.send(Position{i, 0.5}, Priority::high), OutletResult::ok);
        ASSERT_EQ(second.send(Position{i + 1, 0.5}, Priority::high), OutletResult::ok);
        sender.send(i + 2, Priority::high);
    }
    EXPECT_TRUE(sender.bridge.close(std::chrono::seconds(60)));
    receiver.consume(12);
    EXPECT_EQ(std::set<int>(receiver.seen.begin(), receiver.seen.end()).size(), 12U);
    EXPECT_EQ(receiver.bridge.statistics().gaps, 0U);
    EXPECT_EQ(receiver.bridge.statistics().duplicates, 0U);
}

INSTANTIATE_TEST_SUITE_P(Profiles, SharedRouteTest,
                         testing::Values(Profile::core, Profile::durable), [](const auto& each) {
                             return each.param == Profile::core ? "Core" : "Durable";
                         });

// The type in the envelope is a hash of 32 bits. These two subjects have the same one.
TEST(RouteTest, TwoSubjectsWithOneNumberAreOneLine) {
    const NatsServer server;
    Station sender(server);
    ASSERT_EQ(nats::detail::typeOf({"type.16718"}), nats::detail::typeOf({"type.632262"}));
    (void)sender.bridge.outlet<Position>({"type.16718"});
    try {
        (void)sender.bridge.outlet<Position>({"type.632262"});
        ADD_FAILURE() << "it is accepted";
    } catch (const std::runtime_error& error) {
        EXPECT_NE(std::string(error.what()).find("type.16718"), std::string::npos) << error.what();
        EXPECT_NE(std::string(error.what()).find("type.632262"), std::string::npos) << error.what();
    }
}

}  // namespace
}  // namespace sluice::test
