// Processes that are killed at random points. SLUICE_FAULT_ROUNDS is the number of kills; 10 by
// default.
#include "load.hpp"
#include "notes.hpp"
#include "peer.hpp"
#include "station.hpp"
#include "streams_of_server.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace sluice::nats {
namespace {

using namespace std::chrono_literals;
using namespace test;

const NatsRoute durable{"position", 1, Profile::durable};

/// Checks that each message was delivered once, and that each further delivery was a duplicate or
/// was refused.
void expectEachDeliveryCounted(const Station& receiver, int accepted) {
    const NatsStatistics got = receiver.bridge.statistics();
    EXPECT_EQ(got.delivered, static_cast<std::uint64_t>(accepted));
    EXPECT_EQ(got.received, got.delivered + got.duplicates + got.refused);
}

TEST(FaultTest, AServerThatIsKilledLosesNothing) {
    NatsServer server(NatsServer::withStreams);
    Notes notes;
    NatsOptions options = durableOptionsFor(server, "sender");
    options.observer = &notes;
    Station sender(options);
    // The first repetitions come earlier, because each kill loses messages and acknowledgements.
    NatsOptions patient = durableOptionsFor(server, "receiver");
    patient.durable.redeliverAfter = 1h;
    Station receiver(patient);
    receiver.bridge.importType<Position>(durable);
    Flood flood(sender, durable);
    Consumer consumer(receiver);
    for (int round = 0; round < faultRounds(10); ++round) {
        workForAWhile();
        const long reconnects = notes.count("high connected");
        server.kill();
        workForAWhile();
        server.start();
        await([&] { return notes.count("high connected") > reconnects; });
        EXPECT_LE(StreamsOfServer(server).unacknowledgedBy("fleet_high", "receiver-position-high"),
                  patient.durable.pullBatch);
    }
    const int accepted = flood.stop();
    consumer.stop();
    consumeAll(receiver, accepted);
    EXPECT_TRUE(sender.bridge.close(patience));
    const NatsStatistics sent = sender.bridge.statistics();
    EXPECT_EQ(sent.acknowledged, static_cast<std::uint64_t>(accepted));
    expectEachDeliveryCounted(receiver, accepted);
}

TEST(FaultTest, AServerThatStopsLosesNothing) {
    NatsServer server(NatsServer::withStreams);
    Station sender(durableOptionsFor(server, "sender"));
    Station receiver(durableOptionsFor(server, "receiver"));
    receiver.bridge.importType<Position>(durable);
    Flood flood(sender, durable);
    Consumer consumer(receiver);
    // Longer than ackWait and redeliverAfter.
    const auto stop = faultRounds(10) > 10 ? 10'000ms : 1'500ms;
    workForAWhile();
    server.stop();
    std::this_thread::sleep_for(stop);
    server.resume();
    workForAWhile();
    const int accepted = flood.stop();
    consumer.stop();
    consumeAll(receiver, accepted);
    // The server had no answer for longer than ackWait.
    EXPECT_GE(sender.bridge.statistics().resent, 1U);
    expectEachDeliveryCounted(receiver, accepted);
}

/// Adds the numbers that one run of a receiver has handled. Checks that it has handled none twice.
void addHandled(std::set<int>& all, const std::string& path) {
    const std::vector<int> numbers = numbersIn(path);
    const std::set<int> ofStart(numbers.begin(), numbers.end());
    EXPECT_EQ(ofStart.size(), numbers.size()) << path;
    all.insert(ofStart.begin(), ofStart.end());
}

// Messages that a receiver has handled and not acknowledged are delivered again to its next start.
TEST(FaultTest, AReceiverThatIsKilledMissesNothing) {
    const NatsServer server(NatsServer::withStreams);
    const TemporaryFolder folder;
    Station sender(durableOptionsFor(server, "sender"));
    {  // registers the name
        NatsRoute route = durable;
        route.untilHandled = true;
        Station first(durableOptionsFor(server, "receiver"));
        first.bridge.importType<Position>(route);
    }
    Flood flood(sender, durable);
    std::set<int> all;
    for (int round = 0; round < faultRounds(10); ++round) {
        const std::string handled = folder / std::to_string(round);
        {
            const Peer receiver({"receive", server.url(), handled});
            await([&] { return !numbersIn(handled).empty(); });
            workForAWhile();
        }
        addHandled(all, handled);
    }
    const int accepted = flood.stop();
    const std::string handled = folder / "last";
    {
        const Peer receiver({"receive", server.url(), handled});
        await([&] {
            return sender.bridge.statistics().held == 0 && messagesIn(server, "fleet_high") == 0;
        });
    }
    addHandled(all, handled);
    EXPECT_EQ(all, upTo(accepted));  // no gap over all starts
}

// Each message that a killed sender's outbox had accepted is on its disk.
TEST(FaultTest, ASenderThatIsKilledLosesNothing) {
    const NatsServer server(NatsServer::withStreams);
    const TemporaryFolder folder;
    const std::string accepted = folder / "accepted";
    Station receiver(durableOptionsFor(server, "receiver"));
    receiver.bridge.importType<Position>(durable);
    Consumer consumer(receiver);
    for (int round = 0; round < faultRounds(10); ++round) {
        const std::size_t before = numbersIn(accepted).size();
        const Peer sender({"send", server.url(), accepted, folder / "outbox"});
        await([&] { return numbersIn(accepted).size() > before; });
        workForAWhile();
    }
    NatsOptions options = durableOptionsFor(server, "sender");
    options.durable.outboxFolder = folder / "outbox";
    Station last(options);
    EXPECT_TRUE(last.bridge.close(patience));
    await([&] { return messagesIn(server, "fleet_high") == 0; });
    consumer.stop();
    while (receiver.bus->process() != 0) {
    }
    const std::set<int> seen(receiver.seen.begin(), receiver.seen.end());
    for (const int number : numbersIn(accepted)) {
        EXPECT_EQ(seen.count(number), 1U) << number;
    }
    EXPECT_EQ(receiver.seen.size(), seen.size());
    EXPECT_EQ(receiver.bridge.statistics().gaps, 0U);
}

}  // namespace
}  // namespace sluice::nats
