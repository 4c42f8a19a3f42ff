#include <sluice/base/cache_line.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <memory>

namespace sluice {
namespace {

static_assert(cacheLineSize >= alignof(std::uint32_t));
static_assert((cacheLineSize & (cacheLineSize - 1)) == 0, "alignas takes powers of two only");
#if defined(__x86_64__) || defined(__i386__)
static_assert(cacheLineSize == 64);
#elif defined(__APPLE__) && defined(__aarch64__)
static_assert(cacheLineSize == 128);
#endif

TEST(PrefetchTest, TakesAnyAddress) {
    prefetchForWrite(nullptr);
    for (const std::uintptr_t anywhere : {std::uintptr_t{1}, ~std::uintptr_t{0}}) {
        const void* address = nullptr;
        std::memcpy(&address, &anywhere, sizeof address);
        prefetchForWrite(address);
        prefetchForRead(address);
    }
    static const int constant = 7;
    prefetchForWrite(&constant);
    EXPECT_EQ(constant, 7);
}

}  // namespace
}  // namespace sluice
