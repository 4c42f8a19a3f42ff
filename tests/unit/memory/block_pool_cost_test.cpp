#include <sluice/memory/block_pool.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

#if defined(__linux__)

#include "support/trapped_memory.hpp"

// How the cost of a call of a BlockPool grows with the number of slabs.

namespace sluice {
namespace {

constexpr std::size_t blocksInSlab = 10;

/// A pool that has allocated all blocks of so many slabs.
class FullPool {
public:
    explicit FullPool(std::size_t slabs) {
        for (std::size_t i = 0; i < slabs * blocksInSlab; ++i) {
            blocks_.push_back(pool_.allocate());
        }
    }
    FullPool(const FullPool&) = delete;
    FullPool& operator=(const FullPool&) = delete;
    ~FullPool() { freeAll(); }

    void freeAll() {
        for (void* const block : blocks_) {
            pool_.deallocate(block);
        }
        blocks_.clear();
    }
    std::size_t stepsOfTrim() {
        std::size_t trimmed = 0;
        const std::size_t steps = memory_.stepsOf([&] { trimmed = pool_.trim(); });
        EXPECT_GT(trimmed, 0U);
        return steps;
    }
    std::size_t stepsOfAPair() {
        return memory_.stepsOf([&] {
            pool_.deallocate(blocks_.front());
            blocks_.front() = pool_.tryAllocate();
        });
    }

private:
    static BlockPoolOptions options() {
        BlockPoolOptions options;
        options.blockSize = 64;
        options.blocksPerSlab = blocksInSlab;
        return options;
    }

    test::TrappedMemory memory_;
    BlockPool pool_{options(), &memory_};
    std::vector<void*> blocks_;
};

// Eight times the blocks: eight times the steps and the logarithm. A walk along all slabs for each
// block would take 64 times the steps.
TEST(BlockPoolCostTest, TrimTakesStepsForEachBlockAndNotForEachPairOfThem) {
    FullPool small(40);
    FullPool large(320);
    small.freeAll();
    large.freeAll();
    const std::size_t steps = small.stepsOfTrim();
    EXPECT_GT(steps, 40U);
    EXPECT_LT(large.stepsOfTrim(), 24 * steps);
}

// Builds with assertions look for the slab of each block.
TEST(BlockPoolCostTest, APairOfCallsLooksAtFewSlabs) {
    FullPool pool(1000);
    EXPECT_LT(pool.stepsOfAPair(), 250U) << "a search takes about 20";
}

}  // namespace
}  // namespace sluice

#endif
