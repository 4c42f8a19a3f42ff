#include <sluice/base/platform.hpp>
#include <sluice/base/role_check.hpp>
#include <sluice/base/single_core_platform.hpp>

#include <gtest/gtest.h>

#include <thread>

namespace sluice {
namespace {

#ifndef NDEBUG
TEST(RoleCheckDeathTest, SecondOneAtTheSameTimeIsNoticed) {
    RoleCheck<StdPlatform> role;
    const RoleCheck<StdPlatform>::Scope first(role, oneProducer);
    EXPECT_DEATH(RoleCheck<StdPlatform>::Scope(role, oneProducer), "a second producer");
}
#endif

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

template <class Platform>
class HandlerThreadTest : public testing::Test {};
using Platforms = testing::Types<StdPlatform, SingleCorePlatform<ThisProgramRunsOnOneCore>>;
TYPED_TEST_SUITE(HandlerThreadTest, Platforms);

TYPED_TEST(HandlerThreadTest, MarksMayBeNested) {
    using Handlers = HandlerThread<TypeParam>;
    EXPECT_FALSE(Handlers::isHere());
    {
        const Handlers outer;
        {
            const Handlers inner;
            EXPECT_TRUE(Handlers::isHere());
        }
        EXPECT_TRUE(Handlers::isHere());
    }
    EXPECT_FALSE(Handlers::isHere());
}

TEST(HandlerThreadOfStdPlatformTest, MarksItsOwnThreadAlone) {
    const HandlerThread<StdPlatform> here;
    bool isThere = true;
    std::thread([&] { isThere = HandlerThread<StdPlatform>::isHere(); }).join();
    EXPECT_FALSE(isThere);
}

}  // namespace
}  // namespace sluice
