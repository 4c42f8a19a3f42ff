#include "support/crew.hpp"
#include "support/forks.hpp"

#include <sluice/memory/block_pool.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstddef>

#if SLUICE_TEST_FORKS

namespace sluice {
namespace {

// Growth, trim() and the search in the caches of other threads take locks.
TEST(BlockPoolForkTest, ChildUsesAPoolThatOtherThreadsWereUsing) {
    BlockPoolOptions options;
    options.blockSize = 64;
    options.blocksPerSlab = 8;
    options.capacity = 1000;
    BlockPool pool(options);
    std::atomic<bool> isOver{false};
    const auto work = [&pool] {
        std::array<void*, 600> blocks{};
        for (void*& block : blocks) {
            block = pool.tryAllocate();
        }
        for (void* const block : blocks) {
            pool.deallocate(block);
        }
        pool.trim();
        return blocks.front() != nullptr;
    };
    test::Crew crew;
    for (int i = 0; i < 2; ++i) {
        crew.add([&] {
            while (!isOver) {
                (void)work();
            }
        });
    }
    crew.start();
    for (int round = 0; round < 100; ++round) {
        // The threads of the parent may hold all blocks.
        EXPECT_TRUE(test::isTrueInChild([&] { return (void)work(), true; })) << round;
    }
    isOver = true;
}

}  // namespace
}  // namespace sluice

#endif
