#include "support/model/expectations.hpp"

#include <sluice/actor/detail/timer_slots.hpp>

#include "support/testing.hpp"

// The timers of one object as shipped, under the model checker. The contents of entries rely on
// edge E1 and on the edge of the stack of free slots, the links of the list on E2.

namespace sluice::model {
namespace {

template <std::size_t Count>
using Slots = detail::TimerSlots<ModelPlatform, Message, Count>;

/// The owner's knowledge: at most one timer that is armed.
template <std::size_t Count>
struct Owner {
    Slots<Count>& slots;
    bool knows[Count + 1]{};  // there is a spare slot
    int cancelled = 0;

    void takeChanges() {
        slots.takeChanges(
            [this](auto place) {
                check(!knows[place], "a timer is told of once");
                check(slots.entry(place).number() > 0, "its entry is there");
                knows[place] = true;
            },
            [this](auto place) {
                knows[place] = false;
                ++cancelled;
            });
    }
    /// Lets each timer fire once that it knows.
    int fireOnce() {
        int fired = 0;
        for (unsigned place = 0; place <= Count; ++place) {
            if (knows[place] && slots.end(place)) {
                knows[place] = false;
                ++fired;
                check(slots.entry(place).number() > 0, "its entry is there");
                slots.destroyEntry(place);
            }
        }
        return fired;
    }
    int fireAgain() {
        int fired = 0;
        for (unsigned place = 0; place <= Count; ++place) {
            if (knows[place] && slots.begin(place)) {
                ++fired;
                takeChanges();  // as by a handler that finds no free slot
                check(slots.entry(place).number() > 0, "its entry is there");
                knows[place] = slots.rearm(place);
            }
        }
        return fired;
    }
};

/// A timer either fires or is cancelled.
void cancelledOrFired() {
    Ledger ledger;
    Slots<1> slots;
    Owner<1> owner{slots};
    bool isCancelled = false;
    int fired = 0;
    parallel(
        [&] {
            const Timer timer = slots.arm(1, ledger);
            check(bool(timer), "there is a free slot");
            isCancelled = slots.cancel(timer);
        },
        [&] {
            owner.takeChanges();
            fired = owner.fireOnce();
        });
    owner.takeChanges();
    fired += owner.fireOnce();
    check(fired == (isCancelled ? 0 : 1), "it fires unless it was cancelled");
    check(owner.cancelled == (isCancelled ? 1 : 0), "the owner is told");
    check(ledger.alive == 0, "its message is gone");
    check(bool(slots.arm(2, ledger)), "its slot is free");
}

/// A periodic timer is cancelled before, while or after it fires.
void cancelledBetweenPeriods() {
    Ledger ledger;
    Slots<1> slots;
    Owner<1> owner{slots};
    const Timer timer = slots.arm(1, ledger);
    parallel([&] { check(slots.cancel(timer), "it has not ended"); },
             [&] {
                 owner.takeChanges();
                 (void)owner.fireAgain();
                 owner.takeChanges();
             });
    owner.takeChanges();
    check(owner.fireAgain() == 0, "it does not fire any more");
    check(ledger.alive == 0, "it has ended");
    check(bool(slots.arm(2, ledger)), "its slot is free");
}

/// The slot of a cancelled timer serves another thread.
void slotIsUsedAgain() {
    Ledger ledger;
    Slots<1> slots;
    Owner<1> owner{slots};
    const Timer first = slots.arm(1, ledger);
    Timer second;
    parallel(
        [&] {
            (void)slots.cancel(first);
            second = slots.arm(2, ledger);
        },
        [&] { owner.takeChanges(), owner.takeChanges(); });
    check(!slots.cancel(first), "the old one has ended");
    check(!second || slots.cancel(second), "the new one has not");
    owner.takeChanges();
}

/// The news of two threads do not get lost.
void twoThreadsStartTimers() {
    Ledger ledger;
    Slots<2> slots;
    Owner<2> owner{slots};
    const auto arm = [&] { check(bool(slots.arm(1, ledger)), "there is a free slot"); };
    int fired = 0;
    parallel([&] { arm(); }, [&] { arm(); },
             [&] {
                 owner.takeChanges();
                 fired = owner.fireOnce();
             });
    owner.takeChanges();
    fired += owner.fireOnce();
    check(fired == 2, "both fire");
    check(ledger.alive == 0, "their messages are gone");
}

TEST(TimerSlotsModelTest, TimersFireOrAreCancelled) {
    EXPECT_TRUE(holds(cancelledOrFired));
    EXPECT_TRUE(holds(cancelledBetweenPeriods));
    EXPECT_TRUE(holds(slotIsUsedAgain));
    EXPECT_TRUE(holds(twoThreadsStartTimers));
}

TEST(TimerSlotsModelTest, EveryOrderIsNeededThatTheCheckerCanJudge) {
    const Scenarios all{cancelledOrFired, cancelledBetweenPeriods, slotIsUsedAgain,
                        twoThreadsStartTimers};
    // E2 keeps the owner's load of a link from being carried out after its write to the word. The
    // checker delays no load past a later write.
    EXPECT_TRUE(
        survive({"cancel: update acquire -> relaxed", "takeChanges: update release -> relaxed"},
                ordersOf("timer_slots.hpp", options({1, 1}), all)));
}

}  // namespace
}  // namespace sluice::model
