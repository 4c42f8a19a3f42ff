#include "support/counted_memory.hpp"
#include "support/sanitizers.hpp"

#include <sluice/memory/block_pool.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <limits>
#include <memory_resource>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

// How a BlockPool gets its memory, and how it counts.

namespace sluice {
namespace {

using namespace std::chrono_literals;
using test::CountedMemory;

static_assert(alignof(detail::PoolCore<BlockPoolTraits>::Slot) == cacheLineSize,
              "threads share no line");

struct SmallTraits : BlockPoolTraits {
    static constexpr std::size_t magazineRounds = 4;
};
using SmallPool = BasicBlockPool<SmallTraits>;

BlockPoolOptions optionsFor(std::size_t blockSize, std::size_t capacity,
                            std::size_t blocksPerSlab = 0) {
    BlockPoolOptions options;
    options.blockSize = blockSize;
    options.capacity = capacity;
    options.blocksPerSlab = blocksPerSlab;
    return options;
}

template <class Pool>
std::vector<void*> allocate(Pool& pool, std::size_t count) {
    std::vector<void*> blocks;
    while (blocks.size() < count) {
        blocks.push_back(pool.tryAllocate());
        EXPECT_NE(blocks.back(), nullptr);
    }
    return blocks;
}

template <class Pool>
void freeAll(Pool& pool, const std::vector<void*>& blocks) {
    for (void* const block : blocks) {
        pool.deallocate(block);
    }
}

// ---- memory

TEST(BlockPoolMemoryTest, TrimmingAndGrowingAgainNeedsNoMoreMemory) {
    CountedMemory memory;
    SmallPool pool(optionsFor(64, 100, 10), &memory);
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

TEST(BlockPoolMemoryTest, FirstSlabDoesNotDecideHowThePoolGrows) {
    CountedMemory memory;
    BlockPoolOptions options = optionsFor(64, BlockPoolOptions::unlimited);
    options.initialBlocks = 1;
    BlockPool pool(options, &memory);
    EXPECT_EQ(pool.statistics().blocks, 1U);
    const std::vector<void*> blocks = allocate(pool, 1000);
    EXPECT_GE(pool.statistics().blocks, 1000U);
    EXPECT_LE(memory.allocations(), 10U);
    freeAll(pool, blocks);
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

TEST(BlockPoolMemoryTest, NobodyIsTurnedAwayWhileTheLastSlabIsOnItsWay) {
    SlowMemory memory;
    SmallPool pool(optionsFor(SlowMemory::slabBytes / 10, 10, 10), &memory);
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

TEST(BlockPoolMemoryTest, RefusedGrowthLeavesNothingBehind) {
    ScarceMemory memory;
    SmallPool pool(optionsFor(ScarceMemory::mostBytes / 100, 1000, 101), &memory);
    EXPECT_EQ(pool.tryAllocate(), nullptr);
    const std::size_t before = memory.bytesInUse();
    for (int i = 0; i < 1000; ++i) {
        EXPECT_EQ(pool.tryAllocate(), nullptr);
    }
    EXPECT_EQ(memory.bytesInUse(), before);
    EXPECT_EQ(pool.statistics().blocks, 0U);
}

TEST(BlockPoolMemoryTest, BlocksTooLargeForAnyMemoryAreRefused) {
    ScarceMemory memory;
    constexpr auto huge = std::numeric_limits<std::size_t>::max();
    for (const std::size_t blockSize : {huge / 4, huge / 8, huge / 16, huge / 32 + 1}) {
        BlockPool pool(optionsFor(blockSize, BlockPoolOptions::unlimited), &memory);
        EXPECT_EQ(pool.tryAllocate(), nullptr) << blockSize;
    }
}

TEST(BlockPoolMemoryTest, RefusesMoreInitialBlocksThanCanBe) {
    BlockPoolOptions options = optionsFor(8, BlockPoolOptions::unlimited);
    options.initialBlocks = std::numeric_limits<std::size_t>::max() / 8;
    ScarceMemory memory;
    try {
        const BlockPool pool(options, &memory);
        FAIL() << "not refused";
    } catch (const std::invalid_argument& error) {
        EXPECT_NE(std::string(error.what()).find("initialBlocks of a BlockPool are too many"),
                  std::string::npos)
            << error.what();
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

TEST(BlockPoolHugePagesTest, SlabsAreWholeHugePages) {
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

#if defined(__linux__) && !SLUICE_TEST_ASAN && !SLUICE_TEST_TSAN
/// KiB of huge pages in the part of this process's memory that has the address.
std::size_t hugeKilobytesAt(const void* address) {
    std::ifstream maps("/proc/self/smaps");
    const auto wanted = reinterpret_cast<std::uintptr_t>(address);
    bool isInside = false;
    for (std::string line; std::getline(maps, line);) {
        unsigned long begin = 0;
        unsigned long end = 0;
        unsigned long kilobytes = 0;
        if (std::sscanf(line.c_str(), "%lx-%lx ", &begin, &end) == 2) {
            isInside = begin <= wanted && wanted < end;
        } else if (isInside && std::sscanf(line.c_str(), "AnonHugePages: %lu", &kilobytes) == 1) {
            return kilobytes;
        }
    }
    return 0;
}

TEST(BlockPoolHugePagesTest, KernelGivesThem) {
#if defined(SLUICE_TEST_EMULATED)
    GTEST_SKIP() << "the emulator shows no huge pages";
#endif
    std::ifstream setting("/sys/kernel/mm/transparent_hugepage/enabled");
    std::string text;
    std::getline(setting, text);
    if (text.empty() || text.find("[never]") != std::string::npos) {
        GTEST_SKIP() << "this kernel has no huge pages for programs";
    }
    BlockPool pool(hugeOptions(64));
    void* const block = pool.allocate();
    EXPECT_GE(hugeKilobytesAt(block), 2048U);
    pool.deallocate(block);
}
#endif

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

TEST(BlockPoolThreadTest, BlocksMayBeFreedWhenTheCacheOfTheThreadIsGone) {
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

// ---- figures

TEST(BlockPoolFiguresTest, HighWaterCoversWhatIsInUse) {
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

TEST(BlockPoolFiguresTest, TimedAllocationCountsOnce) {
    BlockPool pool(optionsFor(16, 1));
    void* const block = pool.allocate();
    EXPECT_EQ(pool.tryAllocateFor(2ms), nullptr);
    EXPECT_EQ(pool.statistics().exhausted, 1U);
    std::thread other([&] {
        std::this_thread::sleep_for(2ms);
        pool.deallocate(block);
    });
    void* const again = pool.tryAllocateFor(std::chrono::hours::max());
    other.join();
    EXPECT_NE(again, nullptr);
    EXPECT_EQ(pool.statistics().exhausted, 1U) << "it got one in the end";
    pool.deallocate(again);
}

TEST(BlockPoolFiguresTest, RemoteFreesAreThoseOfOthers) {
    SmallPool pool(optionsFor(16, 1000));
    for (int round = 1; round <= 3; ++round) {
        freeAll(pool, allocate(pool, 1000));
        EXPECT_EQ(pool.statistics().remoteFrees, 0U) << "it frees what it has allocated";
    }
    const std::vector<void*> blocks = allocate(pool, 500);
    std::thread([&] {
        freeAll(pool, allocate(pool, 100));
        freeAll(pool, blocks);
        EXPECT_EQ(pool.statistics().remoteFrees, 500U);
    }).join();
    EXPECT_EQ(pool.statistics().remoteFrees, 500U);
    pool.trim();
    freeAll(pool, allocate(pool, 10));
    EXPECT_EQ(pool.statistics().remoteFrees, 500U);
}

}  // namespace
}  // namespace sluice
