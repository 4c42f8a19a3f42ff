#include "support/model/expectations.hpp"
#include "support/sanitizers.hpp"

#include <sluice/base/presence.hpp>

#include <gtest/gtest.h>

#include <atomic>

// Presence as shipped, under the model checker. An object that is taken away too early shows as a
// data race with the reader. The places run on fibers, which allows a deeper walk: they have no
// thread-local objects.

namespace sluice::model {
namespace {

using Presence = BasicPresence<ModelPlatform>;

struct Object {
    Plain<int> content;
};

/// A list of one object, and another list that nobody changes.
struct Shared {
    Presence::Owner presence = Presence::make();
    alignas(8) Object object;
    alignas(8) int otherList = 0;
    Atomic<Object*> current{&object};

    const void* list() const { return &current; }
    Object* unlink() { return current.exchange(nullptr, std::memory_order_acq_rel); }

    bool isQuiet() const {
        auto period = presence->beginGrace();
        return presence->hasPassed(period, list());
    }

    void read(Presence::Slot& slot) {
        const auto section = presence->enter(slot, list());
        if (Object* const found = current.load(std::memory_order_acquire)) {
            check(found->content.get() == 0, "not taken away");
        }
    }
    void readTwice() {
        auto& slot = presence->acquire();
        read(slot);
        read(slot);
        presence->release(slot);
    }
};

void removerLooks() {
    Shared shared;
    parallel([&] { shared.readTwice(); },
             [&] {
                 Object* const old = shared.unlink();
                 if (shared.isQuiet()) {
                     old->content.set(-1);
                 }
             });
}

/// A remover that asks twice: the second question goes on where the first one ended.
void removerAsksTwice() {
    Shared shared;
    parallel([&] { shared.readTwice(); },
             [&] {
                 Object* const old = shared.unlink();
                 auto period = shared.presence->beginGrace();
                 if (shared.presence->hasPassed(period, shared.list()) ||
                     shared.presence->hasPassed(period, shared.list())) {
                     old->content.set(-1);
                 }
             });
}

void removerWaits() {
    Shared shared;
    parallel([&] { shared.readTwice(); },
             [&] {
                 Object* const old = shared.unlink();
                 shared.presence->waitForOthers(shared.list());
                 old->content.set(-1);
             });
}

/// The section of interest is the ninth, in a block of its own.
void readerIsNestedDeeply() {
    Shared shared;
    parallel(
        [&] {
            auto& slot = shared.presence->acquire();
            {
                const auto s1 = shared.presence->enter(slot, &shared.otherList);
                const auto s2 = shared.presence->enter(slot, &shared.otherList);
                const auto s3 = shared.presence->enter(slot, &shared.otherList);
                const auto s4 = shared.presence->enter(slot, &shared.otherList);
                const auto s5 = shared.presence->enter(slot, &shared.otherList);
                const auto s6 = shared.presence->enter(slot, &shared.otherList);
                const auto s7 = shared.presence->enter(slot, &shared.otherList);
                const auto s8 = shared.presence->enter(slot, &shared.otherList);
                shared.read(slot);
            }
            shared.presence->release(slot);
        },
        [&] {
            Object* const old = shared.unlink();
            if (shared.isQuiet()) {
                old->content.set(-1);
            }
        });
}

/// The remover finds itself alone while another thread takes its first place.
void removerIsAlone() {
    Shared shared;
    parallel(
        [&] {
            auto& slot = shared.presence->acquire();
            shared.read(slot);
            shared.presence->release(slot);
        },
        [&] {
            Object* const old = shared.unlink();
            if (shared.presence->isAlone()) {
                old->content.set(-1);
            }
        });
}

/// The next owner of a place finds it as the last one left it.
void placesAreHandedOn() {
    Shared shared;
    Plain<int> uses[2];
    const auto use = [&] {
        auto& slot = shared.presence->acquire();
        Plain<int>& count = uses[slot.next == nullptr ? 0 : 1];
        count.set(count.get() + 1);
        { const auto section = shared.presence->enter(slot, shared.list()); }
        shared.presence->release(slot);
    };
    parallel(use, use);
}

/// The owner may go while a thread still has a place. The last one frees the memory.
void placeOutlivesTheOwner() {
    auto presence = Presence::make();
    alignas(8) int list = 0;
    auto& slot = presence->acquire();
    auto& home = *presence;
    parallel(
        [&] {
            { const auto section = home.enter(slot, &list); }
            home.release(slot);
        },
        [&] { presence.reset(); });
}

/// The thread-local table in front: places are found again and given back when the thread ends.
void threadsFindTheirPlaces() {
    Shared shared;
    parallel(
        [&] {
            for (int i = 0; i < 2; ++i) {
                const auto section = shared.presence->enter(shared.list());
                if (Object* const found = shared.current.load(std::memory_order_acquire)) {
                    check(found->content.get() == 0, "not taken away");
                }
            }
        },
        [&] {
            Object* const old = shared.unlink();
            shared.presence->waitForOthers(shared.list());
            old->content.set(-1);
        });
}

Options options(Budget budget, bool ownThreads) {
    Options result;
    result.budget = budget;
    result.ownThreads = ownThreads;
    return result;
}

TEST(PresenceModelTest, NothingIsTakenAwayUnderAReader) {
    EXPECT_TRUE(holds(removerLooks, options({3, 2}, false)));
    EXPECT_TRUE(holds(removerAsksTwice, options({2, 2}, false)));
    EXPECT_TRUE(holds(removerWaits, options({2, 2}, false)));
    EXPECT_TRUE(holds(readerIsNestedDeeply, options({2, 2}, false)));
    EXPECT_TRUE(holds(removerIsAlone, options({3, 2}, false)));
}

TEST(PresenceModelTest, PlacesChangeHands) {
    EXPECT_TRUE(holds(placesAreHandedOn, options({2, 2}, false)));
    EXPECT_TRUE(holds(placeOutlivesTheOwner, options({2, 2}, false)));
    EXPECT_TRUE(holds(threadsFindTheirPlaces, options({2, 1}, true)));
}

// Not under sanitizers: they end the process for the faults that mutants are meant to have.
#if !SLUICE_TEST_ASAN && !SLUICE_TEST_TSAN
TEST(PresenceModelTest, EveryOrderIsNeeded) {
    EXPECT_TRUE(survive({}, surveyOrders("presence.hpp", {},
                                         {placeOutlivesTheOwner, placesAreHandedOn, removerLooks,
                                          removerIsAlone, readerIsNestedDeeply, removerWaits})));
}
#endif

}  // namespace
}  // namespace sluice::model
