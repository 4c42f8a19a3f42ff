#include "bridged_bus.hpp"
#include "nats_server.hpp"
#include "station.hpp"

#include "support/watchdog.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

namespace sluice::test {
namespace {

using namespace std::chrono_literals;
using nats::LinkState;
using nats::NatsOptions;
using nats::NatsRoute;
using nats::OutletResult;

const NatsRoute durable{"position", 1, nats::Profile::durable};

class SendForTest : public testing::Test {
protected:
    SendForTest() {
        server.kill();
        await([&] { return sender.bridge.state(Priority::high) == LinkState::disconnected; });
        while (outlet.send(Position{}, Priority::high) == OutletResult::ok) {
            ++accepted;
        }
    }

    static NatsOptions smallOutbox(const NatsServer& of) {
        NatsOptions options = durableOptionsFor(of, "sender");
        options.durable.outboxMessages = 20;
        return options;
    }

    const Watchdog watchdog{[](std::FILE*) {}};
    NatsServer server{NatsServer::withStreams};
    Station sender{smallOutbox(server)};
    nats::Outlet<Position> outlet = sender.bridge.outlet<Position>(durable);
    std::uint64_t accepted = 0;
};

TEST_F(SendForTest, WaitsForRoom) {
    std::atomic<int> sent{0};
    std::thread waiting([&] {
        for (int i = 0; i < 100; ++i) {
            sent +=
                outlet.sendFor(1h, Position{i, 0.5}, Priority::high) == OutletResult::ok ? 1 : 0;
        }
    });
    server.start();
    waiting.join();
    EXPECT_EQ(sent.load(), 100);
    EXPECT_TRUE(sender.bridge.close(60s));
    EXPECT_EQ(sender.bridge.statistics().acknowledged, accepted + 100);
    EXPECT_EQ(sender.bridge.statistics().congested, 1U) << "a call that waits counts once at most";
}

// Room for 28 messages: one of 3 ends of a reservation wakes a thread, and there is room for a low
// message while the outbox holds fewer than 16.
TEST(OutboxTest, AWaitingThreadGoesOnAlthoughOthersKeepTheirReservations) {
    const Watchdog watchdog{[](std::FILE*) {}};
    const NatsServer server(NatsServer::withStreams);
    NatsOptions options = durableOptionsFor(server, "sender");
    options.durable.outboxMessages = 28;
    nats::detail::Link rest(options, "rest");
    nats::detail::Link high(options, "high");
    nats::detail::Outbox outbox(rest, high, options);
    std::vector<nats::detail::Outbox::Reservation> others(16);
    for (auto& each : others) {
        ASSERT_EQ(outbox.reserve(Priority::high, each), OutletResult::ok);
    }
    OutletResult result = OutletResult::closed;
    std::thread waiting([&] {
        nats::detail::Outbox::Reservation own;
        result = outbox.reserveUntil(Park::Clock::time_point::max(), Priority::low, own);
    });
    others.pop_back();
    waiting.join();
    EXPECT_EQ(result, OutletResult::ok);
    (void)rest.close(0ms);
    (void)high.close(0ms);
}

TEST_F(SendForTest, LooksOnceWithoutTime) {
    EXPECT_EQ(outlet.sendFor(0s, Position{}, Priority::high), OutletResult::congested);
    EXPECT_EQ(outlet.sendFor(-1s, Position{}, Priority::high), OutletResult::congested);
    EXPECT_EQ(outlet.sendFor(1ms, Position{}, Priority::low), OutletResult::congested);
    EXPECT_EQ(sender.bridge.statistics().congested, 4U);
}

TEST_F(SendForTest, EndsWhenTheBridgeIsClosed) {
    OutletResult result = OutletResult::ok;
    std::thread waiting(
        [&] { result = outlet.sendFor(std::chrono::hours::max(), Position{}, Priority::high); });
    EXPECT_FALSE(sender.bridge.close(10ms));
    waiting.join();
    EXPECT_EQ(result, OutletResult::closed);
}

TEST_F(SendForTest, IsSendInTheCoreProfile) {
    server.start();
    await([&] { return sender.bridge.state(Priority::medium) == LinkState::connected; });
    auto core = sender.bridge.outlet<Position>({"core"});
    EXPECT_EQ(core.sendFor(1h, Position{}), OutletResult::ok);
}

}  // namespace
}  // namespace sluice::test
