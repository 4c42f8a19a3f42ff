#include "hostwatch/transport.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <variant>
#include <vector>

namespace hostwatch {
namespace {

using namespace std::chrono_literals;

std::vector<int> consumeCores(Transport& transport, std::size_t most = 1'000'000) {
    std::vector<int> cores;
    transport.consume(
        [&](const Message& message) {
            cores.push_back(std::get<CpuSample>(message.measurement).core);
        },
        most, 0s);
    return cores;
}

class TransportTest : public ::testing::Test {
protected:
    std::unique_ptr<Transport> transport_ = std::make_unique<Transport>();
};

TEST_F(TransportTest, KeepsTheOrderOfAProducer) {
    auto publisher = transport_->publisher();
    for (int i = 0; i < 5; ++i) {
        EXPECT_TRUE(publisher.publish(CpuSample{i, 0}));
    }
    EXPECT_EQ(transport_->queued(), 5U);
    EXPECT_EQ(consumeCores(*transport_, 3), (std::vector<int>{0, 1, 2}));
    EXPECT_EQ(consumeCores(*transport_), (std::vector<int>{3, 4}));
    EXPECT_TRUE(consumeCores(*transport_).empty());
}

TEST_F(TransportTest, RefusesWhatDoesNotFitIntoTheLane) {
    auto publisher = transport_->publisher();
    auto other = transport_->publisher();
    for (std::size_t i = 0; i < Transport::laneCapacity; ++i) {
        EXPECT_TRUE(publisher.publish(CpuSample{}));
    }
    EXPECT_FALSE(publisher.publish(CpuSample{}));
    EXPECT_TRUE(other.publish(CpuSample{})) << "one full lane does not stop the others";
    EXPECT_EQ(consumeCores(*transport_).size(), Transport::laneCapacity + 1);
    EXPECT_TRUE(publisher.publish(CpuSample{}));
}

TEST_F(TransportTest, StampsTheMoment) {
    auto publisher = transport_->publisher();
    const Clock::time_point before = Clock::now();
    EXPECT_TRUE(publisher.publish(MemorySample{}));
    const Clock::time_point after = Clock::now();
    transport_->consume(
        [&](const Message& message) {
            EXPECT_EQ(message.source(), Source::memory);
            EXPECT_GE(message.publishedAt, before);
            EXPECT_LE(message.publishedAt, after);
        },
        1, 0s);
}

TEST_F(TransportTest, DeliversWhatWasAcceptedBeforeTheProducerLeft) {
    {
        auto publisher = transport_->publisher();
        EXPECT_TRUE(publisher.publish(CpuSample{7, 0}));
    }
    transport_->close();
    EXPECT_EQ(consumeCores(*transport_), std::vector<int>{7});
    EXPECT_EQ(transport_->queued(), 0U);
}

TEST_F(TransportTest, RefusesEverythingOnceClosed) {
    auto publisher = transport_->publisher();
    transport_->close();
    EXPECT_FALSE(publisher.publish(CpuSample{}));
    EXPECT_TRUE(consumeCores(*transport_).empty());
}

TEST_F(TransportTest, WakesTheConsumer) {
    std::thread producer([publisher = transport_->publisher()]() mutable {
        EXPECT_TRUE(publisher.publish(CpuSample{}));
    });
    std::size_t consumed = 0;
    while (consumed == 0) {
        consumed = transport_->consume([](const Message&) {}, 10, 24h);
    }
    producer.join();
    EXPECT_EQ(consumed, 1U);
}

}  // namespace
}  // namespace hostwatch
