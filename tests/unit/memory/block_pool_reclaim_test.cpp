#include "support/counted_memory.hpp"
#include "support/crew.hpp"
#include "support/jitter_platform.hpp"
#include "support/sanitizers.hpp"
#include "support/scale.hpp"
#include "support/watchdog.hpp"
#include "unit/queue/queue_doubles.hpp"

#include <sluice/memory/block_pool.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <ctime>
#include <thread>
#include <vector>

// The blocks that idle threads hold come back, and waiting for a block costs little.

namespace sluice {
namespace {

using namespace std::chrono_literals;
using namespace test;

BlockPoolOptions optionsFor(std::size_t capacity, std::size_t blocksPerSlab) {
    BlockPoolOptions options;
    options.blockSize = 64;
    options.capacity = capacity;
    options.blocksPerSlab = blocksPerSlab;
    return options;
}

template <class Pool>
std::vector<void*> allocate(Pool& pool, std::size_t most) {
    std::vector<void*> blocks;
    while (blocks.size() < most) {
        void* const block = pool.tryAllocate();
        if (block == nullptr) {
            break;
        }
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

/// Threads that have done something and then do nothing, until the end of the scope.
class IdleThreads {
public:
    template <class Work>
    IdleThreads(std::size_t count, Work work) {
        for (std::size_t i = 0; i < count; ++i) {
            threads_.emplace_back([this, work] {
                work();
                ready_.fetch_add(1);
                awaitThat([&] { return mayEnd_.load(); });
            });
        }
        awaitThat([&] { return ready_.load() == count; });
    }
    ~IdleThreads() {
        mayEnd_.store(true);
        for (std::thread& thread : threads_) {
            thread.join();
        }
    }
    IdleThreads(const IdleThreads&) = delete;
    IdleThreads& operator=(const IdleThreads&) = delete;

private:
    std::atomic<std::size_t> ready_{0};
    std::atomic<bool> mayEnd_{false};
    std::vector<std::thread> threads_;
};

constexpr std::size_t keptByThread = 2 * BlockPoolTraits::magazineRounds;

TEST(BlockPoolReclaimTest, TrimGivesBackWhatIdleThreadsHold) {
    const Watchdog watchdog([](std::FILE*) {});
    constexpr std::size_t threads = 10;
    CountedMemory memory;
    BlockPool pool(optionsFor(BlockPoolOptions::unlimited, 1), &memory);
    const IdleThreads idle(threads, [&] { freeAll(pool, allocate(pool, keptByThread)); });
    EXPECT_GT(pool.statistics().blocks, threads * keptByThread / 2);
    EXPECT_GT(pool.trim(), 0U);
    EXPECT_LE(pool.statistics().blocks, threads) << "one block of each thread stays with it";
}

TEST(BlockPoolReclaimTest, BlocksOfIdleThreadsCanBeHad) {
    const Watchdog watchdog([](std::FILE*) {});
    constexpr std::size_t threads = 3;
    constexpr std::size_t capacity = threads * keptByThread;
    BlockPool pool(optionsFor(capacity, capacity));
    std::vector<std::vector<void*>> parts;
    for (std::size_t i = 0; i < threads; ++i) {
        parts.push_back(allocate(pool, keptByThread));
    }
    std::atomic<std::size_t> next{0};
    const IdleThreads idle(threads, [&] { freeAll(pool, parts[next.fetch_add(1)]); });
    const std::vector<void*> blocks = allocate(pool, capacity);
    EXPECT_GE(blocks.size(), capacity - threads) << "one block of each thread stays with it";
    freeAll(pool, blocks);
    EXPECT_EQ(pool.statistics().inUse, 0U);
}

struct JitterTraits : BlockPoolTraits {
    using Platform = JitterPlatform;
    static constexpr std::size_t magazineRounds = 2;
};

// All blocks together are as many as the threads want, so they empty each other's caches.
TEST(BlockPoolReclaimTest, ThreadsTakeBlocksFromEachOther) {
    const Watchdog watchdog([](std::FILE*) {});
    constexpr std::size_t threads = 3;
    constexpr std::size_t most = 4;
    BasicBlockPool<JitterTraits> pool(optionsFor(threads * most, 1));
    std::atomic<std::size_t> torn{0};
    {
        Crew crew;
        for (std::size_t i = 0; i < threads; ++i) {
            crew.add([&pool, &torn, i] {
                for (std::size_t round = scaled(4'000); round != 0; --round) {
                    const std::vector<void*> blocks = allocate(pool, most);
                    for (void* const block : blocks) {
                        *static_cast<std::size_t*>(block) = i;
                    }
                    for (void* const block : blocks) {
                        torn += *static_cast<std::size_t*>(block) == i ? 0 : 1;
                    }
                    freeAll(pool, blocks);
                    if (round % 64 == 0) {
                        (void)pool.trim();
                    }
                }
            });
        }
    }
    EXPECT_EQ(torn, 0U) << "a block was given out twice";
    EXPECT_EQ(pool.statistics().inUse, 0U);
    const std::vector<void*> blocks = allocate(pool, threads * most);
    EXPECT_EQ(blocks.size(), threads * most) << "threads that have ended keep none";
    freeAll(pool, blocks);
}

#if defined(__linux__)
TEST(BlockPoolReclaimTest, ThreadThatWaitsForABlockSleeps) {
    BlockPool pool(optionsFor(1, 1));
    void* const block = pool.allocate();
    const auto cpuTime = [] {
        timespec time{};
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
        return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
    };
    const auto before = cpuTime();
    const auto start = std::chrono::steady_clock::now();
    EXPECT_EQ(pool.tryAllocateFor(300ms), nullptr);
    EXPECT_LT(4 * (cpuTime() - before), std::chrono::steady_clock::now() - start);
    pool.deallocate(block);
}
#endif

TEST(BlockPoolReclaimTest, WaitingThreadGetsTheBlockOfALivingThread) {
    const Watchdog watchdog([](std::FILE*) {});
    BlockPool pool(optionsFor(2, 2));
    const std::vector<void*> blocks = allocate(pool, 2);
    const IdleThreads idle(1, [&] { freeAll(pool, blocks); });
    void* const block = pool.tryAllocateFor(std::chrono::hours::max());
    EXPECT_NE(block, nullptr);
    pool.deallocate(block);
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

}  // namespace
}  // namespace sluice
