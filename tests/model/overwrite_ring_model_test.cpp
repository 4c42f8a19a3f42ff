#include "model/queue_scenarios.hpp"

#include <sluice/queue/overwrite_ring.hpp>

#include "support/testing.hpp"

// OverwriteRing as shipped, under the model checker. The contents of messages rely on edge E1,
// their slots on E2, in one step or by way of other threads, and isDrained() on E3 and E4.

namespace sluice::model {
namespace {

/// Its move constructor reads the message, as the checker sees.
struct Value : Message {
    Value(int number, Ledger& ledger) noexcept : Message(number, ledger) {}
    Value(Value&& other) noexcept : Message(other.number(), other.ledger()) {}
};

struct ManyTraits : ModelTraits {
    static constexpr bool manyProducers = true;
};
struct OneTraits : ModelTraits {
    static constexpr bool manyProducers = false;
};
template <std::size_t Capacity>
using Many = OverwriteRing<Value, Capacity, ManyTraits>;
template <std::size_t Capacity>
using One = OverwriteRing<Value, Capacity, OneTraits>;

template <class Ring>
void pushSome(Ring& ring, Ledger& ledger, int first, int count) {
    for (int i = first; i < first + count; ++i) {
        check(ring.tryEmplace(i, ledger) == SendResult::ok, "never refused");
    }
}

/// Consumes up to `count` messages. Those of each producer are in order: the tens of a number are
/// the producer.
template <class Ring>
int consumeSome(Ring& ring, int count) {
    int consumed = 0;
    int last[3] = {-1, -1, -1};
    for (int i = 0; i < count; ++i) {
        consumed += static_cast<int>(ring.consume(
            [&](Value& value) {
                const int number = value.number();
                check(number > last[number / 10], "in the order of the pushes, and once");
                last[number / 10] = number;
            },
            1));
    }
    return consumed;
}

/// What was pushed was consumed, was dropped, or is queued; and the newest one is not dropped.
template <class Ring>
void closeTheBooks(Ring& ring, int pushed, int consumed) {
    const auto left = static_cast<int>(ring.sizeApprox());
    check(left <= static_cast<int>(ring.capacity()), "at most the capacity");
    check(pushed == consumed + ring.dropped() + left, "the books are exact");
    check(consumeSome(ring, left + 1) == left, "what is queued can be consumed");
    ring.close();
    check(ring.isDrained(), "all positions are counted");
}

template <class Ring, int Pushes, int Pops>
void overrun() {
    Ledger ledger;
    Ring ring;
    int consumed = 0;
    parallel([&] { pushSome(ring, ledger, 0, Pushes); },
             [&] { consumed = consumeSome(ring, Pops); });
    closeTheBooks(ring, Pushes, consumed);
}

template <class Ring>
void twoConsumersShare() {
    Ledger ledger;
    Ring ring;
    pushSome(ring, ledger, 0, 1);
    int first = 0;
    int second = 0;
    parallel([&] { pushSome(ring, ledger, 1, 2); }, [&] { first = consumeSome(ring, 1); },
             [&] { second = consumeSome(ring, 1); });
    closeTheBooks(ring, 3, first + second);
}

template <class Ring, int Each>
void twoProducers() {
    Ledger ledger;
    Ring ring;
    int consumed = 0;
    parallel([&] { pushSome(ring, ledger, 0, Each); }, [&] { pushSome(ring, ledger, 10, Each); },
             [&] { consumed = consumeSome(ring, 2); });
    check(consumed + ring.dropped() < 2 * Each || consumed != 0, "the newest is not dropped");
    closeTheBooks(ring, 2 * Each, consumed);
}

/// Pushes of one producer come round to the slot that the other one fills, or has not entered.
template <class Ring, int First, int Second>
void lapOfAnotherProducer() {
    Ledger ledger;
    Ring ring;
    parallel([&] { pushSome(ring, ledger, 0, First); },
             [&] { pushSome(ring, ledger, 10, Second); });
    check(ring.sizeApprox() != 0, "the newest is not dropped");
    closeTheBooks(ring, First + Second, 0);
}

/// The same, if the other thread takes the very message that this one has found.
template <class Ring>
void neverEmptyAsAPushCameFirst() {
    Ledger ledger;
    Ring ring;
    pushSome(ring, ledger, 0, 1);
    parallel([&] { check(consumeSome(ring, 1) == 1, "one of the two"); },
             [&] {
                 pushSome(ring, ledger, 1, 1);
                 (void)ring.consume([](Value&) {}, 1);
             });
}

template <class Ring>
void closeWhilePushing() {
    Ledger ledger;
    Ring ring;
    Plain<int> reason;
    int accepted = 0;
    int consumed = 0;
    parallel(
        [&] {
            for (int i = 0; i < 2; ++i) {
                accepted += ring.tryEmplace(i, ledger) == SendResult::ok ? 1 : 0;
            }
        },
        [&] {
            reason.set(1);
            ring.close();
        },
        [&] {
            while (!ring.isDrained()) {
                const int count = consumeSome(ring, 1);
                consumed += count;
                if (count == 0) {
                    ModelPlatform::pause();
                }
            }
            check(reason.get() == 1, "what was written before close()");
            check(ledger.alive == 0, "nothing comes after the end");
        });
    check(accepted == consumed + ring.dropped(), "what was accepted was consumed or dropped");
    check(ring.isDrained(), "it stays drained");
}

/// A refused push announces itself, and a drained ring stays drained.
void drainedStays() {
    Ledger ledger;
    One<1> ring;
    ring.close();
    check(ring.isDrained(), "empty");
    parallel([&] { check(ring.tryEmplace(0, ledger) == SendResult::closed, "closed"); },
             [&] { check(ring.isDrained(), "it stays drained"); });
}

/// Sets a flag when it is destroyed, unless it was moved from.
struct Bell {
    explicit Bell(Plain<int>* flag) noexcept : rung(flag) {}
    Bell(Plain<int>* flag, Atomic<int>& isClaimed) noexcept : rung(flag) {
        isClaimed.store(1, relaxed);
    }
    Bell(Bell&& other) noexcept : rung(std::exchange(other.rung, nullptr)) {}
    ~Bell() {
        if (rung != nullptr) {
            rung->set(1);
        }
    }
    Plain<int>* rung;
};

/// A thread that counts a message as dropped sees what its destructor did.
template <class Traits>
void droppedMeansDestroyed() {
    Plain<int> rung;
    OverwriteRing<Bell, 1, Traits> ring;
    (void)ring.tryEmplace(&rung);
    parallel([&] { (void)ring.tryEmplace(nullptr); },
             [&] {
                 if (ring.dropped() == 1) {
                     check(rung.get() == 1, "its destructor has run");
                 }
             });
}

/// A drained ring has destroyed the messages that it dropped. So do all threads see that ask later.
template <class Traits>
void drainedMeansDestroyed() {
    Plain<int> rung;
    OverwriteRing<Bell, 1, Traits> ring;
    (void)ring.tryEmplace(&rung);
    const auto checkTheEnd = [&] {
        if (ring.isDrained()) {
            check(rung.get() == 1, "its destructor has run");
        }
    };
    parallel([&] { (void)ring.tryEmplace(nullptr); },
             [&] {
                 (void)ring.consume([](Bell&) {});
                 ring.close();
                 checkTheEnd();
             },
             checkTheEnd);
}

/// The same, if a producer drops its own message, because later pushes have passed it.
void drainedMeansDestroyedByItsOwnPush() {
    Plain<int> rung;
    Atomic<int> isClaimed{0};
    OverwriteRing<Bell, 1, ManyTraits> ring;
    parallel([&] { (void)ring.tryEmplace(&rung, isClaimed); },
             [&] {
                 while (isClaimed.load(relaxed) == 0) {
                     ModelPlatform::pause();
                 }
                 (void)ring.tryEmplace(nullptr);
                 (void)ring.tryEmplace(nullptr);
                 (void)ring.consume([](Bell&) {});
                 ring.close();
                 while (!ring.isDrained()) {
                     ModelPlatform::pause();
                 }
                 check(rung.get() == 1, "its destructor has run");
             });
}

/// A thread that counts a message as gone sees what its handler did.
template <class Ring>
void sizeTellsThatAMessageIsHandled() {
    Ledger ledger;
    Ring ring;
    Plain<int> handled;
    pushSome(ring, ledger, 0, 1);
    parallel([&] { (void)ring.consume([&](Value&) { handled.set(1); }); },
             [&] {
                 if (ring.sizeApprox() == 0) {
                     check(handled.get() == 1, "the handler has returned");
                 }
             });
}

TEST(OverwriteRingModelTest, CountsAndDestroysEachMessageOnce) {
    EXPECT_TRUE(holds(overrun<One<1>, 3, 2>));
    EXPECT_TRUE(holds(overrun<One<2>, 4, 2>));
    EXPECT_TRUE(holds(overrun<Many<1>, 3, 2>));
    EXPECT_TRUE(holds(overrun<One<1>, 6, 1>));
    EXPECT_TRUE(holds(overrun<Many<1>, 6, 1>));
    EXPECT_TRUE(holds(twoConsumersShare<One<2>>));
    EXPECT_TRUE(holds(twoConsumersShare<Many<1>>));
    EXPECT_TRUE(holds(twoProducers<Many<1>, 2>));
    EXPECT_TRUE(holds(twoProducers<Many<2>, 2>));
    EXPECT_TRUE(holds(lapOfAnotherProducer<Many<1>, 1, 4>));
    EXPECT_TRUE(holds(lapOfAnotherProducer<Many<2>, 3, 5>));
}

TEST(OverwriteRingModelTest, IsEmptyForAReason) {
    EXPECT_TRUE(holds(neverEmptyAsTheOtherConsumerKnows<Many<2>>));
    EXPECT_TRUE(holds(neverEmptyAsAPushCameFirst<Many<2>>));
    EXPECT_TRUE(holds(neverEmptyAsAPushCameFirst<One<2>>));
    EXPECT_TRUE(holds(messageThatIsKnownOf<Many<2>>));
    EXPECT_TRUE(holds(messageThatIsKnownOf<One<2>>));
}

TEST(OverwriteRingModelTest, DeliversWhatWasAcceptedBeforeTheEnd) {
    EXPECT_TRUE(holds(closeWhilePushing<Many<1>>));
    EXPECT_TRUE(holds(closeWhilePushing<One<1>>));
    EXPECT_TRUE(holds(drainedStays));
    EXPECT_TRUE(holds(drainedMeansHandled<Many<2>>));
    EXPECT_TRUE(holds(drainedMeansHandled<One<2>>));
    EXPECT_TRUE(holds(droppedMeansDestroyed<ManyTraits>));
    EXPECT_TRUE(holds(drainedMeansDestroyed<ManyTraits>));
    EXPECT_TRUE(holds(droppedMeansDestroyed<OneTraits>));
    EXPECT_TRUE(holds(drainedMeansDestroyed<OneTraits>));
    EXPECT_TRUE(holds(drainedMeansDestroyedByItsOwnPush));
    EXPECT_TRUE(holds(sizeTellsThatAMessageIsHandled<Many<1>>));
    EXPECT_TRUE(holds(closedTellsWhy<Many<1>>));
    EXPECT_TRUE(holds(closedTellsWhy<One<1>>));
}

TEST(OverwriteRingModelTest, EveryOrderIsNeededButFive) {
    // The sequence publishes the message, and a skipped position has none. So the tail of the only
    // producer, and the count of skipped positions, pass on the use of the ring's own memory only,
    // which the model does not free. The hint that a push stores matters to a consumer that sees
    // neither the tail nor the drop of the last message that it knows of, while a push is stopped
    // and the two after it are done.
    const Scenarios all{closedTellsWhy<Many<1>>,
                        closedTellsWhy<One<1>>,
                        droppedMeansDestroyed<ManyTraits>,
                        drainedMeansDestroyed<ManyTraits>,
                        droppedMeansDestroyed<OneTraits>,
                        drainedMeansDestroyed<OneTraits>,
                        drainedMeansDestroyedByItsOwnPush,
                        sizeTellsThatAMessageIsHandled<Many<1>>,
                        drainedMeansHandled<Many<2>>,
                        drainedMeansHandled<One<2>>,
                        messageThatIsKnownOf<Many<2>>,
                        messageThatIsKnownOf<One<2>>,
                        {neverEmptyAsTheOtherConsumerKnows<Many<2>>, {2, 2}},
                        neverEmptyAsAPushCameFirst<Many<2>>,
                        neverEmptyAsAPushCameFirst<One<2>>,
                        overrun<One<1>, 3, 2>,
                        overrun<Many<1>, 3, 2>,
                        {overrun<One<1>, 6, 1>, {2, 1}},
                        overrun<Many<1>, 6, 1>,
                        twoConsumersShare<One<2>>,
                        twoConsumersShare<Many<1>>,
                        twoProducers<Many<1>, 2>,
                        lapOfAnotherProducer<Many<1>, 1, 4>,
                        lapOfAnotherProducer<Many<2>, 3, 5>,
                        closeWhilePushing<Many<1>>,
                        closeWhilePushing<One<1>>};
    EXPECT_TRUE(survive({"claim: store release -> relaxed", "done: load acquire -> relaxed",
                         "end: store release -> relaxed", "end: store release -> relaxed",
                         "isDrained: load acquire -> relaxed"},
                        ordersOf("overwrite_ring.hpp", options({1, 1}), all)));
}

}  // namespace
}  // namespace sluice::model
