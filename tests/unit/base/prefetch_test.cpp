#include <sluice/base/prefetch.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

namespace sluice {
namespace {

static_assert(noexcept(prefetchForWrite(nullptr)));

TEST(PrefetchTest, LeavesTheMemoryAlone) {
    const std::vector<int> untouched(4096, 7);
    std::vector<int> data = untouched;
    for (const int& value : data) {
        prefetchForWrite(&value);
    }
    EXPECT_EQ(data, untouched);
}

TEST(PrefetchTest, TakesAnyAddress) {
    prefetchForWrite(nullptr);
    prefetchForWrite(reinterpret_cast<const void*>(std::uintptr_t{1}));
    prefetchForWrite(reinterpret_cast<const void*>(std::numeric_limits<std::uintptr_t>::max()));
    static const int constant = 7;
    prefetchForWrite(&constant);
    EXPECT_EQ(constant, 7);
}

TEST(PrefetchTest, MayReachBeyondTheEndOfAnObject) {
    const auto data = std::make_unique<char[]>(64);
    prefetchForWrite(data.get() + 64);
}

}  // namespace
}  // namespace sluice
