#include <sluice/queue/push_result.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <type_traits>

namespace sluice {
namespace {

static_assert(std::is_same_v<std::underlying_type_t<PushResult>, std::uint8_t>);
static_assert(sizeof(PushResult) == 1);
static_assert(!std::is_convertible_v<PushResult, bool>, "full and closed are told apart");

TEST(PushResultTest, HasThreeOutcomes) {
    EXPECT_NE(PushResult::ok, PushResult::full);
    EXPECT_NE(PushResult::ok, PushResult::closed);
    EXPECT_NE(PushResult::full, PushResult::closed);
}

TEST(PushResultTest, ZeroInitialisedIsOk) {
    EXPECT_EQ(PushResult{}, PushResult::ok);
}

TEST(PushResultTest, HasANameForEachValue) {
    EXPECT_STREQ(toString(PushResult::ok), "ok");
    EXPECT_STREQ(toString(PushResult::full), "full");
    EXPECT_STREQ(toString(PushResult::closed), "closed");
    EXPECT_STREQ(toString(static_cast<PushResult>(99)), "unknown PushResult");
}

}  // namespace
}  // namespace sluice
