#include "model/queue_scenarios.hpp"

#include <sluice/queue/mpsc_lanes.hpp>

#include "support/testing.hpp"

// MpscLanes as shipped, under the model checker: registration, letting go and closing, each against
// a consumer at work. The lanes themselves are SpscRings.

namespace sluice::model {
namespace {

using Lanes = MpscLanes<Message, ModelTraits>;

template <class AnyLanes>
void deliver(Ledger& ledger, AnyLanes& lanes) {
    ledger.delivered += static_cast<int>(lanes.consume(
        [](Message& message) { check(message.number() == 7, "the content is there"); }));
}

/// A producer registers, pushes and lets go while the consumer polls.
void comeAndGo() {
    Ledger ledger;
    Lanes lanes(1);
    parallel(
        [&] {
            auto producer = lanes.producer();
            ledger.accepted += producer.tryEmplace(7, ledger) == SendResult::ok ? 1 : 0;
        },
        [&] {
            deliver(ledger, lanes);
            deliver(ledger, lanes);
        });
    check(ledger.accepted == 1, "a new lane has room");
    deliver(ledger, lanes);
    check(ledger.delivered == 1, "what was accepted was delivered");
    deliver(ledger, lanes);
    check(lanes.laneCount() == 0, "a lane that is done with is removed");
}

/// A second lane is hung on the list while the first one is taken out of it.
void registerWhileRemoving() {
    Ledger ledger;
    Lanes lanes(1);
    auto leaving = lanes.producer();
    parallel([&] { leaving.close(); },
             [&] {
                 auto producer = lanes.producer();
                 check(producer.tryEmplace(7, ledger) == SendResult::ok, "a new lane has room");
             },
             [&] { deliver(ledger, lanes); });
    deliver(ledger, lanes);
    deliver(ledger, lanes);
    check(ledger.delivered == 1 && lanes.laneCount() == 0, "delivered, and both lanes removed");
}

/// A third thread closes while a producer registers and pushes.
void closeWhileRegistering() {
    Ledger ledger;
    Lanes lanes(1);
    bool hasEnded = false;
    parallel(
        [&] {
            auto producer = lanes.producer();
            ledger.accepted += producer.tryEmplace(7, ledger) == SendResult::ok ? 1 : 0;
        },
        [&] {
            deliver(ledger, lanes);
            hasEnded = lanes.isDrained();
        },
        [&] { lanes.close(); });
    check(!hasEnded || ledger.accepted == ledger.delivered, "nothing follows the end");
    deliver(ledger, lanes);
    check(lanes.isDrained(), "drained in the end");
    check(ledger.accepted == ledger.delivered, "what was accepted was delivered");
}

/// A third thread closes while a producer pushes, and nobody consumes.
void closeWhilePushing() {
    Ledger ledger;
    Lanes lanes(1);
    auto producer = lanes.producer();
    bool hasEnded = false;
    parallel([&] { ledger.accepted += producer.tryEmplace(7, ledger) == SendResult::ok ? 1 : 0; },
             [&] { hasEnded = lanes.isDrained(); }, [&] { lanes.close(); });
    check(!hasEnded || ledger.accepted == 0, "nothing follows the end");
}

void closedTellsWhy() {
    Lanes lanes(1);
    closedTellsWhyIn(lanes);
}

void producerOutlivesTheQueue() {
    Ledger ledger;
    auto lanes = std::make_unique<Lanes>(1);
    auto producer = lanes->producer();
    parallel([&] { (void)producer.tryEmplace(7, ledger), producer.close(); },
             [&] { lanes.reset(); });
}

TEST(MpscLanesModelTest, LanesComeAndGoWhileTheConsumerIsAtWork) {
    EXPECT_TRUE(holds(comeAndGo, weaker()));
    EXPECT_TRUE(holds(registerWhileRemoving));
    EXPECT_TRUE(holds(producerOutlivesTheQueue, weaker()));
}

TEST(MpscLanesModelTest, DeliversWhatWasAcceptedBeforeTheEnd) {
    EXPECT_TRUE(holds(closeWhileRegistering));
    EXPECT_TRUE(holds(closeWhilePushing, weaker()));
    EXPECT_TRUE(holds(closedTellsWhy));
}

TEST(MpscLanesModelTest, EveryOrderIsNeeded) {
    const Scenarios scenarios{closedTellsWhy, closeWhilePushing, producerOutlivesTheQueue,
                              comeAndGo, registerWhileRemoving};
    EXPECT_TRUE(survive({}, ordersOf("mpsc_lanes.hpp", weaker(), scenarios)));
}

}  // namespace
}  // namespace sluice::model
