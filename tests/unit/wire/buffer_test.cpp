#include <sluice/wire/buffer.hpp>

#include <gtest/gtest.h>

#include <array>

namespace sluice {
namespace {

TEST(WireBuffer, AddsNothingThatDoesNotFit) {
    std::array<unsigned char, 4> storage{};
    wire::Buffer buffer(storage.data(), 3);
    EXPECT_TRUE(buffer.append("ab", 2));
    EXPECT_FALSE(buffer.hasOverflowed());
    EXPECT_FALSE(buffer.append("cd", 2));
    EXPECT_EQ(buffer.size(), 2U);
    EXPECT_TRUE(buffer.append("e", 1));
    EXPECT_FALSE(buffer.append("f", 1));
    EXPECT_EQ(storage, (std::array<unsigned char, 4>{'a', 'b', 'e', 0}));
    buffer.shrink(9);
    EXPECT_EQ(buffer.size(), 3U);
    buffer.shrink(1);
    EXPECT_EQ(buffer.size(), 1U);
    EXPECT_TRUE(buffer.hasOverflowed());
}

TEST(WireBuffer, RemembersThatItWasExtendedTooFar) {
    std::array<unsigned char, 4> storage{};
    wire::Buffer buffer(storage.data(), storage.size());
    EXPECT_NE(buffer.extend(4), nullptr);
    EXPECT_FALSE(buffer.hasOverflowed());
    EXPECT_EQ(buffer.extend(1), nullptr);
    EXPECT_TRUE(buffer.hasOverflowed());
}

}  // namespace
}  // namespace sluice
