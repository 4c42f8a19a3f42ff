#include <sluice/base/handler_thread.hpp>
#include <sluice/base/platform.hpp>
#include <sluice/base/single_core_platform.hpp>

#include <gtest/gtest.h>

#include <thread>

namespace sluice {
namespace {

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
