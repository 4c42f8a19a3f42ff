#include "hostwatch/transport.hpp"

#include "headers.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace hostwatch {
namespace {

/// The messages that arrive, as "sender type priority", and the times of their publication.
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
    Publisher publisher(std::uint32_t sender) {
        return {*transport_, sender, attempts_, *returns_};
    }
    std::uint64_t attempts(std::size_t type, Priority priority) const {
        return attempts_[type][indexOf(priority)];
    }

    std::unique_ptr<Transport> transport_ = std::make_unique<Transport>();
    Tally attempts_{};
    std::unique_ptr<AlarmReturns> returns_ = std::make_unique<AlarmReturns>();
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

TEST_F(TransportTest, KnowsWhenThePublicationOfAnAlarmHadReturned) {
    EXPECT_TRUE(publisher(1).publish(Alarm{}));
    EXPECT_TRUE(publisher(2).publish(Alarm{}));
    const Clock::time_point after = Clock::now();
    std::vector<Header> headers;
    transport_->processWith([&](const auto&, const Header& header) { headers.push_back(header); });
    ASSERT_EQ(headers.size(), 2U);
    for (const Header& header : headers) {
        const auto returned = returns_->take(header);
        ASSERT_TRUE(returned.has_value());
        EXPECT_GE(*returned, header.timeStamp);
        EXPECT_LE(*returned, after);
    }
}

// Round and round, the place of an alarm holds the time of an older one.
TEST_F(TransportTest, TakesNoTimeOfAnOlderAlarmForThatOfOneStillUnderWay) {
    const Clock::time_point begin = Clock::now();
    for (std::size_t i = 0; i < Transport::roomOf(Priority::high); ++i) {
        returns_->note(0);
        EXPECT_TRUE(returns_->take(test::headerAt(begin, 0)));
    }
    EXPECT_FALSE(returns_->take(test::headerAt(Clock::now() + std::chrono::hours(1), 0)));
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
