#include "support/sanitizers.hpp"
#include "unit/queue/queue_doubles.hpp"

#include <sluice/memory/block_pool.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <set>
#include <sstream>
#include <thread>
#include <vector>

namespace sluice {
namespace {

using namespace std::chrono_literals;
using test::CountingResource;

struct SmallTraits : BlockPoolTraits {
    static constexpr std::size_t magazineRounds = 4;
};
using SmallPool = BasicBlockPool<SmallTraits>;

BlockPoolOptions optionsFor(std::size_t blockSize, std::size_t capacity) {
    BlockPoolOptions options;
    options.blockSize = blockSize;
    options.capacity = capacity;
    return options;
}

template <class Pool>
std::vector<void*> allocateAll(Pool& pool) {
    std::vector<void*> blocks;
    while (void* const block = pool.tryAllocate()) {
        blocks.push_back(block);
    }
    return blocks;
}

template <class Pool>
void freeAll(Pool& pool, const std::vector<void*>& blocks) {
    for (void* const block : blocks) {
        pool.deallocate(block);
    }
}

TEST(BlockPoolTest, GivesOutEachBlockOnceUpToTheCapacity) {
    for (const std::size_t capacity : {1U, 3U, 4U, 5U, 8U, 9U, 100U}) {
        SmallPool pool(optionsFor(24, capacity));
        std::vector<void*> blocks = allocateAll(pool);
        EXPECT_EQ(blocks.size(), capacity);
        EXPECT_EQ(std::set<void*>(blocks.begin(), blocks.end()).size(), capacity);
        for (void* const block : blocks) {
            std::memset(block, 0xab, 24);
        }
        EXPECT_EQ(pool.statistics().inUse, capacity);
        freeAll(pool, blocks);
        EXPECT_EQ(pool.statistics().inUse, 0U);
        EXPECT_EQ(allocateAll(pool).size(), capacity) << "all of them again";
        freeAll(pool, blocks);
    }
}

TEST(BlockPoolTest, AlignsEveryBlock) {
    for (const std::size_t alignment : {1U, 2U, 16U, 64U, 4096U}) {
        BlockPoolOptions options = optionsFor(24, 20);
        options.alignment = alignment;
        BlockPool pool(options);
        EXPECT_EQ(pool.alignment(), alignment);
        const std::vector<void*> blocks = allocateAll(pool);
        for (void* const block : blocks) {
            EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % alignment, 0U);
        }
        freeAll(pool, blocks);
    }
}

TEST(BlockPoolTest, ServesTheLastFreedBlockFirst) {
    BlockPool pool(optionsFor(64, 10));
    void* const block = pool.allocate();
    pool.deallocate(block);
    EXPECT_EQ(pool.allocate(), block);
    pool.deallocate(block);
}

TEST(BlockPoolTest, ExhaustionIsAnAnswerAndCounted) {
    BlockPool pool(optionsFor(64, 1));
    void* const block = pool.tryAllocate();
    ASSERT_NE(block, nullptr);
    EXPECT_EQ(pool.tryAllocate(), nullptr);
    EXPECT_EQ(pool.tryAllocateFor(0ns), nullptr);
    EXPECT_EQ(pool.statistics().exhausted, 2U);
    pool.deallocate(block);
    EXPECT_EQ(pool.tryAllocate(), block);
    pool.deallocate(block);
    pool.deallocate(nullptr);
    EXPECT_EQ(pool.statistics().exhausted, 2U);
}

TEST(BlockPoolTest, TimedAllocationWaitsForABlock) {
    BlockPool pool(optionsFor(64, 1));
    void* const block = pool.allocate();
    const auto start = std::chrono::steady_clock::now();
    EXPECT_EQ(pool.tryAllocateFor(2ms), nullptr);
    EXPECT_GE(std::chrono::steady_clock::now() - start, 2ms);
    // The other thread frees into its own cache, which goes back to the depot with the thread.
    std::thread other([&] { pool.deallocate(block); });
    EXPECT_EQ(pool.tryAllocateFor(std::chrono::hours::max()), block);
    other.join();
    pool.deallocate(block);
}

TEST(BlockPoolTest, ThreadThatEndsGivesItsCacheBack) {
    SmallPool pool(optionsFor(16, 100));
    for (int round = 0; round < 50; ++round) {
        std::thread([&] {
            const std::vector<void*> blocks = allocateAll(pool);
            EXPECT_EQ(blocks.size(), 100U) << "in round " << round;
            freeAll(pool, blocks);
        }).join();
    }
    EXPECT_EQ(pool.statistics().inUse, 0U);
}

TEST(BlockPoolTest, BlocksFreedElsewhereComeBack) {
    SmallPool pool(optionsFor(16, 64));
    for (int round = 0; round < 20; ++round) {
        const std::vector<void*> blocks = allocateAll(pool);
        ASSERT_EQ(blocks.size(), 64U);
        std::thread([&] { freeAll(pool, blocks); }).join();
    }
    EXPECT_GT(pool.statistics().remoteFrees, 0U);
    EXPECT_EQ(pool.statistics().inUse, 0U);
}

TEST(BlockPoolTest, ThreadsMayOutliveThePool) {
    std::thread([] {
        for (int round = 0; round < 100; ++round) {
            SmallPool pool(optionsFor(16, 10));
            freeAll(pool, allocateAll(pool));
        }
    }).join();
}

// ---- memory

TEST(BlockPoolTest, AllocatesInSlabsAndGivesAllOfThemBack) {
    CountingResource memory;
    {
        BlockPoolOptions options = optionsFor(64, 100);
        options.blocksPerSlab = 10;
        SmallPool pool(options, &memory);
        EXPECT_EQ(pool.statistics().blocks, 0U);
        void* const block = pool.allocate();
        EXPECT_EQ(pool.statistics().blocks, 10U);
        const int before = memory.allocations;
        for (int i = 0; i < 1000; ++i) {
            void* const other = pool.allocate();
            pool.deallocate(other);
        }
        EXPECT_EQ(memory.allocations, before);
        pool.deallocate(block);
    }
    EXPECT_EQ(memory.allocations, memory.deallocations);
    EXPECT_EQ(memory.bytesInUse, 0U);
}

TEST(BlockPoolTest, IsFilledFromTheStartIfAskedTo) {
    CountingResource memory;
    BlockPoolOptions options = optionsFor(1000, 30);
    options.initialBlocks = 30;
    options.prefault = true;
    options.hugePages = true;
    SmallPool pool(options, &memory);
    EXPECT_EQ(pool.statistics().blocks, 30U);
    const std::vector<void*> blocks = allocateAll(pool);
    EXPECT_EQ(blocks.size(), 30U);
    EXPECT_GE(pool.statistics().highWater, 28U);
    freeAll(pool, blocks);
}

TEST(BlockPoolTest, TrimReturnsWhatIsNotUsed) {
    CountingResource memory;
    BlockPoolOptions options = optionsFor(64, 100);
    options.blocksPerSlab = 10;
    SmallPool pool(options, &memory);
    std::vector<void*> blocks = allocateAll(pool);
    EXPECT_EQ(pool.trim(), 0U) << "all are in use";
    const std::size_t before = memory.bytesInUse;
    void* const kept = blocks.back();
    blocks.pop_back();
    freeAll(pool, blocks);
    const std::size_t released = pool.trim();
    EXPECT_GE(released, 9U * 10 * 64);
    EXPECT_EQ(before - memory.bytesInUse, released);
    EXPECT_EQ(pool.statistics().blocks, 10U);
    EXPECT_EQ(pool.statistics().inUse, 1U);
    blocks = allocateAll(pool);
    EXPECT_EQ(blocks.size(), 99U) << "it grows again, up to its capacity";
    freeAll(pool, blocks);
    pool.deallocate(kept);
    EXPECT_GT(pool.trim(), 0U);
    EXPECT_EQ(pool.statistics().blocks, 0U);
    EXPECT_EQ(pool.trim(), 0U);
}

#if defined(__cpp_exceptions)
TEST(BlockPoolTest, AllocateThrowsWhenExhausted) {
    BlockPool pool(optionsFor(64, 1));
    void* const block = pool.allocate();
    EXPECT_THROW((void)pool.allocate(), std::bad_alloc);
    pool.deallocate(block);
}

TEST(BlockPoolTest, IsExhaustedWhenTheResourceRefuses) {
    CountingResource memory;
    BlockPoolOptions options = optionsFor(64, 100);
    options.blocksPerSlab = 10;
    SmallPool pool(options, &memory);
    for (int allowed = 0; allowed < 5; ++allowed) {
        memory.allocationsLeft = 0;
        EXPECT_EQ(pool.tryAllocate(), nullptr);
        EXPECT_EQ(pool.statistics().blocks, 0U);
        EXPECT_EQ(pool.statistics().inUse, 0U);
    }
    memory.allocationsLeft = CountingResource::endless;
    const std::vector<void*> blocks = allocateAll(pool);
    EXPECT_EQ(blocks.size(), 100U);
    freeAll(pool, blocks);
}

TEST(BlockPoolTest, WorksWhereverTheMemoryRunsOut) {
    for (int allowed = 0; allowed < 12; ++allowed) {
        CountingResource memory;
        memory.allocationsLeft = allowed;
        try {
            BlockPoolOptions options = optionsFor(64, 100);
            options.blocksPerSlab = 10;
            SmallPool pool(options, &memory);
            const std::vector<void*> blocks = allocateAll(pool);
            EXPECT_EQ(blocks.size() % 10, 0U);
            freeAll(pool, blocks);
            EXPECT_EQ(pool.statistics().inUse, 0U);
        } catch (const std::bad_alloc&) {
        }
        EXPECT_EQ(memory.bytesInUse, 0U) << "after " << allowed << " allocations";
    }
}
#endif

// ---- misuse

#if !defined(NDEBUG)
TEST(BlockPoolDeathTest, CatchesABlockThatWasFreedOnAnotherThread) {
    BlockPool pool(optionsFor(64, 1000));
    std::vector<void*> blocks = allocateAll(pool);
    void* const inTheDepot = blocks.front();
    void* const lastOne = blocks.back();
    const auto freeTwice = [&pool](void* block) { pool.deallocate(block); };
    // The thread ends, so its blocks go to no thread's cache.
    std::thread([&] { freeAll(pool, blocks); }).join();
    EXPECT_DEATH(freeTwice(inTheDepot), "freed twice");
    EXPECT_DEATH(freeTwice(lastOne), "freed twice");
}

TEST(BlockPoolDeathTest, CatchesABlockThatLiesWithAnotherThread) {
    BlockPool pool(optionsFor(64, 10));
    void* const spare = pool.allocate();
    void* const cached = pool.allocate();
    pool.deallocate(spare);
    pool.deallocate(cached);
    const auto freeElsewhere = [&pool](void* block) {
        std::thread([&] { pool.deallocate(block); }).join();
    };
    EXPECT_DEATH(freeElsewhere(spare), "freed twice");
    EXPECT_DEATH(freeElsewhere(cached), "freed twice");
}

TEST(BlockPoolDeathTest, CatchesABlockThatWasNeverAllocated) {
    BlockPool pool(optionsFor(64, 10));
    void* const block = pool.allocate();
    EXPECT_DEATH(pool.deallocate(static_cast<char*>(block) + 64), "freed twice");
    pool.deallocate(block);
}

TEST(BlockPoolDeathTest, CatchesMisuse) {
    SmallPool pool(optionsFor(64, 10));
    SmallPool other(optionsFor(64, 10));
    void* const block = pool.allocate();
    const auto withAddress = [](const char* before, const void* address) {
        std::ostringstream text;
        text << before << address;
        return text.str();
    };
    EXPECT_DEATH(other.deallocate(block), withAddress("no block of this pool begins at ", block));
    EXPECT_DEATH(pool.deallocate(static_cast<char*>(block) + 1), "no block of this pool");
    EXPECT_DEATH((pool.deallocate(block), pool.deallocate(block)),
                 withAddress("the block at ", block));
    const auto leak = [] {
        SmallPool leaking(optionsFor(8, 1));
        (void)leaking.allocate();
    };
    EXPECT_DEATH(leak(), "blocks that outlive their pool: 1; ");
    pool.deallocate(block);
}
#endif

#if defined(NDEBUG) && !SLUICE_TEST_ASAN && !SLUICE_TEST_TSAN
TEST(BlockPoolDeathTest, ReleaseBuildsTellOfForeignBlocksWhenASlabIsToGo) {
    BlockPool pool(optionsFor(20, 10));
    BlockPool other(optionsFor(20, 10));
    void* const block = pool.allocate();
    EXPECT_DEATH((other.deallocate(block), other.trim()), "a block of another pool");
    pool.deallocate(block);
}
#endif

#if SLUICE_TEST_ASAN
TEST(BlockPoolDeathTest, FreedBlocksArePoisoned) {
    BlockPool pool(optionsFor(20, 10));
    auto* const block = static_cast<volatile char*>(pool.allocate());
    block[19] = 1;
    EXPECT_DEATH(block[20] = 1, "use-after-poison");
    pool.deallocate(const_cast<char*>(block));
    EXPECT_DEATH(block[0] = 1, "use-after-poison");
}
#endif

}  // namespace
}  // namespace sluice
