#include "notes.hpp"
#include "station.hpp"

#include "support/watchdog.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <string>
#include <thread>

#include <pthread.h>

// Links that a server stops or closes.

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

// A core message goes to the connection itself.
TEST(BrokenLinkTest, ACoreOutletMaySendBesideClose) {
    const NatsServer server;
    for (int round = 0; round < 20; ++round) {
        Station sender(server);
        auto outlet = sender.bridge.outlet<Position>({"position"});
        std::atomic<bool> hasBegun{false};
        std::thread sending([&] {
            while (outlet.send(Position{}) == OutletResult::ok) {
                hasBegun = true;
            }
        });
        await([&] { return hasBegun.load(); });
        (void)sender.bridge.close(1ms);
        sending.join();
        EXPECT_EQ(outlet.send(Position{}), OutletResult::closed);
    }
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
        (void)sender.bridge.close(1s);
        sending.join();
        EXPECT_EQ(notes.count("slow or not connected"), 0);
    }
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

/// Sends a signal with a handler to the thread that made it, every 20 ms. It counts the signals
/// that were sent: under ThreadSanitizer a handler may run later.
class Alarms {
public:
    Alarms() {
        struct sigaction action {};
        action.sa_handler = [](int) {};
        action.sa_flags = SA_RESTART;
        (void)sigaction(SIGALRM, &action, &before_);
        thread_ = std::thread([this, target = pthread_self()] {
            while (!isOver_.load()) {
                std::this_thread::sleep_for(20ms);  // the time between two signals
                (void)pthread_kill(target, SIGALRM);
                ++sent_;
            }
        });
    }
    Alarms(const Alarms&) = delete;
    Alarms& operator=(const Alarms&) = delete;
    ~Alarms() {
        isOver_ = true;
        thread_.join();
        (void)sigaction(SIGALRM, &before_, nullptr);
    }
    [[nodiscard]] int sent() const { return sent_.load(); }

private:
    struct sigaction before_ {};
    std::atomic<int> sent_{0};
    std::atomic<bool> isOver_{false};
    std::thread thread_;
};

// The server is stopped for 50 signals, while the sender writes.
TEST(BrokenLinkTest, ASignalDuringAWriteLosesNothing) {
    const Watchdog watchdog{[](std::FILE*) {}};
    const NatsServer server;
    NatsOptions options = optionsFor(server);
    options.writeTimeout = 1h;
    Station sender(options);
    auto outlet = sender.bridge.outlet<Picture>({"picture"});
    server.stop();
    {
        const Alarms alarms;
        std::thread resume([&] {
            await([&] { return alarms.sent() >= 50; });
            server.resume();
        });
        while (alarms.sent() < 75) {
            EXPECT_EQ(outlet.send(Picture{}), OutletResult::ok);
        }
        resume.join();
    }
    EXPECT_TRUE(sender.bridge.flush(patience));
    EXPECT_EQ(sender.bridge.state(Priority::medium), LinkState::connected);
}

/// A bridge whose server reads nothing until the end of the test.
struct UnreadStation {
    UnreadStation() { server.stop(); }
    static NatsOptions options(const NatsServer& of) {
        NatsOptions made = optionsFor(of);
        made.writeTimeout = 100ms;
        return made;
    }

    const Watchdog watchdog{[](std::FILE*) {}};
    const NatsServer server;
    Station sender{options(server)};
};

// The buffers of the connection are full: not even the question of flush() can be sent.
TEST(BrokenLinkTest, FlushIsFalseIfTheServerReadsNothing) {
    UnreadStation unread;
    auto outlet = unread.sender.bridge.outlet<Picture>({"picture"});
    for (int i = 0; i < 1500; ++i) {  // less than the socket takes, and then to its limit
        (void)outlet.send(Picture{});
    }
    while (outlet.send(Picture{}) == OutletResult::ok) {
        EXPECT_FALSE(unread.sender.bridge.flush(1ms));
    }
}

// The buffers of the connection are full.
TEST(BrokenLinkTest, AServerThatReadsNothingEndsNeitherSendingNorClosing) {
    UnreadStation unread;
    auto outlet = unread.sender.bridge.outlet<Position>({"position"});
    OutletResult result = OutletResult::ok;
    while (result == OutletResult::ok) {
        result = outlet.send(Position{});
    }
    EXPECT_EQ(result, OutletResult::congested);
    TestBridge& bridge = unread.sender.bridge;
    await([&] { return bridge.state(Priority::medium) == LinkState::disconnected; });
    EXPECT_FALSE(bridge.close(100ms));
}

}  // namespace
}  // namespace sluice::test
