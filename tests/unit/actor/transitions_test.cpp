#include <sluice/actor/detail/machine_table.hpp>
#include <sluice/actor/state_machine.hpp>

#include <gtest/gtest.h>

namespace sluice {
namespace {

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

TEST(MachineResultTest, HasANameForEachValue) {
    EXPECT_STREQ(toString(MachineResult::handled), "handled");
    EXPECT_STREQ(toString(MachineResult::deferred), "deferred");
    EXPECT_STREQ(toString(MachineResult::refused), "refused");
    EXPECT_STREQ(toString(MachineResult::unhandled), "unhandled");
    EXPECT_STREQ(toString(static_cast<MachineResult>(99)), "unknown MachineResult");
}

}  // namespace
}  // namespace sluice
