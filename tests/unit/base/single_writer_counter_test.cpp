#include <sluice/base/single_writer_counter.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <thread>

namespace sluice {
namespace {

TEST(SingleWriterCounterTest, CountsFromZero) {
    SingleWriterCounter<> counter;
    EXPECT_EQ(counter.get(), 0U);
    counter.add(3);
    counter.add(4);
    EXPECT_EQ(counter.get(), 7U);
}

TEST(SingleWriterCounterTest, StartsAgainAtZeroAfterItsLargestValue) {
    SingleWriterCounter<> counter;
    counter.add(std::numeric_limits<CounterWord>::max());
    counter.add(2);
    EXPECT_EQ(counter.get(), 1U);
}

TEST(SingleWriterCounterTest, IsReadWhileItIsWritten) {
    constexpr std::uint64_t rounds = 10000;
    SingleWriterCounter<> counter;
    std::thread writer([&] {
        for (std::uint64_t i = 0; i < rounds; ++i) {
            counter.add(1);
        }
    });
    std::uint64_t last = 0;
    while (last != rounds) {
        const std::uint64_t now = counter.get();
        ASSERT_GE(now, last);
        last = now;
    }
    writer.join();
}

}  // namespace
}  // namespace sluice
