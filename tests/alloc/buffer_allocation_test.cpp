#include "support/allocation_count.hpp"

#include <sluice/memory/buffer_pool.hpp>

#include "support/testing.hpp"

namespace sluice::test {
namespace {

BufferPoolOptions sixteenBuffers() {
    BufferPoolOptions options;
    options.bufferSize = 1000;
    options.buffers = 16;
    return options;
}

TEST(BufferAllocationTest, PoolAllocatesOnceWhenItIsMade) {
    const AllocationCount count;
    BufferPool pool(sixteenBuffers());
    EXPECT_EQ(count.allocations(), 1U);
}

TEST(BufferAllocationTest, BuffersAndTokensAllocateNothing) {
    BufferPool pool(sixteenBuffers());
    const AllocationCount count;
    std::array<DataToken, 16> tokens;
    for (DataToken& token : tokens) {
        auto buffer = pool.tryAcquire();
        buffer.data()[0] = std::byte{1};
        token = std::move(buffer).publish(1);
    }
    EXPECT_FALSE(pool.tryAcquire()) << "exhausted";
    const DataToken shared = tokens[0].share();
    for (DataToken& token : tokens) {
        token.reset();
    }
    pool.tryAcquire().reset();
    EXPECT_EQ(shared.size(), 1U);
    EXPECT_EQ(count.allocations(), 0U);
}

}  // namespace
}  // namespace sluice::test
