#include "support/crew.hpp"
#include "support/dice.hpp"
#include "support/jitter_platform.hpp"
#include "support/scale.hpp"
#include "support/watchdog.hpp"

#include <sluice/memory/block_pool.hpp>
#include <sluice/queue/mpsc_ring.hpp>

#include "support/testing.hpp"

// Blocks carry the number of their user in every word. A thread that gets a block in use overwrites
// these words, and the user of the block notices.

namespace sluice::test {
namespace {

struct SmallJitterTraits : BlockPoolTraits {
    using Platform = JitterPlatform;
    static constexpr std::size_t magazineRounds = 3;
};
struct SmallTraits : BlockPoolTraits {
    static constexpr std::size_t magazineRounds = 3;
};

struct SingleTraits : BlockPoolTraits {
    static constexpr std::size_t magazineRounds = 1;
};

constexpr std::size_t words = 4;

void sign(void* block, std::uint64_t user) {
    std::fill_n(static_cast<std::uint64_t*>(block), words, user);
}
bool isSigned(const void* block, std::uint64_t user) {
    const auto* const content = static_cast<const std::uint64_t*>(block);
    return std::all_of(content, content + words, [=](std::uint64_t word) { return word == user; });
}

BlockPoolOptions optionsFor(std::size_t capacity) {
    BlockPoolOptions options;
    options.blockSize = words * sizeof(std::uint64_t);
    options.capacity = capacity;
    options.blocksPerSlab = 7;
    return options;
}

/// Threads that allocate and free in any order, and now and then trim.
template <class Traits>
void churn(std::size_t threads, std::size_t steps) {
    BasicBlockPool<Traits> pool(optionsFor(100));
    const Watchdog watchdog(
        [&](std::FILE* out) { std::fprintf(out, "in use %zu\n", pool.statistics().inUse); });
    std::atomic<int> spoiled{0};
    {
        Crew crew;
        for (std::size_t self = 1; self <= threads; ++self) {
            crew.add([&, self] {
                Dice dice(static_cast<std::uint32_t>(self));
                std::vector<void*> mine;
                for (std::size_t step = 0; step < steps; ++step) {
                    const std::uint32_t eyes = dice() % 64;
                    if (eyes == 0) {
                        pool.trim();
                    } else if (eyes == 2) {
                        const BlockPoolStatistics figures = pool.statistics();
                        spoiled += figures.blocks <= 100 && figures.highWater <= 100 ? 0 : 1;
                    } else if (eyes % 2 == 0 || mine.empty()) {
                        if (void* const block = pool.tryAllocate()) {
                            sign(block, self);
                            mine.push_back(block);
                        }
                    } else {
                        std::swap(mine[eyes % mine.size()], mine.back());
                        spoiled += isSigned(mine.back(), self) ? 0 : 1;
                        pool.deallocate(mine.back());
                        mine.pop_back();
                    }
                }
                for (void* const block : mine) {
                    spoiled += isSigned(block, self) ? 0 : 1;
                    pool.deallocate(block);
                }
            });
        }
    }
    EXPECT_EQ(spoiled.load(), 0);
    EXPECT_EQ(pool.statistics().inUse, 0U);
    EXPECT_GT(pool.trim(), 0U);
    EXPECT_EQ(pool.statistics().blocks, 0U) << "every thread has given its cache back";
}

TEST(BlockPoolStressTest, ThreadsAllocateAndFreeInAnyOrder) {
    churn<SmallTraits>(4, scaled(200000));
    churn<SmallJitterTraits>(4, scaled(20000));
}

/// Magazines are created by one thread, used by another one, and looked into by a third.
TEST(BlockPoolStressTest, FiguresMayBeAskedForWhileThePoolGrows) {
    const Watchdog watchdog([](std::FILE*) {});
    for (std::size_t round = scaled(100); round != 0; --round) {
        BlockPoolOptions options = optionsFor(2000);
        options.blocksPerSlab = 4;
        BasicBlockPool<SingleTraits> pool(options);
        std::atomic<bool> isDone{false};
        std::atomic<int> wrong{0};
        {
            Crew crew;
            crew.add([&] {
                std::vector<void*> blocks;
                while (void* const block = pool.tryAllocate()) {
                    blocks.push_back(block);
                }
                isDone.store(true);
                for (void* const block : blocks) {
                    pool.deallocate(block);
                }
            });
            crew.add([&] {
                while (!isDone.load()) {
                    void* blocks[10];
                    for (void*& block : blocks) {
                        block = pool.tryAllocate();
                    }
                    for (void* const block : blocks) {
                        pool.deallocate(block);
                    }
                }
            });
            crew.add([&] {
                while (!isDone.load()) {
                    const BlockPoolStatistics figures = pool.statistics();
                    wrong += figures.blocks <= 2000 && figures.highWater <= 2000 ? 0 : 1;
                }
            });
        }
        EXPECT_EQ(wrong.load(), 0);
        EXPECT_EQ(pool.statistics().inUse, 0U);
    }
}

/// Several threads allocate, another one frees all of it.
template <class Traits>
void handOver(std::size_t producers, std::uint64_t each) {
    BasicBlockPool<Traits> pool(optionsFor(64));
    MpscRing<void*, 256> ring;
    std::atomic<std::uint64_t> freed{0};
    const Watchdog watchdog([&](std::FILE* out) {
        std::fprintf(out, "freed %llu\n", static_cast<unsigned long long>(freed.load()));
    });
    std::atomic<int> spoiled{0};
    {
        Crew crew;
        for (std::size_t self = 1; self <= producers; ++self) {
            crew.add([&] {
                for (std::uint64_t i = 0; i < each; ++i) {
                    void* block = nullptr;
                    awaitThat([&] { return (block = pool.tryAllocate()) != nullptr; });
                    sign(block, i);
                    awaitThat([&] { return ring.tryPush(block) == SendResult::ok; });
                }
            });
        }
        crew.add([&] {
            while (freed.load() < producers * each) {
                const std::size_t count = ring.consume([&](void* block) {
                    spoiled += isSigned(block, *static_cast<std::uint64_t*>(block)) ? 0 : 1;
                    sign(block, ~std::uint64_t{0});
                    pool.deallocate(block);
                });
                freed += count;
                if (count == 0) {
                    std::this_thread::yield();
                }
            }
        });
    }
    EXPECT_EQ(spoiled.load(), 0);
    EXPECT_EQ(pool.statistics().inUse, 0U);
    EXPECT_LE(pool.statistics().blocks, 64U);
}

TEST(BlockPoolStressTest, OneThreadFreesWhatThreeAllocate) {
    handOver<SmallTraits>(3, scaled(60000));
    handOver<SmallJitterTraits>(3, scaled(6000));
}

/// Threads come and go, and so do pools, while others use theirs.
TEST(BlockPoolStressTest, ThreadsAndPoolsComeAndGo) {
    const std::size_t rounds = scaled(2000);
    const Watchdog watchdog([](std::FILE*) {});
    BasicBlockPool<SmallTraits> shared(optionsFor(1000));
    Crew crew;
    for (int i = 0; i < 3; ++i) {
        crew.add([&] {
            for (std::size_t round = 0; round < rounds; ++round) {
                std::thread([&] {
                    BasicBlockPool<SmallTraits> own(optionsFor(20));
                    void* const mine = own.allocate();
                    void* const common = shared.allocate();
                    own.deallocate(mine);
                    shared.deallocate(common);
                }).join();
            }
        });
    }
    crew.join();
    EXPECT_EQ(shared.statistics().inUse, 0U);
}

}  // namespace
}  // namespace sluice::test
