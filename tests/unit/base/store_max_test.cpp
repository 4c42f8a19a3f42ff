#include "support/crew.hpp"

#include <sluice/base/store_max.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>

namespace sluice {
namespace {

TEST(StoreMaxTest, RaisesAndNeverLowers) {
    std::atomic<std::size_t> maximum{3};
    storeMax(maximum, std::size_t{2});
    EXPECT_EQ(maximum.load(), 3U);
    storeMax(maximum, std::size_t{7});
    EXPECT_EQ(maximum.load(), 7U);
    storeMax(maximum, std::size_t{7});
    EXPECT_EQ(maximum.load(), 7U);
}

TEST(StoreMaxTest, TheHighestOfAllThreadsStays) {
    constexpr std::size_t threads = 4;
    constexpr std::size_t each = 10'000;
    std::atomic<std::size_t> maximum{0};
    test::Crew crew;
    for (std::size_t t = 0; t < threads; ++t) {
        crew.add([&maximum, t] {
            for (std::size_t i = 0; i < each; ++i) {
                storeMax(maximum, i * threads + t);
            }
        });
    }
    crew.start();
    crew.join();
    EXPECT_EQ(maximum.load(), each * threads - 1);
}

}  // namespace
}  // namespace sluice
