#include "model/queue_scenarios.hpp"

#include <sluice/queue/spsc_ring.hpp>

#include "support/testing.hpp"

// SpscRing as shipped, under the model checker. The contents of messages rely on edge E1, their
// slots on edge E2, and isDrained() on edge E3.

namespace sluice::model {
namespace {

/// A message whose constructor cannot throw, so that it takes the common push, except when no slot
/// is known to be free. The others take the guarded push.
struct QuickMessage : Message {
    QuickMessage(int number, Ledger& ledger) noexcept : Message(number, ledger) {}
};

using SmallRing = SpscRing<Message, 1, ModelTraits>;
using Ring = SpscRing<Message, 2, ModelTraits>;
using QuickRing = SpscRing<QuickMessage, 2, ModelTraits>;

/// Pushes 0 .. count - 1, waiting for room.
template <class Queue>
void pushAll(Queue& ring, Ledger& ledger, int count) {
    for (int i = 0; i < count; ++i) {
        push(ring, ledger, i);
    }
}

/// Four messages through one slot: the positions wrap.
void consumeAll() {
    Ledger ledger;
    SmallRing ring;
    parallel([&] { pushAll(ring, ledger, 4); },
             [&] {
                 int next = 0;
                 while (next < 4) {
                     const std::size_t count = ring.consume([&](Message& message) {
                         check(message.number() == next++, "in the order of the pushes");
                     });
                     if (count == 0) {
                         ModelPlatform::pause();
                     }
                 }
             });
}

template <class AnyRing>
void popAll() {
    Ledger ledger;
    AnyRing ring;
    parallel([&] { pushAll(ring, ledger, 3); },
             [&] {
                 for (int next = 0; next < 3;) {
                     if (auto message = ring.tryPop()) {
                         check(message->number() == next++, "in the order of the pushes");
                     } else {
                         ModelPlatform::pause();
                     }
                 }
             });
}

/// A handler's writes are visible to the producer that finds the slot free.
void roomCarriesWhatTheConsumerWrote() {
    Ledger ledger;
    SmallRing ring;
    Plain<int> handled;
    parallel(
        [&] {
            pushAll(ring, ledger, 2);
            check(handled.get() == 1, "the second push reuses the slot of the first message");
        },
        [&] {
            while (ring.consume([&](Message&) { handled.set(1); }, 1) == 0) {
                ModelPlatform::pause();
            }
        });
}

void count(Ledger& ledger, SendResult result) {
    ledger.accepted += result == SendResult::ok ? 1 : 0;
}

/// A third thread closes while the producer pushes; the consumer stops when the ring is drained.
template <class AnyRing>
void closeWhilePushing() {
    Ledger ledger;
    AnyRing ring;
    parallel(
        [&] {
            count(ledger, ring.tryEmplace(0, ledger));
            count(ledger, ring.tryEmplace(1, ledger));
        },
        [&] {
            while (!ring.isDrained()) {
                if (ring.consume([&](Message&) { ++ledger.delivered; }) == 0) {
                    ModelPlatform::pause();
                }
            }
            check(ring.consume([](Message&) {}) == 0, "nothing follows the end");
        },
        [&] { ring.close(); });
    check(ledger.accepted == ledger.delivered, "what was accepted was delivered");
    check(ring.isClosed() && ring.isDrained() && ring.sizeApprox() == 0, "nothing is left");
}

/// Ranges that reuse slots, and a close in the middle of one.
void closeWhilePushingRanges() {
    Ledger ledger;
    SmallRing ring;
    const std::array<Message, 2> pair{Message(0, ledger), Message(1, ledger)};
    parallel(
        [&] {
            ledger.accepted += static_cast<int>(ring.tryPushAll(pair.begin(), pair.end()));
            ledger.accepted += static_cast<int>(ring.tryPushAll(pair.begin(), pair.end()));
        },
        [&] {
            while (!ring.isDrained()) {
                if (ring.consume([&](Message& message) {
                        check(message.number() == 0, "only the first one fits");
                        ++ledger.delivered;
                    }) == 0) {
                    ModelPlatform::pause();
                }
            }
        },
        [&] { ring.close(); });
    check(ledger.accepted == ledger.delivered, "what was accepted was delivered");
}

/// A close in the middle of a push, whose ring is empty and has a slot that is known to be free.
template <class AnyRing>
void closeWhilePushingOnce() {
    Ledger ledger;
    AnyRing ring;
    count(ledger, ring.tryEmplace(0, ledger));
    (void)ring.tryPop();
    bool hasEnded = false;
    parallel([&] { count(ledger, ring.tryEmplace(1, ledger)); },
             [&] {
                 ring.close();
                 hasEnded = ring.isDrained();
             });
    check(!hasEnded || ledger.accepted == 1, "nothing follows the end");
}

/// The producer closes, and a third thread sees the end.
void observerOfTheEnd() {
    Ledger ledger;
    Ring ring;
    Plain<int> pushed;
    Plain<int> handled;
    parallel(
        [&] {
            pushed.set(1);
            pushAll(ring, ledger, 1);
            ring.close();
        },
        [&] {
            while (ring.consume([&](Message&) { handled.set(1); }) == 0) {
                ModelPlatform::pause();
            }
            (void)ring.isDrained();  // this call may note the end
        },
        [&] {
            if (ring.isDrained()) {
                check(pushed.get() == 1 && handled.get() == 1, "all that happened is visible");
            }
        });
}

void reservation() {
    Ledger ledger;
    Ring ring;
    parallel(
        [&] {
            if (auto dropped = ring.tryReserve()) {
                dropped.emplace(7, ledger);
            }
            if (auto kept = ring.tryReserve()) {
                kept.emplace(8, ledger);
                kept.commit();
                ++ledger.accepted;
            }
        },
        [&] {
            while (!ring.isDrained()) {
                ring.consume([&](Message& message) {
                    check(message.number() == 8, "nothing that was not committed");
                    ++ledger.delivered;
                });
                ModelPlatform::pause();
            }
        },
        [&] { ring.close(); });
    check(ledger.accepted == ledger.delivered, "what was committed was delivered");
}

/// What a push wrote before it was given up is visible to the observer of the end.
void observerOfAPushThatWasGivenUp() {
    Ring ring;
    Plain<int> written;
    parallel(
        [&] {
            if (auto dropped = ring.tryReserve()) {
                written.set(1);
            }
        },
        [&] {
            ring.close();
            if (ring.isDrained()) {
                written.set(2);
            }
        });
}

void sizeSeenByOthers() {
    Ledger ledger;
    Ring ring;
    parallel([&] { pushAll(ring, ledger, 2); },
             [&] {
                 while (ring.consume([](Message&) {}, 1) == 0) {
                     ModelPlatform::pause();
                 }
             },
             [&] {
                 const std::size_t before = ring.sizeApprox();
                 check(before <= 2 && ring.sizeApprox() <= 2, "at most what was pushed");
             });
    check(ring.sizeApprox() == 1, "exact when nobody is active");
}

TEST(SpscRingModelTest, DeliversInOrderThroughReusedSlots) {
    EXPECT_TRUE(holds(consumeAll, options({3, 1})));
    EXPECT_TRUE(holds(popAll<Ring>, options({2, 2})));
    EXPECT_TRUE(holds(popAll<QuickRing>, options({2, 2})));
    EXPECT_TRUE(holds(roomCarriesWhatTheConsumerWrote, options({3, 2})));
}

TEST(SpscRingModelTest, DeliversWhatWasAcceptedBeforeTheEnd) {
    EXPECT_TRUE(holds(closeWhilePushing<Ring>, options({3, 2})));
    EXPECT_TRUE(holds(closeWhilePushing<QuickRing>, options({3, 2})));
    EXPECT_TRUE(holds(closeWhilePushingOnce<QuickRing>, options({3, 2})));
    EXPECT_TRUE(holds(observerOfTheEnd, options({2, 2})));
    EXPECT_TRUE(holds(closedTellsWhy<Ring>));
}

TEST(SpscRingModelTest, PushesRanges) {
    EXPECT_TRUE(holds(closeWhilePushingRanges));
}

TEST(SpscRingModelTest, DropsReservationsWithoutATrace) {
    EXPECT_TRUE(holds(reservation, options({2, 2})));
    EXPECT_TRUE(holds(observerOfAPushThatWasGivenUp, options({2, 2})));
}

TEST(SpscRingModelTest, SizesStayWithinBounds) {
    EXPECT_TRUE(holds(sizeSeenByOthers));
    EXPECT_TRUE(holds(sizeTellsThatAHandlerIsDone<Ring>));
}

TEST(SpscRingModelTest, EveryOrderIsNeededButFive) {
    // The producer's writes reach an observer of the end through the consumer, which acquires tail
    // before it releases head. So neither isDrained() nor sizeApprox() learns anything from tail.
    // A push takes its announcement back with release only for the ring's own memory, which the
    // model does not free.
    EXPECT_TRUE(survive(
        {"announce: store release -> relaxed", "isDrainedAfterFence: load acquire -> relaxed",
         "publishUpTo: store release -> relaxed", "sizeApprox: load acquire -> relaxed",
         "tryEmplace: store release -> relaxed"},
        ordersOf("spsc_ring.hpp", options({1, 1}),
                 {closedTellsWhy<Ring>, sizeTellsThatAHandlerIsDone<Ring>, popAll<Ring>,
                  popAll<QuickRing>, consumeAll, closeWhilePushing<Ring>, closeWhilePushingRanges,
                  closeWhilePushingOnce<Ring>, closeWhilePushingOnce<QuickRing>, observerOfTheEnd,
                  observerOfAPushThatWasGivenUp})));
}

}  // namespace
}  // namespace sluice::model
