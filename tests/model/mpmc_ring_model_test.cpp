#include "model/queue_scenarios.hpp"

#include <sluice/queue/mpmc_ring.hpp>

#include "support/testing.hpp"

// MpmcRing as shipped, under the model checker. The contents of messages rely on edge E1, their
// slots on E2, in one step or by way of another producer.

namespace sluice::model {
namespace {

using SmallRing = MpmcRing<Message, 1, ModelTraits>;
using Ring = MpmcRing<Message, 2, ModelTraits>;
/// Its slots are four: a producer looks at another slot than it fills.
using OddRing = MpmcRing<Message, 3, ModelTraits>;

/// An output iterator that passes each message to a handler.
template <class Handler>
struct PassTo {
    Handler* handler;
    PassTo& operator*() noexcept { return *this; }
    PassTo& operator++() noexcept { return *this; }
    PassTo& operator=(Message&& message) noexcept {
        (*handler)(message);
        return *this;
    }
};

/// Consumes by tryPopAll().
template <class Queue>
struct PoppingAll : Queue {
    template <class Handler>
    std::size_t consume(Handler handler, std::size_t max = unlimited) {
        return this->tryPopAll(PassTo<Handler>{&handler}, max);
    }
};

/// Two consumers get one message each, and no message twice.
template <class Queue>
void twoConsumersShare() {
    Ledger ledger;
    Queue ring;
    std::array<int, 2> got{-1, -1};
    parallel([&] { push(ring, ledger, 0), push(ring, ledger, 1); },
             [&] { consume(ring, 1, [&](Message& message) { got[0] = message.number(); }); },
             [&] { consume(ring, 1, [&](Message& message) { got[1] = message.number(); }); });
    check(got[0] + got[1] == 1 && got[0] != got[1], "each message once");
}

/// The second message needs the slot of the first one, and its position has wrapped. Either
/// consumer may have given the slot back.
void twoConsumersOneSlot() {
    Ledger ledger;
    SmallRing ring;
    parallel([&] { push(ring, ledger, 0), push(ring, ledger, 1); },
             [&] { consume(ring, 1, readIt); }, [&] { consume(ring, 1, readIt); });
}

/// The slot that is filled was given back by one consumer, the slot that shows the room by another.
void slotsByWayOfAnotherProducer() {
    Ledger ledger;
    OddRing ring;
    push(ring, ledger, 0), push(ring, ledger, 1), push(ring, ledger, 2);
    parallel(
        [&] {
            (void)ring.tryEmplace(3, ledger);
            (void)ring.tryEmplace(4, ledger);
        },
        [&] { (void)ring.tryEmplace(5, ledger); }, [&] { consume(ring, 2, readIt); });
}

/// The ring holds two messages. Each of two consumers gets one, however slow the other is.
void neverEmptyWithoutReason() {
    Ledger ledger;
    Ring ring;
    push(ring, ledger, 0), push(ring, ledger, 1);
    const auto popOne = [&] {
        check(ring.consume([](Message&) {}, 1) == 1, "there is a message for each");
    };
    parallel(popOne, popOne);
}

/// A handler's writes are visible to the producer that reuses the slot.
template <class Queue>
void roomCarriesWhatTheConsumerWrote() {
    Ledger ledger;
    Queue ring;
    Plain<int> handled;
    push(ring, ledger, 0);
    const auto pushLater = [&] {
        if (ring.tryEmplace(10, ledger) == SendResult::ok) {
            check(handled.get() == 1, "the slot was used before");
        }
    };
    parallel(pushLater, [&] { (void)ring.consume([&](Message&) { handled.set(1); }, 1); });
}

template <class Queue>
void closeWhilePushing() {
    Ledger ledger;
    Queue ring;
    Plain<int> reason;
    parallel([&] { ledger.accepted += ring.tryEmplace(0, ledger) == SendResult::ok ? 1 : 0; },
             [&] {
                 reason.set(1);
                 ring.close();
             },
             [&] {
                 while (!ring.isDrained()) {
                     if (ring.consume([&](Message&) { ++ledger.delivered; }) == 0) {
                         ModelPlatform::pause();
                     }
                 }
                 check(reason.get() == 1, "what was written before close()");
             });
    check(ledger.accepted == ledger.delivered, "what was accepted was delivered");
}

/// One call takes the messages that are there, in their order, and no other consumer's.
void severalTogether() {
    Ledger ledger;
    PoppingAll<Ring> ring;
    int sum = 0;
    int other = 0;
    int last = -1;
    parallel([&] { push(ring, ledger, 1), push(ring, ledger, 2), push(ring, ledger, 4); },
             [&] {
                 (void)ring.consume([&](Message& message) {
                     check(message.number() > last, "in their order");
                     last = message.number();
                     sum += last;
                 });
             },
             [&] {
                 while (ring.consume([&](Message& message) { other += message.number(); }, 1) ==
                        0) {
                     ModelPlatform::pause();
                 }
             });
    (void)ring.consume([&](Message& message) { sum += message.number(); });
    check(sum + other == 7, "each message once");
    check(ring.sizeApprox() == 0, "all have passed");
}

TEST(MpmcRingModelTest, DeliversEachMessageOnceThroughReusedSlots) {
    EXPECT_TRUE(holds(twoConsumersShare<Ring>));
    EXPECT_TRUE(holds(twoConsumersOneSlot));
    EXPECT_TRUE(holds(twoProducersOneSlot<SmallRing>));
    EXPECT_TRUE(holds(slotsByWayOfAnotherProducer));
    EXPECT_TRUE(holds(roomCarriesWhatTheConsumerWrote<SmallRing>));
}

TEST(MpmcRingModelTest, TakesSeveralMessagesTogether) {
    EXPECT_TRUE(holds(severalTogether));
    EXPECT_TRUE(holds(twoConsumersShare<PoppingAll<Ring>>));
    EXPECT_TRUE(holds(messageThatIsKnownOf<PoppingAll<Ring>>));
    EXPECT_TRUE(holds(closeWhilePushing<PoppingAll<Ring>>));
}

TEST(MpmcRingModelTest, IsFullOrEmptyForAReason) {
    EXPECT_TRUE(holds(neverEmptyWithoutReason, options({3, 2})));
    EXPECT_TRUE(holds(neverEmptyAsTheOtherConsumerKnows<Ring>, options({3, 2})));
    EXPECT_TRUE(holds(neverFullWithoutReason<Ring>, options({3, 2})));
    EXPECT_TRUE(holds(roomThatAnotherPushKnewOf<Ring>));
    EXPECT_TRUE(holds(messageThatIsKnownOf<Ring>));
}

TEST(MpmcRingModelTest, DeliversWhatWasAcceptedBeforeTheEnd) {
    EXPECT_TRUE(holds(closeWhilePushing<Ring>));
    EXPECT_TRUE(holds(drainedMeansHandled<Ring>));
    EXPECT_TRUE(holds(closedTellsWhy<Ring>));
}

TEST(MpmcRingModelTest, SizesStayWithinBounds) {
    EXPECT_TRUE(holds(sizeTellsThatAHandlerIsDone<Ring>));
}

const Scenarios all{closedTellsWhy<Ring>,
                    sizeTellsThatAHandlerIsDone<Ring>,
                    roomCarriesWhatTheConsumerWrote<SmallRing>,
                    {roomThatAnotherPushKnewOf<Ring>, {2, 2}},
                    messageThatIsKnownOf<Ring>,
                    {neverEmptyAsTheOtherConsumerKnows<Ring>, {2, 2}},
                    slotsByWayOfAnotherProducer,
                    twoConsumersShare<Ring>,
                    twoProducersOneSlot<SmallRing>,
                    drainedMeansHandled<Ring>,
                    closeWhilePushing<Ring>,
                    severalTogether,
                    roomCarriesWhatTheConsumerWrote<PoppingAll<SmallRing>>,
                    messageThatIsKnownOf<PoppingAll<Ring>>,
                    {neverEmptyAsTheOtherConsumerKnows<PoppingAll<Ring>>, {2, 2}},
                    drainedMeansHandled<PoppingAll<Ring>>};

TEST(MpmcRingModelTest, EveryOrderIsNeededButOne) {
    // sizeApprox() has learnt of all that tail could tell by way of passed.
    EXPECT_TRUE(survive({"sizeApprox: load acquire -> relaxed"},
                        ordersOf("sequence_slot.hpp", options({1, 1}), all)));
    EXPECT_TRUE(survive({}, ordersOf("mpmc_ring.hpp", options({1, 1}), all)));
}

}  // namespace
}  // namespace sluice::model
