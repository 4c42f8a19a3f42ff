#include "harness/run/touch.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace sluice::bench {
namespace {

template <std::size_t Bytes>
std::size_t bytesWritten() {
    std::vector<std::byte> block(Bytes, std::byte{0});
    Touch<Bytes>::write(block.data(), ~std::uint64_t{0});
    return std::size_t(std::count(block.begin(), block.end(), std::byte{0xff}));
}

TEST(TouchTest, WritesTheFirstAndTheLastWordOfEachLineOrPage) {
    EXPECT_EQ(bytesWritten<1>(), 1U);
    EXPECT_EQ(bytesWritten<64>(), 16U);
    EXPECT_EQ(bytesWritten<1024>(), 16U * 16);
    EXPECT_EQ(bytesWritten<4096>(), 64U * 16);
    EXPECT_EQ(bytesWritten<32768>(), 8U * 16);
}

template <std::size_t Bytes>
void expectToReadWhatWasWritten() {
    std::vector<std::byte> block(Bytes);
    Touch<Bytes>::write(block.data(), 300);
    EXPECT_EQ(Touch<Bytes>::read(block.data()), Touch<Bytes>::expected(300));
    block.back() ^= std::byte{1};
    EXPECT_NE(Touch<Bytes>::read(block.data()), Touch<Bytes>::expected(300));
}

TEST(TouchTest, ReadsWhatWasWritten) {
    expectToReadWhatWasWritten<1>();
    expectToReadWhatWasWritten<64>();
    expectToReadWhatWasWritten<1024>();
    expectToReadWhatWasWritten<32768>();
}

}  // namespace
}  // namespace sluice::bench
