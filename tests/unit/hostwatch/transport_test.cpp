#include "hostwatch/transport.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace hostwatch {
namespace {

/// What arrives, as "sender type priority", and when it was published.
struct Arrivals {
    std::vector<std::string> labels;
    std::vector<Clock::time_point> times;
};

Arrivals take(Transport& transport) {
    Arrivals arrivals;
    transport.processWith([&](const auto& message, const Header& header) {
        using Message = std::decay_t<decltype(message)>;
        arrivals.labels.push_back(std::to_string(header.sender) + ' ' +
                                  typeNames[MessageTypes::indexOf<Message>] + ' ' +
                                  sluice::toString(header.priority));
        arrivals.times.push_back(header.timeStamp);
    });
    return arrivals;
}

class TransportTest : public ::testing::Test {
protected:
    Publisher publisher(std::uint32_t sender) { return {*transport_, sender, attempts_}; }
    std::uint64_t attempts(std::size_t type, Priority priority) const {
        return attempts_[type][indexOf(priority)];
    }

    std::unique_ptr<Transport> transport_ = std::make_unique<Transport>();
    Tally attempts_{};
};

TEST_F(TransportTest, TellsWhoPublishedAndServesAlarmsFirst) {
    EXPECT_TRUE(publisher(0).publish(CpuSample{}));
    EXPECT_TRUE(publisher(2).publish(DiskSample{}));
    EXPECT_TRUE(publisher(2).publish(Aggregate{}));
    EXPECT_TRUE(publisher(1).publish(MemorySample{}));
    EXPECT_TRUE(publisher(drillSender).publish(Alarm{}));
    EXPECT_EQ(take(*transport_).labels,
              (std::vector<std::string>{"4 alarm high", "2 aggregate medium", "0 cpu sample low",
                                        "2 disk sample low", "1 memory sample low"}));
}

TEST_F(TransportTest, KeepsRoomForAlarmsInAFlood) {
    Publisher flooding = publisher(0);
    std::size_t accepted = 0;
    while (flooding.publish(CpuSample{})) {
        ++accepted;
    }
    EXPECT_EQ(accepted, Transport::roomOf(Priority::low));
    EXPECT_TRUE(publisher(0).publish(Aggregate{}));
    EXPECT_TRUE(publisher(0).publish(Alarm{}));
    EXPECT_EQ(attempts(MessageTypes::indexOf<CpuSample>, Priority::low), accepted + 1);
    EXPECT_EQ(attempts(MessageTypes::indexOf<Aggregate>, Priority::medium), 1U);
    EXPECT_EQ(attempts(MessageTypes::indexOf<Alarm>, Priority::high), 1U);
}

TEST_F(TransportTest, StampsTheMoment) {
    const Clock::time_point before = Clock::now();
    EXPECT_TRUE(publisher(1).publish(MemorySample{}));
    const Clock::time_point after = Clock::now();
    const auto times = take(*transport_).times;
    ASSERT_EQ(times.size(), 1U);
    EXPECT_GE(times[0], before);
    EXPECT_LE(times[0], after);
}

TEST_F(TransportTest, RefusesEverythingOnceClosed) {
    transport_->close();
    EXPECT_FALSE(publisher(0).publish(Alarm{}));
    EXPECT_EQ(attempts(MessageTypes::indexOf<Alarm>, Priority::high), 1U);
    EXPECT_TRUE(take(*transport_).labels.empty());
}

TEST(Sources, AreTheTypesOfTheSamplesInOrder) {
    EXPECT_EQ(sourceOf<CpuSample>, Source::cpu);
    EXPECT_EQ(sourceOf<MemorySample>, Source::memory);
    EXPECT_EQ(sourceOf<DiskSample>, Source::disk);
    EXPECT_EQ(sourceOf<NetworkSample>, Source::network);
}

}  // namespace
}  // namespace hostwatch
