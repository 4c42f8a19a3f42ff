#include "model/lasting_registry.hpp"

#include "support/testing.hpp"

// ReaderRegistry as shipped, under the model checker. An object that is taken away too early shows
// as a data race with the reader. The slots are acquired explicitly, so the threads may be fibers,
// which allows a deeper walk: they have no thread-local objects.

namespace sluice::model {
namespace {

using Registry = BasicReaderRegistry<ModelPlatform>;

struct Object {
    Plain<int> content;
};

/// A list of one object, and another list that nobody changes.
struct Shared {
    Registry& registry = lastingRegistry();
    alignas(8) Object object;
    alignas(8) std::array<std::uint64_t, 9> otherLists{};
    Atomic<Object*> current{&object};

    const void* list() const { return &current; }
    Object* unlink() { return current.exchange(nullptr, std::memory_order_acq_rel); }

    bool isQuiet() const {
        auto period = registry.beginGrace();
        return registry.hasPassed(period, list());
    }

    void read(Registry::Slot& slot) {
        const auto guard = registry.enter(slot, list());
        if (Object* const found = current.load(acquire)) {
            check(found->content.get() == 0, "not taken away");
        }
    }
    /// The guard of interest is the innermost one. The ninth one has a slot of its own.
    void readNested(Registry::Slot& slot, std::size_t depth) {
        if (depth == 1) {
            read(slot);
            return;
        }
        const auto guard = registry.enter(slot, &otherLists[depth - 1]);
        readNested(slot, depth - 1);
    }
    void readTwice() {
        auto& slot = registry.acquire();
        read(slot);
        read(slot);
        registry.release(slot);
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

/// A remover that asks twice: the second call continues where the first one ended.
void removerAsksTwice() {
    Shared shared;
    parallel([&] { shared.readTwice(); },
             [&] {
                 Object* const old = shared.unlink();
                 auto period = shared.registry.beginGrace();
                 if (shared.registry.hasPassed(period, shared.list()) ||
                     shared.registry.hasPassed(period, shared.list())) {
                     old->content.set(-1);
                 }
             });
}

void removerWaits() {
    Shared shared;
    parallel([&] { shared.readTwice(); },
             [&] {
                 Object* const old = shared.unlink();
                 shared.registry.waitForOthers(shared.list());
                 old->content.set(-1);
             });
}

template <std::size_t Depth>
void readerIsNested() {
    Shared shared;
    parallel(
        [&] {
            auto& slot = shared.registry.acquire();
            shared.readNested(slot, Depth);
            shared.registry.release(slot);
        },
        [&] {
            Object* const old = shared.unlink();
            if (shared.isQuiet()) {
                old->content.set(-1);
            }
        });
}

/// A waiting remover reads the mark of the slot's next guard instead of the end of the last one.
void slotBecomesTemporary() {
    Shared shared;
    auto& first = shared.registry.acquire();
    auto& mine = shared.registry.acquire();
    parallel(
        [&] {
            shared.read(first);
            shared.registry.release(first);
            shared.readNested(mine, 9);
        },
        [&] {
            Object* const old = shared.unlink();
            shared.registry.waitForOthers(shared.list());
            old->content.set(-1);
        });
}

/// The remover finds itself alone while another thread takes its first place.
void removerIsAlone() {
    Shared shared;
    parallel(
        [&] {
            auto& slot = shared.registry.acquire();
            shared.read(slot);
            shared.registry.release(slot);
        },
        [&] {
            Object* const old = shared.unlink();
            if (shared.registry.isAlone()) {
                old->content.set(-1);
            }
        });
}

/// The next owner of a slot finds it as the last one left it.
void slotsAreHandedOver() {
    Shared shared;
    Plain<int> uses[2];
    auto& first = shared.registry.acquire();
    auto& second = shared.registry.acquire();
    shared.registry.release(second);
    shared.registry.release(first);
    const auto use = [&] {
        auto& slot = shared.registry.acquire();
        Plain<int>& count = uses[&slot == &first ? 0 : 1];
        count.set(count.get() + 1);
        { const auto guard = shared.registry.enter(slot, shared.list()); }
        shared.registry.release(slot);
    };
    parallel(use, use);
}

/// The thread-local table in front: slots are found again and given back when the thread ends.
void threadsFindTheirSlots() {
    Shared shared;
    parallel(
        [&] {
            for (int i = 0; i < 2; ++i) {
                const auto guard = shared.registry.enter(shared.list());
                if (Object* const found = shared.current.load(acquire)) {
                    check(found->content.get() == 0, "not taken away");
                }
            }
        },
        [&] {
            Object* const old = shared.unlink();
            shared.registry.waitForOthers(shared.list());
            old->content.set(-1);
        });
}

TEST(ReaderRegistryModelTest, NothingIsTakenAwayUnderAReader) {
    EXPECT_TRUE(holds(removerLooks, options({3, 2}, false)));
    EXPECT_TRUE(holds(removerAsksTwice, options({2, 2}, false)));
    EXPECT_TRUE(holds(removerWaits, options({2, 2}, false)));
    EXPECT_TRUE(holds(readerIsNested<9>, options({2, 2}, false)));
    EXPECT_TRUE(holds(slotBecomesTemporary, options({2, 2}, false)));
    EXPECT_TRUE(holds(removerIsAlone, options({3, 2}, false)));
}

TEST(ReaderRegistryModelTest, SlotsChangeHands) {
    EXPECT_TRUE(holds(slotsAreHandedOver, options({2, 2}, false)));
    EXPECT_TRUE(holds(threadsFindTheirSlots, options({2, 1}, true)));
}

TEST(ReaderRegistryModelTest, EveryOrderIsNeeded) {
    EXPECT_TRUE(
        survive({}, ordersOf("reader_registry.hpp", {},
                             {slotsAreHandedOver, removerLooks, removerIsAlone, readerIsNested<2>,
                              readerIsNested<9>, removerWaits, slotBecomesTemporary})));
}

}  // namespace
}  // namespace sluice::model
