#include "support/model/expectations.hpp"
#include "support/sanitizers.hpp"

#include <sluice/memory/detail/owner_gate.hpp>

#include <gtest/gtest.h>

// OwnerGate as shipped, under the model checker, which checks the data of the owner and of the
// visitor for data races.

namespace sluice::model {
namespace {

struct Thing {
    Plain<int> made{0};
};

struct Scene {
    Scene() { gate.set(&thing); }

    /// The owner uses what the gate guards, or sees that the gate is closed.
    bool tryUse() {
        Thing* const mine = gate.enter();
        if (mine != &closed) {
            uses.set(uses.get() + 1);
        }
        gate.leave();
        return mine != &closed;
    }
    /// The owner puts the other thing into the gate, unless the gate is closed.
    bool tryChange() {
        Thing* const mine = gate.enter();
        if (mine != &closed) {
            other.made.set(1);
            gate.set(&other);
        }
        gate.leave();
        return mine != &closed;
    }
    /// The visitor uses what the gate guards, if the owner is outside.
    bool visit() {
        Thing* const object = gate.close(&closed);
        (void)object->made.get();
        ModelPlatform::Fence::heavy();
        const bool isVisitors = gate.isVisitors(&closed);
        if (isVisitors) {
            uses.set(uses.get() + 1);
        }
        gate.open(&closed, object);
        return isVisitors;
    }

    Thing thing, other, closed;
    Plain<int> uses{0};
    detail::OwnerGate<ModelPlatform, Thing> gate;
};

void oneOfThemUsesIt() {
    Scene scene;
    int uses = 0;
    bool hasVisited = false;
    parallel(
        [&] {
            for (int i = 0; i < 2; ++i) {
                uses += scene.tryUse() ? 1 : 0;
            }
        },
        [&] { hasVisited = scene.visit(); });
    check(scene.gate.peek() == &scene.thing, "the gate is open again");
    check(scene.uses.get() == uses + (hasVisited ? 1 : 0), "no use is lost");
}

void ownerChangesTheObject() {
    Scene scene;
    bool hasChanged = false;
    parallel(
        [&] {
            hasChanged = scene.tryChange();
            (void)scene.tryUse();
        },
        [&] { (void)scene.visit(); });
    check(scene.gate.peek() == (hasChanged ? &scene.other : &scene.thing),
          "the gate is open, and no change is lost");
}

void anotherThreadLooks() {
    Scene scene;
    parallel([&] { (void)scene.tryChange(); }, [&] { (void)scene.gate.peek()->made.get(); });
}

const Scenarios all{oneOfThemUsesIt, ownerChangesTheObject, anotherThreadLooks};

TEST(OwnerGateModelTest, OwnerAndVisitorExcludeEachOther) {
    for (const Scenario& scenario : all) {
        EXPECT_TRUE(holds(scenario.body));
    }
}

// Not under sanitizers: they end the process for the faults that mutants are meant to have.
#if !SLUICE_TEST_ASAN && !SLUICE_TEST_TSAN
TEST(OwnerGateModelTest, EveryOrderIsNeeded) {
    EXPECT_TRUE(survive({}, surveyOrders("owner_gate.hpp", options({1, 1}), all)));
}
#endif

}  // namespace
}  // namespace sluice::model
