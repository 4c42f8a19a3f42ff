#include "support/allocation_count.hpp"

#include "support/testing.hpp"
#include <thread>

namespace sluice::test {
namespace {

struct alignas(128) Wide {
    std::byte bytes[256];
};

/// A pointer that escapes here: the compiler may leave out a new and delete that nobody sees.
const void* volatile seen = nullptr;

TEST(AllocationCountTest, CountsEveryFormOfNewAndDelete) {
    const AllocationCount count;
    {
        const auto one = std::make_unique<long>(1);
        const auto many = std::make_unique<char[]>(24);
        const auto wide = std::make_unique<Wide>();
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(wide.get()) % alignof(Wide), 0U);
        const std::unique_ptr<int> quiet(new (std::nothrow) int(7));
        for (const void* memory :
             {static_cast<const void*>(one.get()), static_cast<const void*>(many.get()),
              static_cast<const void*>(quiet.get())}) {
            seen = memory;
        }
        EXPECT_EQ(count.allocations(), 4U);
        EXPECT_EQ(count.bytes(), sizeof(long) + 24 + sizeof(Wide) + sizeof(int));
        EXPECT_EQ(count.deallocations(), 0U);
    }
    EXPECT_EQ(count.deallocations(), 4U);
}

#if defined(SLUICE_COUNTS_MALLOC)
TEST(AllocationCountTest, CountsTheFunctionsOfTheCLibrary) {
    const AllocationCount count;
    void* block = std::malloc(10);
    seen = block;
    block = std::realloc(block, 20);
    seen = block;
    void* const zeros = std::calloc(3, 5);
    seen = zeros;
    void* const aligned = std::aligned_alloc(64, 128);
    seen = aligned;
    EXPECT_EQ(count.allocations(), 4U);
    EXPECT_EQ(count.bytes(), 10U + 20U + 15U + 128U);
    std::free(block);
    std::free(zeros);
    std::free(aligned);
}
#endif

TEST(AllocationCountTest, CountsOtherThreads) {
    const AllocationCount count;
    std::size_t before = 0;
    std::size_t after = 0;
    std::thread worker([&] {
        before = count.allocations();
        const auto owned = std::make_unique<int>(3);
        seen = owned.get();
        after = count.allocations();
    });
    worker.join();
    EXPECT_EQ(after, before + 1);
}

}  // namespace
}  // namespace sluice::test
