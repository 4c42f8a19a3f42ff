#include "notes.hpp"
#include "station.hpp"

#include "support/watchdog.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

// Links that a server stops or closes.

namespace sluice::test {
namespace {

/// A message whose encoding takes as long as `work`.
struct Laborious {
    std::function<void()> work;
};

}  // namespace
}  // namespace sluice::test

template <>
struct sluice::wire::Codec<sluice::test::Laborious> {
    static bool encode(const test::Laborious& message, Buffer& to) {
        message.work();
        return to.append("x", 1);
    }
    static DecodeError decode(const unsigned char*, std::size_t, test::Laborious&) {
        return DecodeError::none;
    }
    static std::uint64_t schemaHash() { return 1; }
};

namespace sluice::test {
namespace {

using namespace std::chrono_literals;
using nats::LinkState;
using nats::NatsOptions;
using nats::NatsRoute;
using nats::OutletResult;

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
    EXPECT_EQ(refused.outlet.send(Position{}, Priority::high), OutletResult::ok);
    refused.refuse();
    EXPECT_EQ(refused.outlet.send(Position{}, Priority::high), OutletResult::closed);
    EXPECT_FALSE(refused.station.bridge.close(10ms));
    EXPECT_EQ(refused.station.bridge.statistics().abandoned, 1U);
}

TEST(BrokenLinkTest, AClosedLinkEndsTheWaitForRoom) {
    RefusedStation refused;
    while (refused.outlet.send(Position{}, Priority::high) == OutletResult::ok) {
    }
    OutletResult result = OutletResult::ok;
    std::thread waiting([&] {
        result = refused.outlet.sendFor(std::chrono::hours::max(), Position{}, Priority::high);
    });
    refused.refuse();
    waiting.join();
    EXPECT_EQ(result, OutletResult::closed);
}

TEST(BrokenLinkTest, CloseDoesNotWaitForClosedLinks) {
    RefusedStation refused;
    EXPECT_EQ(refused.outlet.send(Position{}, Priority::high), OutletResult::ok);
    refused.refuse();
    await([&] { return refused.station.bridge.state(Priority::low) == LinkState::closed; });
    EXPECT_FALSE(refused.station.bridge.close(std::chrono::milliseconds::max()));
}

// The server allows the links one subscription each, and ends a link that asks for more.
TEST(BrokenLinkTest, TheObserverHearsWhyALinkIsClosed) {
    const NatsServer server("max_subscriptions: 1");
    Notes notes;
    NatsOptions options = optionsFor(server);
    options.observer = &notes;
    Station station(options);
    EXPECT_NE(failureOf([&] {
                  station.bridge.importType<Position>({"one"});
                  station.bridge.importType<Position>({"two"});
              }),
              "no failure");
    await([&] { return station.bridge.state(Priority::medium) == LinkState::closed; });
    await([&] { return notes.has("ubscriptions"); });
}

// A core outlet sends, while the bridge is closed in good order.
TEST(BrokenLinkTest, AnOrderlyCloseTellsNoTroubleToASender) {
    const NatsServer server;
    for (int round = 0; round < 20; ++round) {
        Notes notes;
        NatsOptions options = optionsFor(server);
        options.observer = &notes;
        Station sender(options);
        sender.bridge.importType<Picture>({"picture"});
        auto outlet = sender.bridge.outlet<Position>({"position"});
        std::atomic<bool> hasBegun{false};
        std::thread sending([&] {
            while (outlet.send(Position{}) != OutletResult::closed) {
                hasBegun = true;
            }
        });
        await([&] { return hasBegun.load(); });
        (void)sender.bridge.close(round % 2 == 0 ? 1ms : 1s);
        sending.join();
        EXPECT_EQ(notes.count("slow or not connected"), 0);
    }
}

/// A server that is not running, and a program that starts without it.
struct EarlyProgram {
    explicit EarlyProgram(const std::string& name) : options(durableOptionsFor(server, name)) {
        options.observer = &notes;
        options.startWithoutServer = true;
    }

    const Watchdog watchdog{[](std::FILE*) {}};
    NatsServer server{NatsServer::withStreams};
    Notes notes;
    NatsOptions options;
};

const NatsRoute durably{"position", 1, nats::Profile::durable};

TEST(BrokenLinkTest, AProgramThatStartsWithoutServerSendsAndReceivesLater) {
    EarlyProgram early("receiver");
    // From now on the server keeps messages for it.
    Station(durableOptionsFor(early.server, "receiver")).bridge.importType<Position>(durably);
    early.server.kill();
    Station receiver(early.options);
    receiver.bridge.importType<Position>(durably);
    receiver.bridge.importType<Position>({"position"});
    early.options.sendBuffer = 1;  // of each link: one message
    early.options.maxMessageSize = 500;
    Station sender(early.options);
    EXPECT_EQ(sender.bridge.state(Priority::high), LinkState::disconnected);
    EXPECT_EQ(sender.bridge.state(Priority::low), LinkState::disconnected);
    EXPECT_EQ(early.notes.count("disconnected"), 4);
    auto outlet = sender.bridge.outlet<Position>(durably);
    for (int i = 0; i < 20; ++i) {
        EXPECT_EQ(outlet.send({i, 0.0}, Priority::high), OutletResult::ok);
    }
    auto core = sender.bridge.outlet<Position>({"other"});
    OutletResult result = OutletResult::ok;
    while (result == OutletResult::ok) {
        result = core.send({});
    }
    EXPECT_EQ(result, OutletResult::congested);
    EXPECT_FALSE(sender.bridge.flush(1ms));

    early.server.start();
    receiver.consume(20);
    // A flush fails if it began before the link was connected.
    await([&] { return sender.bridge.flush(1s) && receiver.bridge.flush(1s); });
    EXPECT_EQ(sender.bridge.state(Priority::high), LinkState::connected);
    EXPECT_EQ(core.send({}), OutletResult::ok);
    EXPECT_EQ(receiver.bridge.statistics().gaps, 0U);
    auto other = sender.bridge.outlet<Position>({"position"});
    EXPECT_EQ(other.send({20, 0.0}), OutletResult::ok);
    receiver.consume(21);
    EXPECT_TRUE(receiver.bridge.close(patience));
    EXPECT_EQ(early.notes.count("deleted"), 0);
}

TEST(BrokenLinkTest, AServerThatRefusesAfterAStartWithoutServerIsOneLine) {
    EarlyProgram early("receiver");
    early.server.kill();
    Station station(early.options);
    station.bridge.importType<Position>(durably);
    auto outlet = station.bridge.outlet<Position>(durably);
    EXPECT_EQ(outlet.send({}, Priority::high), OutletResult::ok);
    early.server.startWith("");
    await([&] {
        return early.notes.has(
            "nats: stream fleet_high: the server has no JetStream; start it with -js");
    });
    EXPECT_EQ(station.bridge.statistics().held, 1U);
}

TEST(BrokenLinkTest, AProgramThatNeverFindsItsServerEnds) {
    EarlyProgram early("sender");
    early.server.kill();
    Station station(early.options);
    EXPECT_EQ(station.bridge.outlet<Position>(durably).send({}), OutletResult::ok);
    EXPECT_EQ(station.bridge.outlet<Position>({"other"}).send({}), OutletResult::ok);
    EXPECT_FALSE(station.bridge.close(10ms));
    EXPECT_EQ(station.bridge.statistics().abandoned, 1U);
    EXPECT_EQ(station.bridge.state(Priority::high), LinkState::closed);
}

TEST(BrokenLinkTest, AConfirmationIsReadyIfTheBridgeIsClosedMeanwhile) {
    EarlyProgram early("sender");
    early.server.kill();
    const Watchdog watchdog([](std::FILE*) {});
    Bus<Messages<Laborious>, BridgedTraits> bus;
    nats::NatsBridge<decltype(bus)> bridge(bus, early.options);
    auto outlet = bridge.outlet<Laborious>(durably);
    const auto close = [&] { std::thread([&] { bridge.close(0ms); }).join(); };
    EXPECT_NE(outlet.confirm(Laborious{close}).get(), OutletResult::ok);
}

/// Handles one message after the other, and each one only after permit().
class SlowReceiver : public nats::detail::Receiver {
public:
    nats::detail::Verdict receive(const unsigned char*, std::size_t) noexcept override {
        ++begun_;
        await([this] { return isPermitted_.load(); });
        return nats::detail::Verdict::taken;
    }
    void permit() { isPermitted_ = true; }
    [[nodiscard]] bool hasBegun() const { return begun_ != 0; }

private:
    std::atomic<int> begun_{0};
    std::atomic<bool> isPermitted_{false};
};

/// A link whose receiver is slow, with 20 messages for it from another link.
struct LinkWithSlowReceiver {
    const NatsServer server;
    Notes notes;
    SlowReceiver slow;
    nats::detail::Link link{optionsWith(server, notes), "rest"};
    nats::detail::Link other{optionsFor(server), "other"};

    /// `backlog` is the number of messages that may wait for the receiver.
    explicit LinkWithSlowReceiver(int backlog) {
        link.subscribe("subject", slow, backlog);
        EXPECT_TRUE(link.flush(patience));
        const unsigned char byte = 1;
        for (int i = 0; i < 20; ++i) {
            EXPECT_TRUE(other.publish("subject", &byte, 1));
        }
    }

    static NatsOptions optionsWith(const NatsServer& server, Notes& notes) {
        NatsOptions options = optionsFor(server);
        options.observer = &notes;
        return options;
    }
};

TEST(BrokenLinkTest, ACloseThatRunsOutOfTimeTellsNoEmptyLine) {
    LinkWithSlowReceiver it(1000);
    await([&] { return it.slow.hasBegun(); });
    std::thread closing([&] { EXPECT_FALSE(it.link.close(100ms)); });
    await([&] { return it.notes.has("nats: "); });
    it.slow.permit();
    closing.join();
    EXPECT_EQ(it.notes.countExactly("nats: "), 0);
}

// libnats keeps an error of the link until the link is closed.
TEST(BrokenLinkTest, AnOrderlyCloseTellsNoTroubleOfEarlier) {
    LinkWithSlowReceiver it(2);
    await([&] { return it.notes.has("messages arrive faster than they are handled"); });
    it.slow.permit();
    EXPECT_TRUE(it.link.close(patience));
    EXPECT_EQ(it.notes.count("nats: "), 1);
}

/// A bridge whose server reads nothing until the end of the test.
struct UnreadStation {
    explicit UnreadStation(std::chrono::milliseconds writeTimeout)
        : sender(options(server, writeTimeout)) {
        server.stop();
    }
    ~UnreadStation() { server.resume(); }
    static NatsOptions options(const NatsServer& of, std::chrono::milliseconds writeTimeout) {
        NatsOptions made = optionsFor(of);
        made.writeTimeout = writeTimeout;
        return made;
    }

    const Watchdog watchdog{[](std::FILE*) {}};
    const NatsServer server;
    Station sender;
};

// The bus' consumer sends until the link is full. If it waited for the server, it would wait for an
// hour.
TEST(BrokenLinkTest, TheConsumerDoesNotWaitForAServerThatReadsNothing) {
    UnreadStation unread(1h);
    unread.sender.bridge.exportType<Picture>({"picture"});
    while (unread.sender.bridge.statistics().unsent == 0) {
        ASSERT_EQ(unread.sender.bus->publish(Picture{}), SendResult::ok);
        (void)unread.sender.bus->process();
    }
    EXPECT_EQ(unread.sender.bridge.state(Priority::medium), LinkState::connected);
    EXPECT_FALSE(unread.sender.bridge.flush(1ms));
    unread.server.resume();
    EXPECT_TRUE(unread.sender.bridge.flush(patience));
}

/// Listens on the port of a killed server, and says nothing.
class MuteServer {
public:
    explicit MuteServer(const std::string& url) : socket_(socket(AF_INET, SOCK_STREAM, 0)) {
        const int on = 1;
        (void)setsockopt(socket_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        const auto port = std::stoi(url.substr(url.rfind(':') + 1));
        address.sin_port = htons(static_cast<std::uint16_t>(port));
        EXPECT_EQ(bind(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
        EXPECT_EQ(listen(socket_, 8), 0);
    }
    MuteServer(const MuteServer&) = delete;
    MuteServer& operator=(const MuteServer&) = delete;
    ~MuteServer() {
        close(socket_);
        std::for_each(clients_.begin(), clients_.end(), ::close);
    }
    void accept() { clients_.push_back(::accept(socket_, nullptr, nullptr)); }

private:
    const int socket_;
    std::vector<int> clients_;
};

// Both links connect to it, and wait for its first line for up to an hour.
TEST(BrokenLinkTest, TheConsumerDoesNotWaitForAServerThatSaysNothing) {
    const Watchdog watchdog{[](std::FILE*) {}};
    NatsServer server;
    NatsOptions options = optionsFor(server);
    options.connectTimeout = 1h;
    Station sender(options);
    sender.bridge.exportType<Position>({"position"});
    server.kill();
    MuteServer mute(server.url());
    mute.accept();
    mute.accept();
    while (sender.bridge.statistics().unsent == 0) {
        sender.send(1);
    }
    EXPECT_FALSE(sender.bridge.flush(1ms));
}

// The buffers of the connection are full.
TEST(BrokenLinkTest, AServerThatReadsNothingEndsNeitherSendingNorClosing) {
    UnreadStation unread(100ms);
    TestBridge& bridge = unread.sender.bridge;
    auto outlet = bridge.outlet<Position>({"position"});
    while (bridge.state(Priority::medium) == LinkState::connected) {
        (void)outlet.send(Position{});
    }
    EXPECT_FALSE(bridge.close(100ms));
}

}  // namespace
}  // namespace sluice::test
