#include "support/allocation_count.hpp"

#include <sluice/memory/object_pool.hpp>
#include <sluice/memory/pool_resource.hpp>

#include "support/testing.hpp"

namespace sluice::test {
namespace {

TEST(PoolAllocationTest, PoolThatHasGrownAllocatesNothing) {
    ObjectPool<int> pool;
    std::array<PoolPtr<int>, 1000> objects;
    const auto useAll = [&] {
        for (auto& object : objects) {
            object = pool.make(1);
        }
        for (auto& object : objects) {
            object.reset();
        }
    };
    useAll();
    const AllocationCount count;
    useAll();
    EXPECT_EQ(count.allocations(), 0U);
}

TEST(PoolAllocationTest, ResourceThatHasGrownAllocatesNothing) {
    PoolResource resource;
    const auto useAll = [&] {
        for (std::size_t bytes = 1; bytes <= 4096; bytes *= 2) {
            resource.deallocateBytes(resource.allocateBytes(bytes, 1), bytes, 1);
        }
    };
    useAll();
    const AllocationCount count;
    useAll();
    EXPECT_EQ(count.allocations(), 0U);
}

}  // namespace
}  // namespace sluice::test
