#include "unit/queue/queue_doubles.hpp"

#include <sluice/memory/pool_allocator.hpp>
#include <sluice/memory/pool_resource.hpp>

#include "support/testing.hpp"
#include <cstring>
#include <list>

namespace sluice {
namespace {

using test::CountingResource;

struct Block {
    void* place;
    std::size_t bytes;
    std::size_t alignment;
};

TEST(PoolResourceTest, ServesEverySizeAndAlignment) {
    CountingResource upstream;
    {
        PoolResource resource({}, &upstream);
        std::vector<Block> blocks;
        for (const std::size_t bytes :
             {1U, 15U, 16U, 17U, 32U, 33U, 1000U, 4096U, 4097U, 100000U}) {
            for (const std::size_t alignment : {1U, 8U, 64U, 4096U, 8192U}) {
                void* const place = resource.allocate(bytes, alignment);
                EXPECT_EQ(reinterpret_cast<std::uintptr_t>(place) % alignment, 0U);
                std::memset(place, 0x5a, bytes);
                blocks.push_back({place, bytes, alignment});
            }
        }
        for (const Block& block : blocks) {
            resource.deallocate(block.place, block.bytes, block.alignment);
        }
        EXPECT_EQ(resource.statistics(16).inUse, 0U);
        EXPECT_EQ(resource.statistics(4096).inUse, 0U);
        EXPECT_GT(resource.trim(), 0U);
        EXPECT_EQ(resource.statistics(16).blocks, 0U);
    }
    EXPECT_EQ(upstream.bytesInUse, 0U);
}

TEST(PoolResourceTest, EachSizeHasItsPool) {
    PoolResource resource;
    for (std::size_t bytes = 16; bytes <= 4096; bytes *= 2) {
        void* const smallest = resource.allocate(bytes / 2 + 1, 1);
        void* const largest = resource.allocate(bytes, 1);
        EXPECT_EQ(resource.statistics(bytes).inUse, 2U) << bytes;
        resource.deallocate(smallest, bytes / 2 + 1, 1);
        resource.deallocate(largest, bytes, 1);
        EXPECT_EQ(resource.statistics(bytes).inUse, 0U) << bytes;
    }
}

TEST(PoolResourceTest, LargeBlocksMayBeRefused) {
    PoolResourceOptions options;
    options.largestBlock = 64;
    options.largeFromUpstream = false;
    options.capacity = 1;
    PoolResource resource(options);
    EXPECT_EQ(resource.tryAllocateBytes(65, 1), nullptr);
    EXPECT_EQ(resource.tryAllocateBytes(1, 128), nullptr);
    void* const block = resource.tryAllocateBytes(64, 64);
    ASSERT_NE(block, nullptr);
    EXPECT_EQ(resource.tryAllocateBytes(64, 64), nullptr) << "the capacity";
#if defined(__cpp_exceptions)
    EXPECT_THROW((void)resource.allocate(64, 64), std::bad_alloc);
    EXPECT_THROW((void)resource.allocate(65, 1), std::bad_alloc);
#endif
    resource.deallocateBytes(block, 64, 64);
}

#if defined(__cpp_exceptions)
TEST(PoolResourceTest, TryAllocateBytesNeverThrows) {
    CountingResource upstream;
    PoolResource resource({}, &upstream);
    upstream.allocationsLeft = 0;
    EXPECT_EQ(resource.tryAllocateBytes(100, 1), nullptr);
    EXPECT_EQ(resource.tryAllocateBytes(100000, 1), nullptr);
    EXPECT_THROW((void)resource.allocate(100000, 1), std::bad_alloc);
}
#endif

TEST(PoolResourceTest, TakesBlocksBackWhoseSizeIsNotKnown) {
    PoolResource resource;
    void* const small = resource.allocateBytes(20, 1);
    void* const large = resource.allocateBytes(3000, 1);
    int stranger = 0;
    EXPECT_FALSE(resource.tryDeallocateUnsized(&stranger));
    EXPECT_TRUE(resource.tryDeallocateUnsized(small));
    EXPECT_TRUE(resource.tryDeallocateUnsized(large));
    EXPECT_EQ(resource.statistics(20).inUse + resource.statistics(3000).inUse, 0U);
}

#if defined(__cpp_exceptions)
TEST(PoolResourceTest, RefusesSizesOutOfRange) {
    const auto refusal = [](std::size_t largestBlock) -> std::string {
        PoolResourceOptions options;
        options.largestBlock = largestBlock;
        try {
            const PoolResource resource(options);
        } catch (const std::invalid_argument& error) {
            return error.what();
        }
        return "not refused";
    };
    EXPECT_EQ(refusal(8), "largestBlock of a PoolResource is too small: 8, limit 16");
    EXPECT_EQ(refusal(131072), "largestBlock of a PoolResource is too large: 131072, limit 65536");
    EXPECT_EQ(refusal(48), "largestBlock of a PoolResource is not a power of two: 48, limit 65536");
    EXPECT_EQ(refusal(65536), "not refused");
}
#endif

// ---- PoolAllocator

template <class T>
using PoolList = std::list<T, PoolAllocator<T>>;

static_assert(std::is_nothrow_copy_constructible_v<PoolAllocator<int>>);
static_assert(std::is_nothrow_constructible_v<PoolAllocator<int>, PoolAllocator<std::string>>);
static_assert(!std::allocator_traits<PoolAllocator<int>>::is_always_equal::value);

std::size_t inUse(const PoolResource& resource) {
    std::size_t blocks = 0;
    for (std::size_t bytes = 16; bytes <= 4096; bytes *= 2) {
        blocks += resource.statistics(bytes).inUse;
    }
    return blocks;
}

TEST(PoolAllocatorTest, AllocatorsOnOneResourceAreEqual) {
    PoolResource resource;
    PoolResource other;
    const PoolAllocator<int> ints(resource);
    const PoolAllocator<std::string> strings(ints);
    EXPECT_TRUE(ints == strings);
    EXPECT_FALSE(ints != strings);
    EXPECT_TRUE(ints != PoolAllocator<int>(other));
}

TEST(PoolAllocatorTest, CarriesContainers) {
    PoolResource resource;
    {
        PoolList<int> list(resource);
        std::map<int, std::string, std::less<>, PoolAllocator<std::pair<const int, std::string>>>
            map(resource);
        std::vector<int, PoolAllocator<int>> vector(resource);
        for (int i = 0; i < 1000; ++i) {
            list.push_back(i);
            map.emplace(i, "text");
            vector.push_back(i);
        }
        EXPECT_GE(inUse(resource), 2000U);
        EXPECT_EQ(vector.back(), 999);
    }
    EXPECT_EQ(inUse(resource), 0U);
}

#if defined(__cpp_exceptions)
TEST(PoolAllocatorTest, RefusesMoreThanThereCanBe) {
    PoolResource resource;
    PoolAllocator<int> allocator(resource);
    EXPECT_THROW((void)allocator.allocate(std::numeric_limits<std::size_t>::max() / 4),
                 std::bad_alloc);
}
#endif

}  // namespace
}  // namespace sluice
