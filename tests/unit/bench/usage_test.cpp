#include "harness/machine/usage.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <memory>

namespace sluice::bench {
namespace {

double peakOf(std::size_t mib) {
    beginPeak();
    const std::unique_ptr<char[]> memory(new char[mib << 20U]);
    std::memset(memory.get(), 1, mib << 20U);
    asm volatile("" : : "r"(memory.get()) : "memory");
    return usageSoFar().peakMemoryMib.value_or(-1);
}

TEST(UsageTest, TheMostMemoryIsCountedAnewForEachRound) {
    const double large = peakOf(256);
    if (large < 0) {
        GTEST_SKIP() << "the kernel does not tell";
    }
    EXPECT_GT(large, 256);
    EXPECT_LT(peakOf(1), large - 128);
}

}  // namespace
}  // namespace sluice::bench
