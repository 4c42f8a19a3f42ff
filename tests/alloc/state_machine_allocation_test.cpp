#include "support/allocation_count.hpp"

#include <sluice/actor/state_machine.hpp>

#include "support/testing.hpp"

namespace sluice::test {
namespace {

struct Heater {
    int degrees = 0;
};
struct Switch {};
struct Set {
    int degrees;
};

struct Off {};
struct Warm;
struct Heating {
    using Initial = Warm;
    static constexpr bool hasHistory = true;
};
struct Warm {
    using Parent = Heating;
    static void enter(Heater& heater) { ++heater.degrees; }
};
struct Hot {
    using Parent = Heating;
};

bool isMuch(const Set& set) {
    return set.degrees > 60;
}
void take(Heater& heater, const Set& set) {
    heater.degrees = set.degrees;
}

using Machine = StateMachine<Heater, Off,
                             Transitions<On<Off, Switch, Heating>, Defer<Off, Set>,  //
                                         On<Warm, Set, Hot, If<&isMuch>, Do<&take>>,
                                         Stay<Heating, Set, Do<&take>>, On<Heating, Switch, Off>>>;

TEST(StateMachineAllocationTest, AMachineAllocatesNothing) {
    Heater heater;
    bool isRight = true;
    const AllocationCount count;
    {
        Machine machine(heater);
        machine.start();
        for (int round = 0; round < 100; ++round) {
            for (std::size_t i = 0; i < MachineTraits::maxDeferred; ++i) {
                isRight = isRight && machine.handle(Set{70}) == MachineResult::deferred;
            }
            isRight = isRight && machine.handle(Set{70}) == MachineResult::refused;
            isRight = isRight && machine.handle(Switch{}) == MachineResult::handled;
            isRight = isRight && machine.isIn<Hot>() && machine.deferredCount() == 0;
            isRight = isRight && machine.handle(Switch{}) == MachineResult::handled;
        }
        machine.stop();
    }
    EXPECT_EQ(count.allocations(), 0U);
    EXPECT_TRUE(isRight);
}

}  // namespace
}  // namespace sluice::test
