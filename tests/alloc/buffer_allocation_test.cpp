#include "support/allocation_count.hpp"

#include <sluice/memory/buffer_pool.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <thread>
#include <utility>

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

TEST(BufferAllocationTest, TokensReleasedOnAnotherThreadAllocateNothing) {
    BufferPool pool(sixteenBuffers());
    std::array<DataToken, 16> tokens;
    for (DataToken& token : tokens) {
        token = pool.tryAcquire().publish(0);
    }
    std::size_t allocations = 1;
    std::thread([&] {
        const AllocationCount count;
        for (DataToken& token : tokens) {
            token.share().reset();
            token.reset();
        }
        auto buffer = pool.tryAcquire();
        allocations = buffer ? count.allocations() : 1;
    }).join();
    EXPECT_EQ(allocations, 0U);
}

TEST(BufferAllocationTest, TokensOnBytesOfTheirOwnAllocateNothing) {
    const AllocationCount count;
    static constexpr std::byte bytes[8] = {};
    int released = 0;
    const auto release = [](void* context, const std::byte*, std::size_t) noexcept {
        ++*static_cast<int*>(context);
    };
    DataToken token(bytes, sizeof bytes, release, &released);
    DataToken(std::move(token)).reset();
    EXPECT_EQ(released, 1);
    EXPECT_EQ(count.allocations(), 0U);
}

}  // namespace
}  // namespace sluice::test
