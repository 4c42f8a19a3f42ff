#include <sluice/memory/pool_allocator.hpp>

#include <gtest/gtest.h>

#include <limits>
#include <list>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace sluice {
namespace {

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

TEST(PoolAllocatorTest, ListsOnOneResourceSpliceAndMove) {
    PoolResource resource;
    PoolList<int> first({1, 2}, resource);
    PoolList<int> second({3}, resource);
    const int* const address = &second.front();
    first.splice(first.end(), second);
    EXPECT_EQ(&first.back(), address) << "the node itself has moved over";
    PoolResource other;
    PoolList<int> elsewhere(other);
    elsewhere = std::move(first);
    EXPECT_EQ(&elsewhere.back(), address) << "with its allocator";
    EXPECT_EQ(inUse(other), 0U);
}

TEST(PoolAllocatorTest, SharesObjects) {
    PoolResource resource;
    {
        auto shared =
            std::allocate_shared<std::string>(PoolAllocator<std::string>(resource), "abc");
        EXPECT_EQ(inUse(resource), 1U) << "object and count in one block";
        std::thread([last = std::move(shared)]() mutable { last.reset(); }).join();
    }
    EXPECT_EQ(inUse(resource), 0U);
}

#if defined(__cpp_exceptions)
TEST(PoolAllocatorTest, RefusesMoreThanThereCanBe) {
    PoolResource resource;
    PoolAllocator<int> allocator(resource);
    EXPECT_THROW((void)allocator.allocate(std::numeric_limits<std::size_t>::max() / 4),
                 std::bad_array_new_length);
}
#endif

}  // namespace
}  // namespace sluice
