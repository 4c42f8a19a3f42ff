// Three servers that each store each message. The leader is killed once, and with
// SLUICE_FAULT_ROUNDS=200 ten times.
#include "load.hpp"
#include "nats_cluster.hpp"
#include "station.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

namespace sluice::nats {
namespace {

using namespace test;

const NatsRoute durable{"position", 1, Profile::durable};

/// A station with its route. Servers that have just started refuse streams until they have chosen a
/// leader, so it tries again.
std::unique_ptr<Station> stationOf(const NatsCluster& cluster, const std::string& name) {
    NatsOptions options;
    options.url = cluster.urls();
    options.reconnectWait = std::chrono::milliseconds(10);
    options.durable.stream = "fleet";
    options.durable.name = name;
    options.durable.replicas = 3;
    options.durable.ackWait = std::chrono::milliseconds(500);
    options.durable.redeliverAfter = std::chrono::milliseconds(1000);
    while (true) {
        try {
            auto station = std::make_unique<Station>(options);
            station->bridge.importType<Position>(durable);
            return station;
        } catch (const std::runtime_error&) {
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
        }
    }
}

TEST(ClusterTest, ALeaderThatIsKilledLosesNothing) {
    const NatsCluster cluster;
    const auto receiver = stationOf(cluster, "receiver");
    const auto sender = stationOf(cluster, "sender");
    Flood flood(*sender, durable);
    Consumer consumer(*receiver);
    for (int round = 0; round < faultRounds(20) / 20; ++round) {
        const auto stored = [&] { return sender->bridge.statistics().acknowledged; };
        const auto before = stored();
        await([&] { return stored() > before; });
        workForAWhile();
        NatsServer& leader = cluster.leaderOf("fleet_high");
        leader.kill();
        // The other two servers choose a leader and continue.
        const auto atDeath = stored() + sender->bridge.statistics().held;
        await([&] { return stored() > atDeath; });
        leader.start();
    }
    const int accepted = flood.stop();
    consumer.stop();
    consumeAll(*receiver, accepted);
    EXPECT_TRUE(sender->bridge.close(patience));
    EXPECT_EQ(sender->bridge.statistics().acknowledged, static_cast<std::uint64_t>(accepted));
}

}  // namespace
}  // namespace sluice::nats
