#include "support/model/expectations.hpp"

#include <sluice/queue/mpsc_lanes.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>

// MpscLanes as shipped, under the model checker: registration, letting go and closing, each against
// a consumer at work. The lanes themselves are SpscRings.

namespace sluice::model {
namespace {

using Lanes = MpscLanes<Message, ModelTraits>;

void deliver(Ledger& ledger, Lanes& lanes) {
    ledger.delivered += static_cast<int>(lanes.consume([](Message& message) {
        check(message.number() == 7, "the content is there");
    }));
}

/// A producer registers, pushes and lets go while the consumer harvests.
void comeAndGo() {
    Ledger ledger;
    {
        Lanes lanes(1);
        parallel(
            [&] {
                auto producer = lanes.producer();
                ledger.accepted += producer.tryEmplace(7, ledger) == PushResult::ok ? 1 : 0;
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
                 check(producer.tryEmplace(7, ledger) == PushResult::ok, "a new lane has room");
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
    parallel(
        [&] {
            auto producer = lanes.producer();
            ledger.accepted += producer.tryEmplace(7, ledger) == PushResult::ok ? 1 : 0;
        },
        [&] {
            while (!lanes.isDrained()) {
                deliver(ledger, lanes);
                ModelPlatform::pause();
            }
        },
        [&] { lanes.close(); });
    deliver(ledger, lanes);
    check(lanes.isDrained(), "drained in the end");
    check(ledger.accepted == ledger.delivered, "what was accepted was delivered");
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
#define R(x,o) { auto t=std::chrono::steady_clock::now(); auto r=explore(o,x); EXPECT_TRUE(r.passed)<<r.report; printf("%s %zu %.3f\n",#x,r.executions,std::chrono::duration<double>(std::chrono::steady_clock::now()-t).count()); }
TEST(MpscLanesModelTest, X) {
Options o;
R(comeAndGo,o) R(registerWhileRemoving,o) R(closeWhileRegistering,o) R(producerOutlivesTheQueue,o)
    EXPECT_TRUE(survive({}, surveyOrders("mpsc_lanes.hpp", o, {producerOutlivesTheQueue,comeAndGo,closeWhileRegistering,registerWhileRemoving})));
    EXPECT_TRUE(survive({}, surveyOrders("lane_list.hpp", o, {producerOutlivesTheQueue,comeAndGo,closeWhileRegistering,registerWhileRemoving})));
}

}  // namespace
}  // namespace sluice::model
