// The bus of the program, and the accounts of its messages.

#include "headers.hpp"
#include "hostwatch/accounts.hpp"
#include "hostwatch/report.hpp"
#include "hostwatch/transport.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace hostwatch {
namespace {

using namespace std::chrono_literals;

/// The messages that arrive, as "sender type priority".
std::vector<std::string> take(Transport& transport) {
    std::vector<std::string> labels;
    transport.processWith([&](const auto& message, const Header& header) {
        using Message = std::decay_t<decltype(message)>;
        labels.push_back(std::to_string(header.sender) + ' ' +
                         typeNames[MessageTypes::indexOf<Message>] + ' ' +
                         sluice::toString(header.priority));
    });
    return labels;
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
    EXPECT_EQ(take(*transport_),
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

class ReportTest : public ::testing::Test {
protected:
    /// As if so many messages had been attempted, of which the bus says that it has accepted and
    /// delivered so many, and which have arrived.
    template <class Message>
    void publish(std::uint64_t attempted, std::uint64_t accepted, std::uint64_t delivered,
                 std::uint64_t arrived) {
        const std::size_t type = MessageTypes::indexOf<Message>;
        const std::size_t priority = indexOf(priorityOf<Message>);
        attempts_[type][priority] += attempted;
        sluice::MessageCounts& counts = statistics_.counts[type][priority];
        counts.published += delivered;
        statistics_.queued[priority] += accepted - delivered;
        counts.full += refused_;
        counts.delivered += delivered;
        for (std::uint64_t i = 0; i < arrived; ++i) {
            const Clock::time_point then = Clock::now() - 10h;
            deliveries_->record(Message{}, test::headerAt(then, 0, priorityOf<Message>), then);
        }
    }

    Outcome outcome(std::uint64_t stillQueued = 0) const {
        return {statistics_, stillQueued, attempts_, *deliveries_, *accounts_, 0};
    }

    bool says(const std::string& text) const {
        return report(outcome()).find(text) != std::string::npos;
    }

    std::uint64_t refused_ = 0;
    Statistics statistics_{};
    Tally attempts_{};
    std::unique_ptr<Deliveries> deliveries_ = std::make_unique<Deliveries>();
    std::unique_ptr<Accounts> accounts_ = std::make_unique<Accounts>();
};

TEST_F(ReportTest, AddsUpWithLosses) {
    publish<Alarm>(4000, 4000, 4000, 4000);
    refused_ = 23;
    publish<CpuSample>(123, 100, 100, 100);
    EXPECT_TRUE(accountsAddUp(outcome()));
    EXPECT_TRUE(says("4,123")) << "attempted by all";
    EXPECT_TRUE(says("36000 s")) << "the wait";
    EXPECT_TRUE(says("the accounts add up"));
}

TEST_F(ReportTest, NoticesAMessageThatWasLostOrCameTwice) {
    EXPECT_TRUE(accountsAddUp(outcome()));
    EXPECT_FALSE(accountsAddUp(outcome(1))) << "the bus claims to hold one";
    publish<CpuSample>(100, 100, 99, 99);
    EXPECT_FALSE(accountsAddUp(outcome()));
    EXPECT_TRUE(says("DO NOT ADD UP"));
    EXPECT_TRUE(accountsAddUp(outcome(1))) << "it is still queued";
}

TEST_F(ReportTest, NoticesAnAttemptWithoutAnOutcome) {
    publish<CpuSample>(101, 100, 100, 100);
    EXPECT_FALSE(accountsAddUp(outcome()));
}

TEST_F(ReportTest, NoticesErrorsThatCancelOut) {
    publish<CpuSample>(100, 100, 100, 99);
    EXPECT_FALSE(accountsAddUp(outcome()));
    publish<DiskSample>(100, 100, 100, 101);
    EXPECT_FALSE(accountsAddUp(outcome()));
}

TEST_F(ReportTest, NoticesAMessageThatCameTwice) {
    publish<CpuSample>(100, 100, 100, 101);
    EXPECT_FALSE(accountsAddUp(outcome()));
}

}  // namespace
}  // namespace hostwatch
