#include <sluice/base/at_start.hpp>

#include <gtest/gtest.h>

namespace sluice {
namespace {

int asked = 0;
int notAsked = 0;
const int askedBeforeThisObject = asked;

/// As a class with a registry, and members that use it.
template <class T>
class UsesRegistry {
public:
    static T used(T value) {
        (void)&AtStart<&add>::call;
        return value;
    }
    static T notUsed(T value) {
        (void)&AtStart<&addMore>::call;
        return value;
    }

private:
    static bool add() { return ++asked == 1; }
    static bool addMore() { return ++notAsked == 1; }
};

TEST(AtStartTest, FunctionRunsOnceBeforeStaticObjectsForAMemberThatIsUsed) {
    EXPECT_EQ(askedBeforeThisObject, 1);
    EXPECT_EQ(asked, 1);
    EXPECT_EQ(UsesRegistry<int>::used(2), 2);
    EXPECT_EQ(UsesRegistry<int>::used(3), 3);
    EXPECT_EQ(asked, 1);
}

TEST(AtStartTest, NothingRunsForAMemberThatIsNotUsed) {
    EXPECT_EQ(notAsked, 0);
}

}  // namespace
}  // namespace sluice
