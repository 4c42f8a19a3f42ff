// The library that counts allocations, loaded as a plain library: it replaces no malloc().

#include "harness/machine/allocation_count.hpp"

#include <gtest/gtest.h>

#include <dlfcn.h>

#include <cstdlib>

namespace sluice::bench {
namespace {

TEST(CountingMallocTest, CountsEachWayToGetMemory) {
    void* const library = dlopen(SLUICE_COUNTING_MALLOC, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library, nullptr);
    const auto find = [library](const char* name) { return dlsym(library, name); };
    const auto count = reinterpret_cast<std::uint64_t (*)()>(find("sluiceAllocationCount"));
    const auto allocate = reinterpret_cast<void* (*)(std::size_t)>(find("malloc"));
    const auto clear = reinterpret_cast<void* (*)(std::size_t, std::size_t)>(find("calloc"));
    const auto align = reinterpret_cast<void* (*)(std::size_t, std::size_t)>(find("aligned_alloc"));
    const auto resize = reinterpret_cast<void* (*)(void*, std::size_t)>(find("realloc"));
    const std::uint64_t before = count();
    void* const first = allocate(10);
    EXPECT_EQ(count(), before + 1);
    void* const second = clear(2, 10);
    EXPECT_EQ(count(), before + 2);
    void* const third = align(64, 128);
    EXPECT_EQ(count(), before + 3);
    void* const grown = resize(first, 100);
    EXPECT_EQ(count(), before + 4);
    for (void* const block : {grown, second, third}) {
        EXPECT_NE(block, nullptr);
        std::free(block);
    }
}

TEST(AllocationCountTest, SaysNothingWhereNobodyCounts) {
    EXPECT_FALSE(countsAllocations());
    AllocationCount count;
    count.add(3);
    EXPECT_FALSE(count.value().has_value());
}
}  // namespace
}  // namespace sluice::bench
