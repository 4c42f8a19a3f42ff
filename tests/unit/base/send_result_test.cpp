#include <sluice/base/send_result.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <type_traits>

namespace sluice {
namespace {

static_assert(std::is_same_v<std::underlying_type_t<SendResult>, std::uint8_t>);
static_assert(sizeof(SendResult) == 1);
static_assert(!std::is_convertible_v<SendResult, bool>, "full and closed are told apart");

TEST(SendResultTest, HasANameForEachValue) {
    EXPECT_STREQ(toString(SendResult::ok), "ok");
    EXPECT_STREQ(toString(SendResult::full), "full");
    EXPECT_STREQ(toString(SendResult::closed), "closed");
    EXPECT_STREQ(toString(static_cast<SendResult>(99)), "unknown SendResult");
}

}  // namespace
}  // namespace sluice
