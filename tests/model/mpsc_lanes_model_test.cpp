#include "model/queue_scenarios.hpp"
#include "support/sanitizers.hpp"

#include <sluice/queue/mpsc_lanes.hpp>

#include <gtest/gtest.h>

#include <memory>

// MpscLanes as shipped, under the model checker: registration, letting go and closing, each against
// a consumer at work. The lanes themselves are SpscRings.

namespace sluice {

/// The consumer of these lanes stops to visit each lane that it has found empty once.
struct EagerTraits : model::ModelTraits {};
template <>
struct detail::SweepLimits<EagerTraits> {
    static constexpr std::size_t fewestLanes = 1;
    static constexpr std::size_t emptyVisits = 1;
};

}  // namespace sluice

namespace sluice::model {
namespace {

using Lanes = MpscLanes<Message, ModelTraits>;
using EagerLanes = MpscLanes<Message, EagerTraits>;

template <class AnyLanes>
void deliver(Ledger& ledger, AnyLanes& lanes) {
    ledger.delivered += static_cast<int>(lanes.consume(
        [](Message& message) { check(message.number() == 7, "the content is there"); }));
}

/// A producer registers, pushes and lets go while the consumer harvests.
void comeAndGo() {
    Ledger ledger;
    {
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
    check(ledger.alive == 0, "each message is destroyed once");
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
    {
        auto lanes = std::make_unique<Lanes>(1);
        auto producer = lanes->producer();
        parallel([&] { (void)producer.tryEmplace(7, ledger), producer.close(); },
                 [&] { lanes.reset(); });
    }
    check(ledger.alive == 0, "each message is destroyed once");
}

/// The consumer stops to visit a lane while its producer pushes.
void sweepWhilePushing() {
    Ledger ledger;
    EagerLanes lanes(1);
    auto producer = lanes.producer();
    parallel([&] { ledger.accepted += producer.tryEmplace(7, ledger) == SendResult::ok ? 1 : 0; },
             [&] {
                 deliver(ledger, lanes);
                 deliver(ledger, lanes);
             });
    deliver(ledger, lanes);
    check(ledger.accepted == 1 && ledger.delivered == 1, "what was accepted was delivered");
    check(producer.tryEmplace(7, ledger) == SendResult::ok, "there is room again");
    deliver(ledger, lanes);
    check(ledger.delivered == 2, "a lane that was idle is visited again");
}

/// The consumer stops to visit a lane while its producer goes.
void sweepWhileLeaving() {
    Ledger ledger;
    EagerLanes lanes(1);
    auto producer = lanes.producer();
    parallel([&] { producer.close(); }, [&] { deliver(ledger, lanes); });
    deliver(ledger, lanes);
    check(lanes.laneCount() == 0, "the lane of a producer that has gone is removed");
}

/// Two producers announce their lanes at once, while the consumer takes them.
void announceTogether() {
    Ledger ledger;
    EagerLanes lanes(1);
    auto first = lanes.producer();
    auto second = lanes.producer();
    deliver(ledger, lanes);  // both lanes are idle from here on
    parallel([&] { check(first.tryEmplace(7, ledger) == SendResult::ok, "there is room"); },
             [&] { check(second.tryEmplace(7, ledger) == SendResult::ok, "there is room"); },
             [&] { deliver(ledger, lanes); });
    deliver(ledger, lanes);
    deliver(ledger, lanes);
    check(ledger.delivered == 2, "no lane is forgotten");
}

Options weaker() {
    Options options;
    options.budget.weakSteps = 2;
    return options;
}

TEST(MpscLanesModelTest, LanesComeAndGoWhileTheConsumerIsAtWork) {
    EXPECT_TRUE(holds(comeAndGo, weaker()));
    EXPECT_TRUE(holds(registerWhileRemoving));
    EXPECT_TRUE(holds(producerOutlivesTheQueue, weaker()));
}

TEST(MpscLanesModelTest, IdleLanesComeBack) {
    EXPECT_TRUE(holds(sweepWhilePushing, weaker()));
    EXPECT_TRUE(holds(sweepWhileLeaving, weaker()));
    EXPECT_TRUE(holds(announceTogether));
}

TEST(MpscLanesModelTest, DeliversWhatWasAcceptedBeforeTheEnd) {
    EXPECT_TRUE(holds(closeWhileRegistering));
    EXPECT_TRUE(holds(closeWhilePushing, weaker()));
    EXPECT_TRUE(holds(closedTellsWhy));
}

// Not under sanitizers: they end the process for the faults that mutants are meant to have.
#if !SLUICE_TEST_ASAN && !SLUICE_TEST_TSAN
TEST(MpscLanesModelTest, EveryOrderIsNeeded) {
    const Scenarios scenarios{closedTellsWhy,   closeWhilePushing,    producerOutlivesTheQueue,
                              comeAndGo,        sweepWhilePushing,    sweepWhileLeaving,
                              announceTogether, registerWhileRemoving};
    EXPECT_TRUE(survive({}, surveyOrders("lane_list.hpp", weaker(), scenarios)));
    EXPECT_TRUE(survive({}, surveyOrders("lane.hpp", weaker(), scenarios)));
    EXPECT_TRUE(survive({}, surveyOrders("round_robin.hpp", weaker(), scenarios)));
}
#endif

}  // namespace
}  // namespace sluice::model
