#include <sluice/base/cache_line.hpp>

#include <gtest/gtest.h>

#include <cstdint>

namespace sluice {
namespace {

static_assert(cacheLineSize >= alignof(std::uint32_t));
static_assert((cacheLineSize & (cacheLineSize - 1)) == 0, "alignas takes powers of two only");
#if defined(__x86_64__) || defined(__i386__)
static_assert(cacheLineSize == 64);
#elif defined(__APPLE__) && defined(__aarch64__)
static_assert(cacheLineSize == 128);
#endif

struct Apart {
    alignas(cacheLineSize) std::uint32_t first;
    alignas(cacheLineSize) std::uint32_t second;
};

TEST(CacheLineTest, KeepsNeighboursApart) {
    Apart apart{};
    const auto distance =
        reinterpret_cast<std::uintptr_t>(&apart.second) - reinterpret_cast<std::uintptr_t>(&apart);
    EXPECT_EQ(distance, cacheLineSize);
    EXPECT_EQ(sizeof(Apart), 2 * cacheLineSize);
}

}  // namespace
}  // namespace sluice
