#include <sluice/base/call_check.hpp>

#include <gtest/gtest.h>

namespace sluice {
namespace {

#ifndef NDEBUG
TEST(CallCheckTest, KnowsOfCallsUntilAllHaveEnded) {
    CallCheck calls;
    EXPECT_TRUE(calls.areNone());
    {
        const CallCheck::Scope outer(calls);
        { const CallCheck::Scope inner(calls); }
        EXPECT_FALSE(calls.areNone());
    }
    EXPECT_TRUE(calls.areNone());
}
#endif

static_assert(sizeof(CallCheck) == sizeof(unsigned));

}  // namespace
}  // namespace sluice
