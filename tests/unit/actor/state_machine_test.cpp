#include "unit/actor/machine_doubles.hpp"

#include <sluice/actor/state_machine.hpp>

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>

namespace sluice {
namespace {

using namespace test;

class StateMachineTest : public testing::Test {
protected:
    /// What happened since the last call.
    Log happened() { return std::exchange(robot_.log, {}); }

    Robot robot_;
    Machine machine_{robot_};
};

TEST_F(StateMachineTest, BeginsWithItsFirstStateAndItsParents) {
    EXPECT_FALSE(machine_.isRunning());
    EXPECT_EQ(machine_.handle(Start{}), MachineResult::unhandled);
    EXPECT_TRUE(machine_.start());
    EXPECT_FALSE(machine_.start());
    EXPECT_EQ(happened(), (Log{"+Working", "+Standing"}));
    EXPECT_TRUE(machine_.isIn<Standing>());
    EXPECT_TRUE(machine_.isIn<Working>());
    EXPECT_FALSE(machine_.isIn<Moving>());
    machine_.stop();
    EXPECT_EQ(happened(), (Log{"-Standing", "-Working"}));
    EXPECT_FALSE(machine_.isRunning());
    EXPECT_FALSE(machine_.isIn<Working>());
}

TEST_F(StateMachineTest, LeavesActsAndEntersInThisOrder) {
    machine_.start();
    (void)happened();
    EXPECT_EQ(machine_.handle(Start{}), MachineResult::handled);
    EXPECT_EQ(happened(), (Log{"-Standing", "drive", "+Moving", "+Slow"}));
    EXPECT_EQ(machine_.handle(Fault{}), MachineResult::handled);
    EXPECT_EQ(happened(), (Log{"-Slow", "-Moving", "-Working", "+Broken"}));
}

TEST_F(StateMachineTest, GuardsChooseTheRowAndInnerStatesComeFirst) {
    machine_.start();
    robot_.clear = false;
    (void)happened();
    EXPECT_EQ(machine_.handle(Start{}), MachineResult::handled);
    EXPECT_EQ(happened(), Log{"beep"});
    robot_.clear = true;
    machine_.handle(Start{});
    (void)happened();
    machine_.handle(Faster{5});
    EXPECT_EQ(happened(), Log{"by 5"}) << "the parent's row, and no state changes";
    machine_.handle(Faster{50});
    EXPECT_EQ(happened(), (Log{"-Slow", "by 50", "+Fast"}));
    EXPECT_EQ(machine_.handle(Start{}), MachineResult::unhandled);
    EXPECT_EQ(happened(), Log{});
}

TEST_F(StateMachineTest, AStateThatLeadsToItselfIsLeftAndEntered) {
    machine_.start();
    machine_.handle(Start{});
    machine_.handle(Faster{50});
    (void)happened();
    machine_.handle(Again{});
    EXPECT_EQ(happened(), (Log{"-Fast", "-Moving", "+Moving", "+Slow"}));
}

TEST_F(StateMachineTest, BetweenAStateAndOneInsideOfItTheOuterOneStays) {
    machine_.start();
    machine_.handle(Start{});
    (void)happened();
    machine_.handle(Inward{});
    EXPECT_EQ(happened(), (Log{"-Slow", "+Fast"}));
    machine_.handle(Outward{});
    EXPECT_EQ(happened(), (Log{"-Fast", "+Slow"}));
}

TEST_F(StateMachineTest, HistoryLeadsBackToTheLastStateInside) {
    machine_.start();
    machine_.handle(Start{});
    machine_.handle(Faster{50});
    machine_.handle(Fault{});
    (void)happened();
    machine_.handle(Repaired{});
    EXPECT_EQ(happened(), (Log{"-Broken", "+Working", "+Moving", "+Slow"}))
        << "shallow: Moving begins as always";
    machine_.stop();
    machine_.start();
    EXPECT_TRUE(machine_.isIn<Standing>()) << "a machine that was stopped has no history";
}

TEST_F(StateMachineTest, DeferredMessagesComeBackInOrderAfterAChange) {
    machine_.start();
    machine_.handle(Fault{});
    (void)happened();
    EXPECT_EQ(machine_.handle(Start{}), MachineResult::deferred);
    EXPECT_EQ(machine_.handle(Stop{}), MachineResult::deferred);
    EXPECT_EQ(machine_.handle(Stop{}), MachineResult::refused);
    EXPECT_EQ(machine_.deferredCount(), 2U);
    EXPECT_EQ(happened(), Log{});
    machine_.handle(Repaired{});
    EXPECT_EQ(happened(), (Log{"-Broken", "+Working", "+Standing",        // Repaired
                               "-Standing", "drive", "+Moving", "+Slow",  // Start
                               "-Slow", "-Moving", "+Standing"}));        // Stop
    EXPECT_EQ(machine_.deferredCount(), 0U);
}

TEST_F(StateMachineTest, ADeferredMessageThatNobodyWantsAnyMoreGoes) {
    machine_.start();
    machine_.handle(Fault{});
    machine_.handle(Stop{});
    machine_.handle(Repaired{});
    EXPECT_TRUE(machine_.isIn<Standing>());
    EXPECT_EQ(machine_.deferredCount(), 0U);
}

TEST(StateMachineGraphTest, IsTextForGraphviz) {
    std::string text;
    Machine::writeGraph([&text](std::string_view piece) { text += piece; });
    for (const char* const line :
         {"digraph machine {\n", "  subgraph cluster_Working {\n  label=Working;\n",
          "  start [shape=point]; start -> Standing;\n", "  Broken;\n",
          "  Standing -> Slow [label=\"Start [isClear] / drive\", lhead=cluster_Moving];\n",
          "  Standing -> Standing [label=\"Start / beep\", style=dashed];\n",
          "  Slow -> Fast [label=\"Faster [isMuch] / note\"];\n",
          "  Standing -> Broken [label=\"Fault\", ltail=cluster_Working];\n",
          "  Broken -> Broken [label=\"Start / deferred\", style=dashed];\n"}) {
        EXPECT_NE(text.find(line), std::string::npos) << line << "is not in\n" << text;
    }
}

#if defined(__cpp_exceptions)
struct Careless {};
void fail() {
    throw 1;
}
struct Home {};
struct Away {};

TEST(StateMachineExceptionTest, AnActionThatThrowsLeavesTheMachineWhereItIs) {
    Careless context;
    StateMachine<
        Careless, Home,
        Transitions<Stay<Home, Start, Do<&fail>>, On<Home, Stop, Away>, On<Away, Stop, Home>>>
        machine(context);
    machine.start();
    EXPECT_THROW(machine.handle(Start{}), int);
    EXPECT_TRUE(machine.isIn<Home>());
    EXPECT_EQ(machine.handle(Stop{}), MachineResult::handled);
    EXPECT_TRUE(machine.isIn<Away>());
}
#endif

}  // namespace
}  // namespace sluice
