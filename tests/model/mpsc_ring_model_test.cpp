#include "model/queue_scenarios.hpp"

#include <sluice/queue/mpsc_ring.hpp>

#include "support/testing.hpp"

// MpscRing as shipped, under the model checker. The contents of messages rely on edge E1. Their
// slots rely on edge E2, in one step or by way of another producer.

namespace sluice::model {
namespace {

using SmallRing = MpscRing<Message, 1, ModelTraits>;
using Ring = MpscRing<Message, 2, ModelTraits>;

void twoProducersTwoSlots() {
    Ledger ledger;
    Ring ring;
    parallel([&] { push(ring, ledger, 0), push(ring, ledger, 1); }, [&] { push(ring, ledger, 10); },
             [&] { consume(ring, 2, InOrder()); });
}

/// A producer finds the room that it knows of. Notes of other producers do not matter.
void roomThatIsKnownOf() {
    Ledger ledger;
    SmallRing ring;
    Plain<int> handled;
    Atomic<int> hasRoom{0};
    parallel(
        [&] {
            push(ring, ledger, 0);
            await(hasRoom);
            check(ring.tryEmplace(1, ledger) == SendResult::ok, "there is room");
        },
        [&] {
            consume(ring, 1, [&](Message&) { handled.set(1); });
            hasRoom.store(1, release);
        });
}

/// A producer that is overtaken by laps finds the room that the others knew of: there is one
/// message beside its own at most.
void roomThatLapsKnewOf() {
    Ledger ledger;
    Ring ring;
    parallel(
        [&] {
            for (int lap = 0; lap < 4; ++lap) {
                (void)ring.tryPop();
                (void)ring.tryEmplace(lap, ledger);
            }
        },
        [&] { check(ring.tryEmplace(10, ledger) == SendResult::ok, "there is room"); });
}

/// A handler's writes are visible to the producer that finds the slot free. Here the first message
/// is there already. One of two later messages finds the room by way of the other.
void roomCarriesWhatTheConsumerWrote() {
    Ledger ledger;
    Ring ring;
    Plain<int> handled;
    push(ring, ledger, 0);
    push(ring, ledger, 1);
    const auto pushLater = [&] {
        if (ring.tryEmplace(10, ledger) == SendResult::ok) {
            check(handled.get() == 1, "both slots were used before");
        }
    };
    parallel(pushLater, pushLater, [&] {
        (void)ring.consume([&, first = true](Message&) mutable {
            if (first) {
                handled.set(1);
            }
            first = false;
        });
    });
}

/// A push that returned before another began is delivered first.
void orderAcrossProducers() {
    Ledger ledger;
    Ring ring;
    Atomic<int> isPushed{0};
    parallel(
        [&] {
            push(ring, ledger, 0);
            isPushed.store(1, release);
        },
        [&] {
            await(isPushed);
            push(ring, ledger, 1);
        },
        [&] { consume(ring, 2, InOrder()); });
}

/// The first producer closes while the second one pushes.
void closeWhilePushing() {
    Ledger ledger;
    Ring ring;
    Plain<int> handled;
    Plain<int> reason;
    parallel(
        [&] {
            ledger.accepted += ring.tryEmplace(0, ledger) == SendResult::ok ? 1 : 0;
            reason.set(1);
            ring.close();
        },
        [&] {
            ledger.accepted += ring.tryEmplace(10, ledger) == SendResult::ok ? 1 : 0;
            if (ring.isDrained()) {
                check(handled.get() == ledger.accepted && reason.get() == 1,
                      "all that happened is visible");
            }
        },
        [&] {
            while (!ring.isDrained()) {
                const std::size_t count = ring.consume([&](Message&) {
                    ++ledger.delivered;
                    handled.set(ledger.delivered);
                });
                if (count == 0) {
                    ModelPlatform::pause();
                }
            }
            check(ring.isDrained(), "drained is for good");
        });
    check(ledger.accepted == ledger.delivered, "what was accepted was delivered");
}

TEST(MpscRingModelTest, DeliversInOrderThroughReusedSlots) {
    EXPECT_TRUE(holds(twoProducersOneSlot<SmallRing>));
    EXPECT_TRUE(holds(twoProducersTwoSlots));
    EXPECT_TRUE(holds(roomCarriesWhatTheConsumerWrote));
}

TEST(MpscRingModelTest, IsFullOnlyWhenFull) {
    EXPECT_TRUE(holds(neverFullWithoutReason<Ring>, options({3, 2})));
    EXPECT_TRUE(holds(roomThatIsKnownOf, options({3, 2})));
    EXPECT_TRUE(holds(roomThatAnotherPushKnewOf<Ring>, options({3, 2})));
    EXPECT_TRUE(holds(roomThatLapsKnewOf));
}

TEST(MpscRingModelTest, KeepsTheOrderOfPushesThatFollowEachOther) {
    EXPECT_TRUE(holds(orderAcrossProducers));
}

TEST(MpscRingModelTest, DeliversWhatWasAcceptedBeforeTheEnd) {
    EXPECT_TRUE(holds(closeWhilePushing));
    EXPECT_TRUE(holds(closedTellsWhy<Ring>));
}

TEST(MpscRingModelTest, SizesStayWithinBounds) {
    EXPECT_TRUE(holds(sizeTellsThatAHandlerIsDone<Ring>));
}

#if defined(__cpp_exceptions)
struct Refusal {};

struct Fussy {
    Fussy(int, bool refuses) {
        if (refuses) {
            throw Refusal();
        }
    }
    Plain<int> content;
};

TEST(MpscRingModelTest, SkipsTheSlotOfAConstructorThatThrows) {
    EXPECT_TRUE(holds([] {
        MpscRing<Fussy, 1, ModelTraits> ring;
        int delivered = 0;
        parallel(
            [&] {
                bool hasThrown = false;
                while (!hasThrown) {
                    try {
                        if (ring.tryEmplace(0, true) == SendResult::full) {
                            ModelPlatform::pause();
                        }
                    } catch (const Refusal&) {
                        hasThrown = true;
                    }
                }
            },
            [&] {
                while (ring.tryEmplace(1, false) != SendResult::ok) {
                    ModelPlatform::pause();
                }
            },
            [&] {
                consume(ring, 1, [&](Fussy& message) { delivered += 1 + message.content.get(); });
            });
        check(delivered == 1, "the other one");
    }));
}
#endif

const Scenarios all{closedTellsWhy<Ring>,
                    sizeTellsThatAHandlerIsDone<Ring>,
                    roomCarriesWhatTheConsumerWrote,
                    roomThatAnotherPushKnewOf<Ring>,
                    {roomThatLapsKnewOf, {1, 2}},
                    twoProducersOneSlot<SmallRing>,
                    closeWhilePushing};

TEST(MpscRingModelTest, EveryOrderIsNeededButOne) {
    // sizeApprox() has learnt of all that tail could tell by way of head.
    EXPECT_TRUE(survive({"sizeApprox: load acquire -> relaxed"},
                        ordersOf("sequence_slot.hpp", options({1, 1}), all)));
    EXPECT_TRUE(survive({}, ordersOf("mpsc_ring.hpp", options({1, 1}), all)));
}

}  // namespace
}  // namespace sluice::model
