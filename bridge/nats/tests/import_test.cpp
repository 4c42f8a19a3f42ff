// What one bridge may import, and how it counts.
#include "station.hpp"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <stdexcept>
#include <string>

namespace sluice::nats {
namespace {

using namespace test;

const NatsRoute durable{"position", 1, Profile::durable};
const NatsRoute untilHandled{"position", 1, Profile::durable, true};

template <class Function>
std::string failureOf(Function&& function) {
    try {
        function();
    } catch (const std::runtime_error& error) {
        return error.what();
    }
    return "no failure";
}

// Both imports would share one consumer of the server, and see gaps.
TEST(ImportTest, ASecondImportOfASubjectIsOneLine) {
    const NatsServer server(NatsServer::withStreams);
    Station station(durableOptionsFor(server, "receiver"));
    const std::string line = "nats: the bridge imports position already";
    for (const NatsRoute& route : {NatsRoute{"position"}, durable}) {
        station.bridge.importType<Position>(route);
        EXPECT_EQ(failureOf([&] { station.bridge.importType<Position>(route); }), line);
        NatsRoute later = route;
        later.schemaVersion = 2;
        EXPECT_EQ(failureOf([&] { station.bridge.importType<Position>(later); }), line);
    }
    station.bridge.importType<Position>({"elsewhere"});
}

// The handlers of the type would be counted for both.
TEST(ImportTest, ATypeThatIsImportedUntilHandledHasOneImport) {
    const NatsServer server(NatsServer::withStreams);
    const std::string line = "nats: elsewhere: a type with untilHandled has one import";
    for (const bool isFirst : {true, false}) {
        Station station(durableOptionsFor(server, "receiver"));
        NatsRoute other{"elsewhere", 1, Profile::durable, !isFirst};
        station.bridge.importType<Position>(isFirst ? untilHandled : durable);
        EXPECT_EQ(failureOf([&] { station.bridge.importType<Position>(other); }), line);
        other.untilHandled = true;
        station.bridge.importType<Picture>({"picture", 1, Profile::durable, true});
    }
}

struct DroppingTraits : BridgedTraits {
    static constexpr std::array<BusOverflow, priorityCount> overflow{
        BusOverflow::dropOldest, BusOverflow::reject, BusOverflow::reject};
};
using DroppingBus = Bus<Messages<Position>, DroppingTraits>;

// The handlers of a dropped message never return.
TEST(ImportTest, UntilHandledNeedsABusThatDropsNothing) {
    const NatsServer server(NatsServer::withStreams);
    const auto bus = std::make_unique<DroppingBus>();
    NatsBridge<DroppingBus> bridge(*bus, durableOptionsFor(server, "receiver"));
    EXPECT_EQ(failureOf([&] { bridge.importType<Position>(untilHandled); }),
              "nats: position: untilHandled needs a bus that drops no message, and this one has "
              "BusOverflow::dropOldest");
    bridge.importType<Position>(durable);
}

}  // namespace
}  // namespace sluice::nats
