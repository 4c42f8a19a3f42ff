#include "support/model/expectations.hpp"

#include <sluice/queue/latest.hpp>

#include <gtest/gtest.h>

// Latest as shipped, under the model checker. The contents of values rely on edge E1, their slots
// on E2 and on the edge of the stack.

namespace sluice::model {
namespace {

using OneWriter = Latest<Message, 1, ModelTraits>;
using TwoWriters = Latest<Message, 2, ModelTraits>;

template <class Value>
void write(Value& latest, Ledger& ledger, int number) {
    check(latest.emplace(number, ledger), "there is a place for each writer");
}

/// Reads twice: the values of each writer never go back. The tens of a number name its writer.
template <class Value>
void readTwice(Value& latest) {
    int before = -1;
    for (int i = 0; i < 2; ++i) {
        if (const Message* const newest = latest.update()) {
            const int number = newest->number();
            check(number / 10 != before / 10 || number >= before, "never an older one");
            before = number;
        }
    }
}

/// One writer comes to the slots that the reader had.
void slotsComeBackFromTheReader() {
    Ledger ledger;
    OneWriter latest;
    parallel([&] { write(latest, ledger, 0), write(latest, ledger, 1), write(latest, ledger, 2); },
             [&] { readTwice(latest); });
    const Message* const last = latest.update();
    check(last != nullptr && last->number() == 2, "the last one is there in the end");
}

/// The last write is built in the slot of the value that the reader has read and given up.
void slotOfAReadValueIsReused() {
    Ledger ledger;
    OneWriter latest;
    write(latest, ledger, 0);
    const Message* held = latest.update();
    write(latest, ledger, 1);
    parallel(
        [&] {
            check(held->number() == 0, "it stays valid until the next update()");
            held = latest.update();
            check(held->number() > 0, "there is a newer one");
        },
        [&] { write(latest, ledger, 2), write(latest, ledger, 3); });
}

/// The writers get slots from each other and from the reader.
void twoWritersOneReader() {
    Ledger ledger;
    TwoWriters latest;
    parallel([&] { write(latest, ledger, 0), write(latest, ledger, 1); },
             [&] { write(latest, ledger, 10); }, [&] { readTwice(latest); });
    const Message* const last = latest.update();
    check(last != nullptr && (last->number() == 1 || last->number() == 10), "the last of one");
}

/// The reader finds a value that it knows to be there.
void newValueIsFound() {
    Ledger ledger;
    OneWriter latest;
    parallel([&] { write(latest, ledger, 0), write(latest, ledger, 1); },
             [&] {
                 if (latest.hasNew()) {
                     const Message* const newest = latest.update();
                     check(newest != nullptr && newest->number() >= 0, "a value that was written");
                 }
             });
}

TEST(LatestModelTest, GivesTheNewestAndDestroysEachOnce) {
    EXPECT_TRUE(holds(slotsComeBackFromTheReader));
    EXPECT_TRUE(holds(slotOfAReadValueIsReused));
    EXPECT_TRUE(holds(twoWritersOneReader));
    EXPECT_TRUE(holds(newValueIsFound));
}

TEST(LatestModelTest, EveryOrderIsNeeded) {
    const Scenarios all{newValueIsFound, slotsComeBackFromTheReader, slotOfAReadValueIsReused,
                        twoWritersOneReader};
    EXPECT_TRUE(survive({}, ordersOf("latest.hpp", options({1, 1}), all)));
    EXPECT_TRUE(survive({}, ordersOf("tagged_head.hpp", options({1, 1}), all)));
}

}  // namespace
}  // namespace sluice::model
