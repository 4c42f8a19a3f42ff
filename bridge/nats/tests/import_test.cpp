// What one bridge may import, and how it counts.
#include "notes.hpp"
#include "small_disk.hpp"
#include "station.hpp"

#include <sluice/bus/drop_oldest.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace sluice::nats {
namespace {

using namespace test;

const NatsRoute durable{"position", 1, Profile::durable};
const NatsRoute untilHandled{"position", 1, Profile::durable, true};

// Both imports would share one consumer of the server, so each would miss messages.
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

/// Options of several programs that share the messages of one name.
NatsOptions sharedOptionsFor(const NatsServer& server) {
    NatsOptions options = durableOptionsFor(server, "workers");
    options.durable.shareWork = true;
    options.durable.pullBatch = 4;
    return options;
}

TEST(ImportTest, ProgramsShareTheMessagesOfAName) {
    const NatsServer server(NatsServer::withStreams);
    Notes notes;
    NatsOptions options = sharedOptionsFor(server);
    options.observer = &notes;
    const NatsRoute route{"position", 1, Profile::durable};
    Station one(options);
    Station other(options);
    one.bridge.importType<Position>(route);
    other.bridge.importType<Position>(route);
    Station sender(durableOptionsFor(server, "sender"));
    int sent = 0;
    for (; sent < 100 || one.seen.empty() || other.seen.empty(); ++sent) {
        EXPECT_EQ(sender.bridge.outlet<Position>(route).sendFor(patience, {sent, 0.0}),
                  OutletResult::ok);
        (void)one.bus->process();
        (void)other.bus->process();
    }
    await([&] {
        (void)one.bus->process();
        (void)other.bus->process();
        return one.seen.size() + other.seen.size() >= static_cast<std::size_t>(sent);
    });
    std::set<int> all(one.seen.begin(), one.seen.end());
    all.insert(other.seen.begin(), other.seen.end());
    EXPECT_EQ(all.size(), static_cast<std::size_t>(sent));
    EXPECT_EQ(one.bridge.statistics().gaps + other.bridge.statistics().gaps, 0U);
    EXPECT_EQ(notes.count("also receives the messages for durable.name"), 0);
}

TEST(ImportTest, AProgramThatEndsLeavesItsMessagesToTheOthersOfItsName) {
    const NatsServer server(NatsServer::withStreams);
    const NatsOptions options = sharedOptionsFor(server);
    NatsRoute route{"position", 1, Profile::durable};
    route.untilHandled = true;
    auto ending = std::make_unique<Station>(options);
    ending->bridge.importType<Position>(route);
    Station sender(durableOptionsFor(server, "sender"));
    for (int i = 0; i < 8; ++i) {
        EXPECT_EQ(sender.bridge.outlet<Position>(route).send({i, 0.0}), OutletResult::ok);
    }
    // It has as many as it may have, and handles none.
    await([&] { return ending->bridge.statistics().delivered == 4; });
    Station other(options);
    other.bridge.importType<Position>(route);
    other.consume(4);
    ending.reset();
    other.consume(8);
    EXPECT_EQ(std::set<int>(other.seen.begin(), other.seen.end()).size(), 8U);
}

TEST(ImportTest, DurableImportsShareOneThreadForEachLink) {
    const NatsServer server(NatsServer::withStreams);
    Station station(durableOptionsFor(server, "receiver"));
    const auto threads = [] {
        const std::filesystem::directory_iterator all("/proc/self/task");
        return std::distance(begin(all), end(all));
    };
    station.bridge.importType<Position>(durable);
    const std::ptrdiff_t before = threads();
    for (const char* const subject : {"one", "two", "three"}) {
        station.bridge.importType<Position>({subject, 1, Profile::durable});
    }
    EXPECT_EQ(threads(), before);
}

// Low and medium messages share a link.
TEST(ImportTest, APriorityWithoutRoomDelaysNoOther) {
    const NatsServer server(NatsServer::withStreams);
    Station receiver(durableOptionsFor(server, "receiver"));
    receiver.bridge.importType<Position>(durable);
    while (receiver.bus->publish(Position{}, Priority::low) == SendResult::ok) {
    }
    Station sender(durableOptionsFor(server, "sender"));
    auto outlet = sender.bridge.outlet<Position>(durable);
    EXPECT_EQ(outlet.send({7, 0.0}, Priority::low), OutletResult::ok);
    EXPECT_TRUE(sender.bridge.flush(patience));
    EXPECT_EQ(outlet.send({8, 0.0}, Priority::medium), OutletResult::ok);
    await([&] { return receiver.bridge.statistics().delivered == 1; });
    EXPECT_EQ(receiver.bus->process(1), 1U);
    EXPECT_EQ(receiver.seen, std::vector<int>{8});
    receiver.consume(receiver.bus->sizeApprox() + 2);
    EXPECT_EQ(receiver.seen.back(), 7);
}

TEST(ImportTest, ABusThatClosesBeforeTheBridgeIsOneLine) {
    const NatsServer server(NatsServer::withStreams);
    Notes notes;
    NatsOptions options = durableOptionsFor(server, "receiver");
    options.observer = &notes;
    Station receiver(options);
    receiver.bridge.importType<Position>(durable);
    Station sender(durableOptionsFor(server, "sender"));
    sender.bridge.exportType<Position>(durable);
    receiver.bus->close();
    sender.send(1);
    await([&] { return receiver.bridge.statistics().refused != 0; });
    EXPECT_EQ(notes.count("nats: position.medium: the bus is closed, and imported messages stay in "
                          "the stream"),
              1);
}

struct NoSenderTraits : BridgedTraits {
    static constexpr bool senders = false;
};
struct NoPriorityTraits : BridgedTraits {
    static constexpr bool priorities = false;
};

/// The import with `untilHandled` is refused, and the same import without it works.
template <class Traits>
void expectThatUntilHandledIsRefused() {
    const NatsServer server(NatsServer::withStreams);
    const auto bus = std::make_unique<Bus<Messages<Position>, Traits>>();
    NatsBridge<Bus<Messages<Position>, Traits>> bridge(*bus, durableOptionsFor(server, "receiver"));
    EXPECT_EQ(failureOf([&] { bridge.template importType<Position>(untilHandled); }),
              "nats: position: untilHandled needs a bus whose traits set priorities and senders");
    bridge.template importType<Position>(durable);
}

TEST(ImportTest, UntilHandledNeedsSenders) {
    expectThatUntilHandledIsRefused<NoSenderTraits>();
    expectThatUntilHandledIsRefused<NoPriorityTraits>();
}

struct DroppingTraits : BridgedTraits {
    static constexpr std::array<Overflow, priorityCount> overflow{
        Overflow::dropOldest, Overflow::reject, Overflow::reject};
};
using DroppingBus = Bus<Messages<Position>, DroppingTraits>;

// The handlers of a dropped message never return.
TEST(ImportTest, UntilHandledNeedsABusThatDropsNothing) {
    const NatsServer server(NatsServer::withStreams);
    const auto bus = std::make_unique<DroppingBus>();
    NatsBridge<DroppingBus> bridge(*bus, durableOptionsFor(server, "receiver"));
    EXPECT_EQ(failureOf([&] { bridge.importType<Position>(untilHandled); }),
              "nats: position: untilHandled needs a bus that drops no message, and this one has "
              "Overflow::dropOldest");
    bridge.importType<Position>(durable);
}

TEST(ImportTest, TheBooksBalanceAtEachMoment) {
    const NatsServer server;
    Station receiver(server);
    receiver.bridge.importType<Position>({"position"});
    Station sender(server);
    auto outlet = sender.bridge.outlet<Position>({"position"});
    constexpr int count = 5000;
    for (int i = 0; i < count; ++i) {
        ASSERT_EQ(outlet.send({i, 0.0}), OutletResult::ok);
    }
    NatsStatistics s;
    do {
        s = receiver.bridge.statistics();
        ASSERT_EQ(s.received, s.delivered + s.refused + s.looped + s.malformed + s.otherSchema +
                                  s.late + s.duplicates);
    } while (s.received != count);
}

// The handlers of the bridge do not run.
TEST(ImportTest, AVisitorOfTheBusExportsNothing) {
    const NatsServer server;
    Station sender(server);
    sender.bridge.exportType<Position>({"position"});
    ASSERT_EQ(sender.bus->publish(Position{1, 0.0}), SendResult::ok);
    EXPECT_EQ(sender.bus->processWith([](const auto&) {}), 1U);
    EXPECT_EQ(sender.bridge.statistics().sent, 0U);
}

TEST(ImportTest, AMessageOfTheBusThatTheDiskRefusesIsOneGap) {
    const SmallDisk disk(64);
    if (!disk) {
        GTEST_SKIP() << "mounting a file system needs more rights";
    }
    const NatsServer server(NatsServer::withStreams);
    Station receiver(durableOptionsFor(server, "receiver"));
    receiver.bridge.importType<Position>(durable);
    NatsOptions options = durableOptionsFor(server, "sender");
    options.durable.outboxFolder = disk.path() + "/outbox";
    options.durable.onDiskFrom = Priority::medium;
    Station sender(options);
    sender.bridge.exportType<Position>(durable);
    sender.send(0);
    const std::string filler = disk.path() + "/filler";
    std::ofstream(filler) << std::string(64 * 1024, 'x');
    while (sender.bridge.statistics().notOnDisk == 0) {
        sender.send(1);
    }
    std::filesystem::remove(filler);
    sender.send(2);
    receiver.consume(sender.bridge.statistics().sent);
    EXPECT_EQ(receiver.seen.back(), 2);
    EXPECT_TRUE(receiver.bridge.close(patience));
    EXPECT_EQ(receiver.bridge.statistics().gaps, 1U);
}

}  // namespace
}  // namespace sluice::nats
