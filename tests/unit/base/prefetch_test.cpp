#include <sluice/base/prefetch.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
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
    for (const std::uintptr_t anywhere : {std::uintptr_t{1}, ~std::uintptr_t{0}}) {
        const void* address = nullptr;
        std::memcpy(&address, &anywhere, sizeof address);
        prefetchForWrite(address);
    }
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
