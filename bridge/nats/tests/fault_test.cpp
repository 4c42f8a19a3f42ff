// Processes that are killed at random points. SLUICE_FAULT_ROUNDS says how often; the default
// is 10.
#include "peer.hpp"
#include "station.hpp"
#include "streams_of_server.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace sluice::nats {
namespace {

using namespace std::chrono_literals;
using namespace test;

const NatsRoute durable{"position", 1, Profile::durable};

int rounds() {
    const char* const text = std::getenv("SLUICE_FAULT_ROUNDS");
    return text != nullptr ? std::atoi(text) : 10;
}

/// Lets the processes work for a random time, so that the fault comes at a random point.
void workForAWhile() {
    static std::mt19937 random(std::random_device{}());
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 40'000));
}

std::set<int> upTo(int end) {
    std::set<int> all;
    for (int i = 0; i < end; ++i) {
        all.insert(i);
    }
    return all;
}

/// The numbers in a file. A last line without its end was being written.
std::vector<int> numbersIn(const std::string& path) {
    std::vector<int> numbers;
    std::ifstream file(path);
    for (std::string line; std::getline(file, line) && !file.eof();) {
        numbers.push_back(std::stoi(line));
    }
    return numbers;
}

/// Sends high messages 0, 1, 2, ... on a thread of its own, as fast as the outbox takes them.
class Flood {
public:
    explicit Flood(Station& station)
        : outlet_(station.bridge.outlet<Position>(durable)), thread_([this] { run(); }) {}
    Flood(const Flood&) = delete;
    Flood& operator=(const Flood&) = delete;
    ~Flood() { (void)stop(); }

    /// How many were accepted.
    int stop() {
        isStopped_ = true;
        if (thread_.joinable()) {
            thread_.join();
        }
        return accepted_;
    }

private:
    void run() {
        while (!isStopped_) {
            if (outlet_.send({accepted_, 0.0}, Priority::high) == SendResult::ok) {
                ++accepted_;
            }
            std::this_thread::sleep_for(200us);  // a pace at which the server can store them
        }
    }

    Outlet<Position> outlet_;
    std::atomic<bool> isStopped_{false};
    int accepted_ = 0;  ///< by the thread
    std::thread thread_;
};

void consumeAll(Station& station, int count) {
    station.consume(static_cast<std::size_t>(count));
    EXPECT_EQ(std::set<int>(station.seen.begin(), station.seen.end()), upTo(count));
    EXPECT_EQ(station.seen.size(), static_cast<std::size_t>(count));
    EXPECT_EQ(station.bridge.statistics().gaps, 0U);
}

/// Consumes while the faults happen, on a thread of its own.
class Consumer {
public:
    explicit Consumer(Station& station) : station_(station), thread_([this] { run(); }) {}
    Consumer(const Consumer&) = delete;
    Consumer& operator=(const Consumer&) = delete;
    ~Consumer() { stop(); }
    void stop() {
        isStopped_ = true;
        if (thread_.joinable()) {
            thread_.join();
        }
    }

private:
    void run() {
        while (!isStopped_) {
            (void)station_.bus->waitFor(10ms);
            (void)station_.bus->process();
        }
    }
    Station& station_;
    std::atomic<bool> isStopped_{false};
    std::thread thread_;
};

TEST(FaultTest, AServerThatIsKilledLosesNothing) {
    NatsServer server(NatsServer::withStreams);
    Station sender(durableOptionsFor(server, "sender"));
    Station receiver(durableOptionsFor(server, "receiver"));
    receiver.bridge.importType<Position>(durable);
    Flood flood(sender);
    Consumer consumer(receiver);
    for (int round = 0; round < rounds(); ++round) {
        workForAWhile();
        server.kill();
        workForAWhile();
        server.start();
    }
    const int accepted = flood.stop();
    consumer.stop();
    consumeAll(receiver, accepted);
    EXPECT_TRUE(sender.bridge.close(patience));
    EXPECT_EQ(sender.bridge.statistics().acknowledged, static_cast<std::uint64_t>(accepted));
}

TEST(FaultTest, AServerThatStopsLosesNothing) {
    NatsServer server(NatsServer::withStreams);
    Station sender(durableOptionsFor(server, "sender"));
    Station receiver(durableOptionsFor(server, "receiver"));
    receiver.bridge.importType<Position>(durable);
    Flood flood(sender);
    Consumer consumer(receiver);
    // Longer than ackWait and redeliverAfter.
    workForAWhile();
    server.stop();
    std::this_thread::sleep_for(1500ms);
    server.resume();
    workForAWhile();
    const int accepted = flood.stop();
    consumer.stop();
    consumeAll(receiver, accepted);
}

// Messages that a receiver has handled and not acknowledged are delivered again to its next start.
TEST(FaultTest, AReceiverThatIsKilledMissesNothing) {
    const NatsServer server(NatsServer::withStreams);
    const TemporaryFolder folder;
    const std::string handled = folder / "handled";
    Station sender(durableOptionsFor(server, "sender"));
    {  // registers the name
        NatsRoute route = durable;
        route.untilHandled = true;
        Station first(durableOptionsFor(server, "receiver"));
        first.bridge.importType<Position>(route);
    }
    Flood flood(sender);
    for (int round = 0; round < rounds(); ++round) {
        const std::size_t before = numbersIn(handled).size();
        const Peer receiver({"receive", server.url(), handled});
        await([&] { return numbersIn(handled).size() > before; });
        workForAWhile();
    }
    const int accepted = flood.stop();
    const Peer receiver({"receive", server.url(), handled});
    await([&] {
        return sender.bridge.statistics().held == 0 && messagesIn(server, "fleet_high") == 0;
    });
    const std::vector<int> all = numbersIn(handled);
    EXPECT_EQ(std::set<int>(all.begin(), all.end()), upTo(accepted));
}

// Each message that a killed sender's outbox had accepted is on its disk.
TEST(FaultTest, ASenderThatIsKilledLosesNothing) {
    const NatsServer server(NatsServer::withStreams);
    const TemporaryFolder folder;
    const std::string accepted = folder / "accepted";
    Station receiver(durableOptionsFor(server, "receiver"));
    receiver.bridge.importType<Position>(durable);
    Consumer consumer(receiver);
    for (int round = 0; round < rounds(); ++round) {
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
