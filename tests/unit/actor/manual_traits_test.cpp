#include "unit/actor/actor_doubles.hpp"

#include <sluice/actor/active_object.hpp>
#include <sluice/actor/manual_traits.hpp>
#include <sluice/base/platform.hpp>

#include <gtest/gtest.h>

#include <array>
#include <chrono>

namespace sluice {
namespace {

using namespace test;
using namespace std::chrono_literals;

struct OneTag;
struct OtherTag;

TEST(ManualTraitsTest, ClocksStandStillAndEachTagHasItsOwn) {
    using One = ManualClock<OneTag>;
    One::reset();
    EXPECT_EQ(One::now().time_since_epoch(), 0ns);
    One::advance(5ms);
    One::moveTo(One::now() + 1ms);
    EXPECT_EQ(One::now().time_since_epoch(), 6ms);
    EXPECT_EQ(ManualClock<OtherTag>::now().time_since_epoch(), 0ns);
    One::reset();
    EXPECT_EQ(One::now().time_since_epoch(), 0ns);
}

struct Blocks : Holds<8> {
    static constexpr std::array<Overflow, priorityCount> overflow{
        Overflow::block, Overflow::block, Overflow::block};
};
using ByHand = Keeper<ManualTraits<Blocks>>;

TEST(ManualTraitsTest, WaitsForRoomFailAtOnce) {
    ByHand object;
    while (object.tryPost(Add{1}) == SendResult::ok) {
    }
    EXPECT_EQ(object.post(Add{1}), SendResult::full);
    EXPECT_EQ(object.postFor(1h, Add{1}), SendResult::full);
    object.stop();
}

TEST(ManualTraitsDeathTest, WaitsWithoutALimitEndTheProgram) {
#if defined(SLUICE_TEST_EMULATED)
    GTEST_SKIP() << "the emulator cannot start the program again";
#endif
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    ManualWait<StdPlatform> wait;
    wait.wait([] { return true; });
    EXPECT_DEATH(wait.wait([] { return false; }), "would wait for itself");
}

TEST(ManualTraitsDeathTest, ClocksDoNotMoveBack) {
#if defined(NDEBUG)
    GTEST_SKIP() << "asserted in debug builds";
#else
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_DEATH(ManualClock<OneTag>::advance(-1ns), "does not move back");
#endif
}

}  // namespace
}  // namespace sluice
