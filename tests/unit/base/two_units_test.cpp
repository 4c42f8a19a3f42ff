#include <sluice/base/platform.hpp>
#include <sluice/base/role_check.hpp>
#include <sluice/bus.hpp>

#include <gtest/gtest.h>

// One program of a unit with assertions and one without (two_units_ndebug_test.cpp). The linker
// keeps one copy of each inline function. If the scopes of both units were one type, the
// constructor of one unit could run with the destructor of the other, and the role would stay
// taken.

namespace sluice::test {

template <class T>
inline char typeMark = 0;
const void* roleScopeWithoutAssertions();
const void* callScopeWithoutAssertions();
void processWithoutAssertions(Bus<Messages<int>>& bus);

#ifndef NDEBUG
TEST(TwoUnitsTest, ChecksOfUnitsWithAndWithoutAssertionsShareNoFunction) {
    EXPECT_NE(&typeMark<RoleCheck<StdPlatform>::Scope>, roleScopeWithoutAssertions());
    EXPECT_NE(&typeMark<CallCheck::Scope>, callScopeWithoutAssertions());
}
#endif

// An object with a scope as a member would mix the two: g++ -O1 inlines its constructor only.
TEST(TwoUnitsTest, UnitsWithAndWithoutAssertionsShareABus) {
    static Bus<Messages<int>> bus;
    for (int i = 0; i < 2; ++i) {
        processWithoutAssertions(bus);
        EXPECT_EQ(bus.processWith([](int) {}), 0U);
    }
}

}  // namespace sluice::test
