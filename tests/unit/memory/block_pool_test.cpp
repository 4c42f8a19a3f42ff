#include "support/counted_memory.hpp"
#include "support/sanitizers.hpp"
#include "unit/queue/queue_doubles.hpp"

#include <sluice/memory/block_pool.hpp>

#include "support/testing.hpp"
#include <cstring>
#include <future>
#include <thread>

namespace sluice {
namespace {

using namespace std::chrono_literals;
using test::CountedMemory;
using test::CountingResource;

static_assert(alignof(detail::PoolCore<BlockPoolTraits>::Slot) == cacheLineSize,
              "threads share no line");

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

BlockPoolOptions slabsOfTen(std::size_t capacity) {
    BlockPoolOptions options = optionsFor(64, capacity);
    options.blocksPerSlab = 10;
    return options;
}

template <class Pool>
std::vector<void*> allocate(Pool& pool, std::size_t most) {
    std::vector<void*> blocks;
    while (blocks.size() < most) {
        blocks.push_back(pool.tryAllocate());
        EXPECT_NE(blocks.back(), nullptr);
    }
    return blocks;
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

TEST(BlockPoolTest, ExhaustionIsAnAnswerAndCounted) {
    BlockPool pool(optionsFor(64, 1));
    void* const block = pool.tryAllocate();
    ASSERT_NE(block, nullptr);
    EXPECT_EQ(pool.tryAllocate(), nullptr);
    EXPECT_EQ(pool.statistics().exhausted, 1U);
    pool.deallocate(block);
    EXPECT_EQ(pool.tryAllocate(), block);
    pool.deallocate(block);
    pool.deallocate(nullptr);
    EXPECT_EQ(pool.statistics().exhausted, 1U);
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

TEST(BlockPoolTest, ALivingThreadKeepsAtMostItsCache) {
    constexpr std::size_t kept = 2 * SmallTraits::magazineRounds + 1;
    BlockPoolOptions options = optionsFor(16, 100);
    options.blocksPerSlab = 1;
    SmallPool pool(options);
    const std::vector<void*> blocks = allocateAll(pool);
    std::promise<void> hasFreed;
    std::promise<void> mayEnd;
    std::thread other([&] {
        freeAll(pool, blocks);
        hasFreed.set_value();
        mayEnd.get_future().wait();
    });
    hasFreed.get_future().wait();
    const std::vector<void*> rest = allocateAll(pool);
    EXPECT_GE(rest.size(), 100U - kept);
    EXPECT_LT(rest.size(), 100U);
    freeAll(pool, rest);
    pool.trim();
    EXPECT_EQ(pool.statistics().blocks, 100U - rest.size()) << "they keep their slabs";
    EXPECT_EQ(pool.statistics().inUse, 0U);
    mayEnd.set_value();
    other.join();
    pool.trim();
    EXPECT_EQ(pool.statistics().blocks, 0U);
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

TEST(BlockPoolTest, TrimReturnsWhatIsNotUsed) {
    CountingResource memory;
    SmallPool pool(slabsOfTen(100), &memory);
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
TEST(BlockPoolTest, WorksWhereverTheMemoryRunsOut) {
    for (int allowed = 0; allowed < 12; ++allowed) {
        CountingResource memory;
        memory.allocationsLeft = allowed;
        try {
            SmallPool pool(slabsOfTen(100), &memory);
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

TEST(BlockPoolTest, TrimmingAndGrowingAgainNeedsNoMoreMemory) {
    CountedMemory memory;
    SmallPool pool(slabsOfTen(100), &memory);
    const auto growAndTrim = [&] {
        freeAll(pool, allocate(pool, 100));
        EXPECT_GT(pool.trim(), 0U);
    };
    growAndTrim();
    const std::size_t before = memory.bytesInUse();
    for (int i = 0; i < 1000; ++i) {
        growAndTrim();
    }
    EXPECT_EQ(memory.bytesInUse(), before);
}

TEST(BlockPoolTest, SlabsGrowWithThePool) {
    BlockPool pool(optionsFor(64, BlockPoolOptions::unlimited));
    std::vector<void*> used;
    std::set<std::size_t> sizes;
    while (used.size() < 5000) {
        used.push_back(pool.allocate());
        sizes.insert(pool.statistics().blocks);
    }
    EXPECT_EQ(sizes,
              (std::set<std::size_t>{16, 32, 64, 128, 256, 512, 1024, 2048, 3072, 4096, 5120}));
    for (void* const block : used) {
        pool.deallocate(block);
    }
}

/// Lets the test do something while a slab is on its way.
class SlowMemory : public CountedMemory {
public:
    std::atomic<bool> isAsked{false};
    std::atomic<bool> mayGoOn{false};

private:
    void* do_allocate(std::size_t bytes, std::size_t alignment) override {
        if (bytes >= slabBytes) {
            isAsked.store(true);
            while (!mayGoOn.load()) {
                std::this_thread::yield();
            }
        }
        return CountedMemory::do_allocate(bytes, alignment);
    }

public:
    static constexpr std::size_t slabBytes = 100000;
};

TEST(BlockPoolTest, NobodyIsTurnedAwayWhileTheLastSlabIsOnItsWay) {
    SlowMemory memory;
    BlockPoolOptions options = optionsFor(SlowMemory::slabBytes / 10, 10);
    options.blocksPerSlab = 10;
    SmallPool pool(options, &memory);
    void* first = nullptr;
    void* second = nullptr;
    std::thread growing([&] { first = pool.tryAllocate(); });
    while (!memory.isAsked.load()) {
        std::this_thread::yield();
    }
    std::atomic<bool> isAsking{false};
    std::thread asking([&] {
        isAsking.store(true);
        second = pool.tryAllocate();
    });
    while (!isAsking.load()) {
        std::this_thread::yield();
    }
    std::this_thread::sleep_for(10ms);  // it should be waiting now
    memory.mayGoOn.store(true);
    growing.join();
    asking.join();
    EXPECT_NE(first, nullptr);
    EXPECT_NE(second, nullptr) << "nothing was in use, but it was called exhausted";
    EXPECT_EQ(pool.statistics().exhausted, 0U);
    pool.deallocate(first);
    pool.deallocate(second);
}

#if defined(__cpp_exceptions)
/// Refuses large requests.
class ScarceMemory : public CountedMemory {
public:
    static constexpr std::size_t mostBytes = std::size_t{1} << 26U;

private:
    void* do_allocate(std::size_t bytes, std::size_t alignment) override {
        if (bytes > mostBytes) {
            throw std::bad_alloc();
        }
        return CountedMemory::do_allocate(bytes, alignment);
    }
};

TEST(BlockPoolTest, BlocksTooLargeForAnyMemoryAreRefused) {
    ScarceMemory memory;
    constexpr auto huge = std::numeric_limits<std::size_t>::max();
    for (const std::size_t blockSize : {huge / 4, huge / 8, huge / 16, huge / 32 + 1}) {
        BlockPool pool(optionsFor(blockSize, BlockPoolOptions::unlimited), &memory);
        EXPECT_EQ(pool.tryAllocate(), nullptr) << blockSize;
    }
}
#endif

// ---- huge pages

BlockPoolOptions hugeOptions(std::size_t blockSize) {
    BlockPoolOptions options = optionsFor(blockSize, BlockPoolOptions::unlimited);
    options.hugePages = true;
    options.prefault = true;
    return options;
}

/// Counts the slabs that can be made of huge pages.
class HugeMemory : public CountedMemory {
public:
    static constexpr std::size_t page = std::size_t{2} << 20U;
    int slabs = 0;

private:
    void* do_allocate(std::size_t bytes, std::size_t alignment) override {
        const bool isSlab = alignment >= page;  // the magazines are not
        slabs += isSlab ? 1 : 0;
        EXPECT_TRUE(!isSlab || bytes % page == 0);
        return CountedMemory::do_allocate(bytes, alignment);
    }
};

TEST(BlockPoolTest, SlabsAreWholeHugePages) {
    for (const std::size_t blockSize : {16U, 64U, 1000U, 100'000U, 3'000'000U}) {
        HugeMemory memory;
        BlockPool pool(hugeOptions(blockSize), &memory);
        pool.deallocate(pool.allocate());
        EXPECT_EQ(memory.slabs, 1) << blockSize;
        const std::size_t pages = (blockSize + HugeMemory::page) / HugeMemory::page;
        const std::size_t blocks = pool.statistics().blocks;
        EXPECT_LE(blocks * blockSize, pages * HugeMemory::page);
        EXPECT_GT((blocks + 1) * blockSize, pages * HugeMemory::page / 10 * 8) << "it is filled";
    }
}

// ---- threads that end

struct FreesAtTheEnd {
    ~FreesAtTheEnd() {
        if (pool != nullptr) {
            pool->deallocate(block);
            void* const other = pool->tryAllocate();
            hasAllocated = other != nullptr;
            pool->deallocate(other);
        }
    }
    SmallPool* pool = nullptr;
    void* block = nullptr;
    inline static bool hasAllocated = false;
};
thread_local FreesAtTheEnd freesAtTheEnd;

TEST(BlockPoolTest, BlocksMayBeFreedWhenTheCacheOfTheThreadIsGone) {
    SmallPool pool(optionsFor(16, 3));
    for (int round = 0; round < 10; ++round) {
        FreesAtTheEnd::hasAllocated = false;
        std::thread([&] {
            freesAtTheEnd.pool = &pool;  // constructed before the cache, so destroyed after it
            freesAtTheEnd.block = pool.allocate();
        }).join();
        EXPECT_TRUE(FreesAtTheEnd::hasAllocated);
        EXPECT_EQ(pool.statistics().inUse, 0U);
    }
    freeAll(pool, allocate(pool, 3));
}

TEST(BlockPoolTest, HighWaterCoversWhatIsInUse) {
    for (const std::size_t count : {1U, 10U, 100U, 200U, 1000U}) {
        BlockPool pool(optionsFor(16, count));
        const std::vector<void*> blocks = allocate(pool, count);
        EXPECT_GE(pool.statistics().highWater, count);
        EXPECT_LE(pool.statistics().highWater, count + 4 * BlockPoolTraits::magazineRounds);
        freeAll(pool, blocks);
        EXPECT_GE(pool.statistics().highWater, count);
        pool.trim();
        EXPECT_LE(pool.statistics().highWater, count + 4 * BlockPoolTraits::magazineRounds);
    }
}

// ---- options and misuse

#if defined(__cpp_exceptions)
void expectRefusal(const BlockPoolOptions& options, const std::string& part) {
    try {
        const BlockPool pool(options);
        FAIL() << "not refused: " << part;
    } catch (const std::invalid_argument& error) {
        EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
}

TEST(BlockPoolTest, OptionsThatCannotWorkAreRefused) {
    constexpr auto huge = std::numeric_limits<std::size_t>::max();
    expectRefusal(optionsFor(0, 1), "block size of a BlockPool is too small: 0, limit 1");
    expectRefusal(optionsFor(huge, 1), "block size of a BlockPool is too large");
    expectRefusal(optionsFor(8, 0), "capacity of a BlockPool is too small: 0, limit 1");
    expectRefusal(optionsFor(8, huge / 8), "capacity of a BlockPool is too large");
    BlockPoolOptions options = optionsFor(8, 10);
    options.alignment = 24;
    expectRefusal(options, "alignment of a BlockPool is not a power of two: 24");
    options.alignment = 0;
    expectRefusal(options, "alignment of a BlockPool is not a power of two: 0");
    options = optionsFor(8, 10);
    options.initialBlocks = 11;
    expectRefusal(options, "initialBlocks of a BlockPool exceed its capacity: 11, limit 10");
    options = optionsFor(8, 10);
    options.blocksPerSlab = huge / 16;
    expectRefusal(options, "blocksPerSlab of a BlockPool is too large");
    options = optionsFor(8, BlockPoolOptions::unlimited);
    options.initialBlocks = huge / 8;
    expectRefusal(options, "initialBlocks of a BlockPool are too many");
}
#endif

BlockLeak lastLeak{};

TEST(BlockPoolTest, OnLeakGetsTheBlocksThatWereNotFreed) {
    lastLeak = {};
    {
        BlockPoolOptions options = optionsFor(48, 10);
        options.name = "orders";
        options.onLeak = [](const BlockLeak& leak) noexcept { lastLeak = leak; };
        BlockPool pool(options);
        (void)pool.allocate();
        (void)pool.allocate();
    }
    EXPECT_STREQ(lastLeak.name, "orders");
    EXPECT_EQ(lastLeak.blocks, 2U);
    EXPECT_EQ(lastLeak.blockSize, 48U);
}

#if !SLUICE_TEST_ASAN
// In release builds, too: such a block would be given out twice.
TEST(BlockPoolDoubleFreeDeathTest, BlockOnTopIsReported) {
    BlockPool pool(optionsFor(4, 4));
    void* const first = pool.allocate();
    void* const second = pool.allocate();
    void* const third = pool.allocate();
    EXPECT_DEATH((pool.deallocate(first), pool.deallocate(first)), "freed twice");
    EXPECT_DEATH((pool.deallocate(first), pool.deallocate(second), pool.deallocate(first)),
                 "freed twice");
    EXPECT_DEATH((pool.deallocate(first), pool.deallocate(second), pool.deallocate(second)),
                 "freed twice");
    freeAll(pool, {first, second, third});
}
#endif

#if !defined(NDEBUG)
TEST(BlockPoolDeathTest, CatchesABlockThatTheThreadHasFreed) {
    BlockPool pool(optionsFor(64, 100));
    const std::vector<void*> blocks = allocateAll(pool);
    freeAll(pool, blocks);
    EXPECT_DEATH(pool.deallocate(blocks.front()), "freed twice");
    EXPECT_DEATH(pool.deallocate(blocks[50]), "freed twice");
    EXPECT_DEATH(pool.deallocate(blocks.back()), "freed twice");
}

TEST(BlockPoolDeathTest, CatchesMisuse) {
    SmallPool pool(optionsFor(64, 10));
    SmallPool other(optionsFor(64, 10));
    void* const block = pool.allocate();
    const auto withAddress = [](const char* before, [[maybe_unused]] const void* address) {
        std::ostringstream text;
#if defined(_WIN32)  // it runs in a new process, which has other addresses
        text << before;
#else
        text << before << address;
#endif
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
    other.deallocate(other.allocate());  // so that it has a slab
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
