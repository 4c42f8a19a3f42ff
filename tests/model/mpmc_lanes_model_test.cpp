#include "model/queue_scenarios.hpp"

#include <sluice/queue/mpmc_lanes.hpp>

#include "support/testing.hpp"

// MpmcLanes as shipped, under the model checker: what two consumers of the same lanes do. The rest
// is that of MpscLanes. blocking_queue_model_test.cpp has the wake-ups.

namespace sluice::model {
namespace {

using Lanes = MpmcLanes<Message, ModelTraits>;

/// The handlers of one producer's messages run one after the other, on any thread.
void handledInOrder() {
    Ledger ledger;
    Lanes lanes(2);
    auto producer = lanes.producer();
    push(producer, ledger, 0);
    push(producer, ledger, 1);
    Plain<int> next;
    std::array<std::size_t, 2> counts{};
    const auto consume = [&](std::size_t& count) {
        count = lanes.consume(
            [&next](Message& message) {
                check(message.number() == next.get(), "the oldest message");
                next.set(message.number() + 1);
            },
            1);
    };
    parallel([&] { consume(counts[0]); }, [&] { consume(counts[1]); });
    check(counts[0] + counts[1] >= 1, "one of them finds the lane free");
    check(lanes.sizeApprox() == 2 - counts[0] - counts[1], "each is handled once");
}

/// A lane is taken by one consumer, and removed by another one or by the same.
void comeAndGo() {
    Ledger ledger;
    Lanes lanes(1);
    std::array<int, 2> delivered{};
    const auto consume = [&](int& count) {
        count += static_cast<int>(lanes.consume(
            [](Message& message) { check(message.number() == 7, "the content is there"); }));
    };
    auto producer = lanes.producer();
    push(producer, ledger, 7);
    parallel([&] { producer.close(); }, [&] { consume(delivered[0]), consume(delivered[0]); },
             [&] { consume(delivered[1]), consume(delivered[1]); });
    consume(delivered[0]);
    consume(delivered[0]);
    check(delivered[0] + delivered[1] == 1, "delivered once");
    check(lanes.laneCount() == 0, "a lane that is done with is removed");
}

TEST(MpmcLanesModelTest, OneConsumerAtATimeHandlesALane) {
    EXPECT_TRUE(holds(handledInOrder, weaker()));
}

TEST(MpmcLanesModelTest, LanesComeAndGoWhileTwoConsumersAreAtWork) {
    EXPECT_TRUE(holds(comeAndGo));
}

TEST(MpmcLanesModelTest, EveryOrderIsNeeded) {
    EXPECT_TRUE(survive({}, ordersOf("mpmc_lanes.hpp", weaker(), Scenarios{handledInOrder})));
}

}  // namespace
}  // namespace sluice::model
