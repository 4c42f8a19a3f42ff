#include "unit/actor/machine_doubles.hpp"

#include <sluice/actor/state_machine.hpp>
#include <sluice/inspect/machine_graph.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice {
namespace {
namespace machines {

using namespace test;

class StateMachineTest : public testing::Test {
protected:
    /// The log since the last call.
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
    writeGraph<Machine>([&text](std::string_view piece) { text += piece; });
    for (const char* const line :
         {"digraph machine {\n", "  subgraph cluster_s1 {\n  label=\"Working (history)\";\n",
          "  i1 [shape=point]; i1 -> s0;\n",
          "  i6 [shape=point]; i6 -> s0;\n",  // 6 states: the machine's own point
          "  s0 [label=\"Standing\"];\n", "  s5 [label=\"Broken\"];\n",
          "  s0 -> s2 [label=\"Start [isClear] / drive\", lhead=cluster_s3];\n",
          "  s0 -> s0 [label=\"Start / beep\", style=dashed];\n",
          "  s2 -> s4 [label=\"Faster [isMuch] / note\"];\n",
          "  s0 -> s5 [label=\"Fault\", ltail=cluster_s1];\n",
          "  s4 -> s2 [label=\"Outward\"];\n",  // to a state around it: no border is crossed
          "  s5 -> s5 [label=\"Start / deferred\", style=dashed];\n"}) {
        EXPECT_NE(text.find(line), std::string::npos) << line << "is not in\n" << text;
    }
}

struct Ready {};
struct Half {};
void noteStart(Robot& robot) {
    robot.log.emplace_back("start");
}
void noteFault(Robot& robot) {
    robot.log.emplace_back("fault");
}

TEST(StateMachineOrderTest, EachChangeOffersTheOldestDeferredMessageFirst) {
    struct Idle {};
    using Rows = Transitions<Defer<Idle, Start>, Defer<Idle, Stop>, Defer<Idle, Fault>,
                             On<Idle, Again, Half>, Defer<Half, Start>, On<Half, Stop, Ready>,
                             Stay<Half, Fault, Do<&noteFault>>, Stay<Ready, Start, Do<&noteStart>>,
                             Stay<Ready, Fault, Do<&noteFault>>>;
    Robot robot;
    StateMachine<Robot, Idle, Rows> machine(robot);
    machine.start();
    machine.handle(Start{});
    machine.handle(Stop{});
    machine.handle(Fault{});
    machine.handle(Again{});  // Half defers Start again, Stop leads to Ready
    EXPECT_EQ(robot.log, (Log{"start", "fault"}));
}

struct Left {
    struct Same {};
};
struct Right {
    struct Same {};
};
template <class Of>
struct Waiting {};

TEST(StateMachineGraphTest, StatesOfOneNameAreDifferentNodes) {
    using Ring = Transitions<On<Left::Same, Start, Right::Same>,
                             On<Right::Same, Start, Waiting<Left::Same>>>;
    std::string text;
    writeGraph<StateMachine<Robot, Left::Same, Ring>>(
        [&text](std::string_view piece) { text += piece; });
    EXPECT_NE(text.find("  s0 -> s1 [label=\"Start\"];\n  s1 -> s2 [label"), std::string::npos)
        << text;
    EXPECT_NE(text.find("  s2 [label=\"Waiting<"), std::string::npos) << text;
}

template <char Letter, class T>
struct Key {};
struct Panel {
    void operator->() {}
    void operator()() {}
    bool operator!() const { return true; }
};

TEST(StateMachineGraphTest, BracketsInNamesEndNoName) {
    struct Off {};
    using Rows = Transitions < Stay < Off, Key<'>', Left::Same>, Do < &Panel::operator->>>,
          Stay<Off, Key<']', int>, If<&Panel::operator!>, Do<&Panel::operator()>>>;
    std::string text;
    writeGraph<StateMachine<Panel, Off, Rows>>([&text](std::string_view piece) { text += piece; });
    EXPECT_NE(text.find("[label=\"Key<'>', "), std::string::npos) << text;
    EXPECT_NE(text.find(" / operator->\","), std::string::npos) << text;
    EXPECT_NE(text.find("[label=\"Key<']', int> [operator!] / operator()\","), std::string::npos)
        << text;
}

struct Caller {
    void* machine = nullptr;
};
struct Calls {
    static void enter(Caller& caller);
};
using CallingMachine = StateMachine<Caller, Calls, Transitions<Stay<Calls, Start>>>;
void Calls::enter(Caller& caller) {
    static_cast<CallingMachine*>(caller.machine)->handle(Start{});
}

TEST(StateMachineDeathTest, AFunctionOfAMachineDoesNotCallIt) {
    Caller caller;
    CallingMachine machine(caller);
    caller.machine = &machine;
    EXPECT_DEATH(machine.start(), "let the function post a message");
}

TEST_F(StateMachineTest, DiscardedMessagesAreCounted) {
    machine_.start();
    machine_.handle(Fault{});
    machine_.handle(Stop{});
    machine_.handle(Repaired{});  // Standing does nothing with Stop
    EXPECT_EQ(machine_.discardedCount(), 1U);
    machine_.handle(Fault{});
    machine_.handle(Stop{});
    machine_.handle(Start{});
    machine_.stop();
    EXPECT_EQ(machine_.deferredCount(), 0U);
    EXPECT_EQ(machine_.discardedCount(), 3U);
}

/// A message whose copies must not be copied or moved.
struct Label {
    explicit Label(int n) : number(n) {}
    Label(const Label& other) : number(other.number), isCopy(true) {
        EXPECT_FALSE(other.isCopy) << "the machine keeps it in one place";
    }
    Label& operator=(const Label&) = delete;
    ~Label() = default;

    const int number;
    const bool isCopy = false;
};
struct Closed {};
struct Open {};
struct Read {};
struct Reader {
    std::vector<int> numbers;
};
bool isOdd(const Label& label) {
    return label.number % 2 != 0;
}
void read(Reader& reader, const Label& label) {
    reader.numbers.push_back(label.number);
}

TEST(StateMachineOrderTest, ADeferredMessageIsCopiedOnceAndNotMoved) {
    Reader reader;
    StateMachine<Reader, Closed,
                 Transitions<On<Closed, Start, Open>, Defer<Closed, Label>,
                             Stay<Open, Label, If<&isOdd>, Do<&read>>, Defer<Open, Label>,
                             On<Open, Stop, Closed>, On<Closed, Repaired, Read>,
                             Stay<Read, Label, Do<&read>>>>
        machine(reader);
    machine.start();
    for (int number = 1; number <= 4; ++number) {
        EXPECT_EQ(machine.handle(Label(number)), MachineResult::deferred);
    }
    machine.handle(Start{});
    EXPECT_EQ(reader.numbers, (std::vector<int>{1, 3}));
    machine.handle(Stop{});
    EXPECT_EQ(machine.handle(Label(5)), MachineResult::deferred);
    machine.handle(Repaired{});
    EXPECT_EQ(reader.numbers, (std::vector<int>{1, 3, 2, 4, 5}));
    EXPECT_EQ(machine.deferredCount(), 0U);
}

/// Its end counts the messages of a machine.
struct Counting {
    explicit Counting(std::function<void()> f) : atEnd(std::move(f)) {}
    Counting(const Counting&) = default;
    Counting& operator=(const Counting&) = default;
    ~Counting() { atEnd(); }
    std::function<void()> atEnd;
};

TEST(StateMachineOrderTest, ADiscardedMessageIsCountedOnce) {
    Robot robot;
    StateMachine<Robot, Closed, Transitions<On<Closed, Start, Open>, Defer<Closed, Counting>>>
        machine(robot);
    std::size_t counted = 0;
    machine.start();
    {
        const Counting message(
            [&] { counted = machine.deferredCount() + machine.discardedCount(); });
        EXPECT_EQ(machine.handle(message), MachineResult::deferred);
    }
    machine.stop();
    EXPECT_EQ(counted, 1U);
    EXPECT_EQ(machine.discardedCount(), 1U);
}

TEST(StateMachineSizeTest, AMachineThatDefersNothingKeepsNoRoomForIt) {
    using Small = Transitions<On<Left::Same, Start, Right::Same>>;
    EXPECT_LE(sizeof(StateMachine<Robot, Left::Same, Small>), 6 * sizeof(void*));
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

struct Task {
    int number;
};
struct Worker {
    std::vector<int> begun;
};
void work(Worker& worker, const Task& task) {
    worker.begun.push_back(task.number);
    if (task.number == 1) {
        throw task.number;
    }
}

TEST(StateMachineExceptionTest, ADeferredMessageThatThrowsComesBackOnceAndTheOthersFollow) {
    Worker worker;
    StateMachine<Worker, Home,
                 Transitions<On<Home, Start, Away>, Defer<Home, Task>, Stay<Away, Task, Do<&work>>,
                             Stay<Away, Stop>>>
        machine(worker);
    machine.start();
    for (int number = 1; number <= 3; ++number) {
        EXPECT_EQ(machine.handle(Task{number}), MachineResult::deferred);
    }
    EXPECT_THROW(machine.handle(Start{}), int);
    EXPECT_TRUE(machine.isIn<Away>());
    EXPECT_EQ(worker.begun, std::vector<int>{1});
    EXPECT_EQ(machine.deferredCount(), 2U);
    EXPECT_EQ(machine.handle(Stop{}), MachineResult::handled);
    EXPECT_EQ(worker.begun, (std::vector<int>{1, 2, 3}));
    EXPECT_EQ(machine.deferredCount(), 0U);
    EXPECT_EQ(machine.discardedCount(), 0U);
}

/// A message whose copy may fail.
struct Heavy {
    explicit Heavy(bool isTooHeavy) : fails(isTooHeavy) {}
    Heavy(const Heavy& other) : fails(other.fails) {
        if (fails) {
            throw 3;
        }
    }
    Heavy& operator=(const Heavy&) = delete;
    ~Heavy() = default;
    bool fails;
};

TEST(StateMachineExceptionTest, AMessageWhoseCopyThrowsIsNotDeferred) {
    Careless context;
    StateMachine<Careless, Home,
                 Transitions<On<Home, Start, Away>, Defer<Home, Heavy>, Stay<Away, Heavy>>>
        machine(context);
    machine.start();
    EXPECT_EQ(machine.handle(Heavy(false)), MachineResult::deferred);
    EXPECT_THROW(machine.handle(Heavy(true)), int);
    EXPECT_EQ(machine.deferredCount(), 1U);
    EXPECT_EQ(machine.handle(Heavy(false)), MachineResult::deferred);
    EXPECT_EQ(machine.handle(Start{}), MachineResult::handled);
    EXPECT_EQ(machine.deferredCount(), 0U);
    EXPECT_EQ(machine.discardedCount(), 0U);
}

struct Shaky {};
struct Unsafe {
    static void enter() { throw 2; }
};

TEST(StateMachineExceptionTest, AMachineThatHasLeftAllStatesCanBeStartedAgain) {
    Shaky shaky;
    StateMachine<Shaky, Home,
                 Transitions<On<Home, Start, Away>, Stay<Home, Stop>, Defer<Away, Stop>,
                             On<Away, Start, Unsafe>, On<Unsafe, Start, Home>>>
        machine(shaky);
    machine.start();
    machine.handle(Start{});
    machine.handle(Stop{});
    EXPECT_THROW(machine.handle(Start{}), int);
    EXPECT_FALSE(machine.isRunning());
    EXPECT_EQ(machine.handle(Start{}), MachineResult::unhandled);
    EXPECT_EQ(machine.deferredCount(), 1U) << "it waits for a machine that runs";
    EXPECT_TRUE(machine.start());
    EXPECT_EQ(machine.deferredCount(), 0U) << "Home takes it";
    EXPECT_EQ(machine.discardedCount(), 0U);
}
#endif

}  // namespace machines

namespace rows {

struct Counter {
    bool isFree() const { return true; }
    bool isSmall(const struct Number& number) const;
    void count() { ++calls; }
    void countMessage(const struct Number& /*number*/) { ++calls; }
    int calls = 0;
};
struct Number {
    int value;
};
bool Counter::isSmall(const Number& number) const {
    return number.value < 10;
}

int calls = 0;
bool always() {
    return true;
}
bool hasFreeCounter(const Counter& counter) {
    return counter.isFree();
}
bool isPositive(const Number& number) {
    return number.value > 0;
}
bool isBelow(const Counter& counter, const Number& number) {
    return counter.isSmall(number);
}
void callAlone() {
    ++calls;
}
void callWithContext(Counter& counter) {
    counter.count();
}
void callWithMessage(const Number& /*number*/) {
    ++calls;
}
void callWithBoth(Counter& counter, const Number& number) {
    counter.countMessage(number);
}

struct State {};

/// Whether a machine with this guard and this action handles the message.
template <auto Guard, auto Action>
bool handles(Counter& counter, int value) {
    StateMachine<Counter, State, Transitions<Stay<State, Number, If<Guard>, Do<Action>>>> machine(
        counter);
    machine.start();
    return machine.handle(Number{value}) == MachineResult::handled;
}

TEST(TransitionsTest, GuardsAndActionsTakeWhatTheyNeed) {
    Counter counter;
    EXPECT_TRUE((handles<&always, &callAlone>(counter, 1)));
    EXPECT_TRUE((handles<&hasFreeCounter, &callWithContext>(counter, 1)));
    EXPECT_TRUE((handles<&isPositive, &callWithMessage>(counter, 1)));
    EXPECT_FALSE((handles<&isPositive, &callWithMessage>(counter, -1)));
    EXPECT_TRUE((handles<&isBelow, &callWithBoth>(counter, 1)));
    EXPECT_FALSE((handles<&isBelow, &callWithBoth>(counter, 10)));
    EXPECT_TRUE((handles<&Counter::isFree, &Counter::count>(counter, 1)));
    EXPECT_TRUE((handles<&Counter::isSmall, &Counter::countMessage>(counter, 1)));
    EXPECT_EQ(calls, 2);
    EXPECT_EQ(counter.calls, 4);
}

}  // namespace rows
}  // namespace
}  // namespace sluice
