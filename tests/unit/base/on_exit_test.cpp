#include <sluice/base/on_exit.hpp>

#include "support/testing.hpp"

namespace sluice::detail {
namespace {

TEST(OnExitTest, RunsOnceAtTheEndOfItsScope) {
    int runs = 0;
    {
        const OnExit guard{[&runs] { ++runs; }};
        EXPECT_EQ(runs, 0);
    }
    EXPECT_EQ(runs, 1);
}

#if defined(__cpp_exceptions)
TEST(OnExitTest, RunsOnceWhenAnExceptionLeavesItsScope) {
    int runs = 0;
    const auto fail = [&runs] {
        const OnExit guard{[&runs] { ++runs; }};
        throw 1;
    };
    EXPECT_THROW(fail(), int);
    EXPECT_EQ(runs, 1);
}
#endif

}  // namespace
}  // namespace sluice::detail
