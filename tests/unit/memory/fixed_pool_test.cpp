#include "support/crew.hpp"
#include "support/interrupting_platform.hpp"
#include "support/jitter_platform.hpp"
#include "support/sanitizers.hpp"
#include "support/scale.hpp"
#include "support/watchdog.hpp"
#include "unit/queue/queue_doubles.hpp"

#include <sluice/base/single_core_platform.hpp>
#include <sluice/memory/object_pool.hpp>

#include "support/testing.hpp"

// FixedBlockPool, mostly under an ObjectPool, with threads and as on a microcontroller.

namespace sluice {
namespace {

using namespace test;

template <class UsedPlatform>
struct ExactTraits : BlockPoolTraits {
    using Platform = UsedPlatform;
};

/// A machine without atomic words of 64 bits.
template <class Base>
struct Narrow : Base {
    using WideWord = std::uint32_t;
};

using OneCoreTraits = ExactTraits<Narrow<SingleCorePlatform<ThisProgramRunsOnOneCore>>>;

ObjectPoolOptions atMost(std::size_t capacity) {
    ObjectPoolOptions options;
    options.capacity = capacity;
    options.exactUpTo = ObjectPoolOptions::unlimited;
    return options;
}

template <class Pool>
auto makeAll(Pool& pool) {
    std::vector<typename Pool::Pointer> objects;
    while (auto object = pool.tryMake(1)) {
        objects.push_back(std::move(object));
    }
    return objects;
}

template <class Traits>
class FixedPoolTest : public ::testing::Test {
protected:
    template <class T>
    using Pool = ObjectPool<T, Traits>;
};
using AllTraits =
    ::testing::Types<ExactTraits<StdPlatform>, ExactTraits<Narrow<StdPlatform>>, OneCoreTraits>;
TYPED_TEST_SUITE(FixedPoolTest, AllTraits, );

TYPED_TEST(FixedPoolTest, GivesOutEachObjectOnceUpToTheCapacity) {
    for (const std::size_t capacity : {1U, 2U, 64U, 65U, 4095U}) {
        typename TestFixture::template Pool<Tracked> pool(atMost(capacity));
        EXPECT_EQ(pool.capacity(), capacity);
        for (int round = 0; round < 2; ++round) {
            const auto objects = makeAll(pool);
            std::set<const Tracked*> places;
            for (const auto& object : objects) {
                places.insert(object.get());
            }
            EXPECT_EQ(places.size(), capacity);
            EXPECT_EQ(Tracked::alive, static_cast<int>(capacity));
        }
        EXPECT_EQ(Tracked::alive, 0);
        const BlockPoolStatistics statistics = pool.statistics();
        EXPECT_EQ(statistics.blocks, capacity);
        EXPECT_EQ(statistics.inUse, 0U);
        EXPECT_EQ(statistics.highWater, capacity);
        EXPECT_EQ(statistics.exhausted, 2U);
        EXPECT_EQ(pool.trim(), 0U);
    }
}

TYPED_TEST(FixedPoolTest, AllocatesInItsConstructorAlone) {
    CountingResource memory;
    {
        typename TestFixture::template Pool<Tracked> pool(atMost(100), &memory);
        const int before = memory.allocations;
        EXPECT_EQ(makeAll(pool).size(), 100U);
        EXPECT_EQ(memory.allocations, before);
    }
    EXPECT_EQ(memory.bytesInUse, 0U);
}

#if defined(__cpp_exceptions)
TYPED_TEST(FixedPoolTest, RefusesACapacityThatItCannotHave) {
    using IntPool = typename TestFixture::template Pool<int>;
    EXPECT_THROW(IntPool(atMost(ObjectPoolOptions::unlimited)), std::invalid_argument);
    EXPECT_THROW(IntPool(atMost(0)), std::invalid_argument);
    constexpr bool isNarrow = sizeof(typename TypeParam::Platform::WideWord) == 4;
    if constexpr (isNarrow) {
        EXPECT_THROW(IntPool(atMost(4096)), std::invalid_argument);
    } else {
        EXPECT_NO_THROW(IntPool(atMost(4096)));
    }
}

TYPED_TEST(FixedPoolTest, LosesNothingWhenMemoryIsRefused) {
    using IntPool = typename TestFixture::template Pool<int>;
    for (int allowed = 0; allowed < 2; ++allowed) {
        CountingResource memory;
        memory.allocationsLeft = allowed;
        EXPECT_THROW(IntPool(atMost(3), &memory), std::bad_alloc);
        EXPECT_EQ(memory.bytesInUse, 0U);
    }
    IntPool pool(atMost(1));
    const auto object = pool.make(1);
    EXPECT_THROW((void)pool.make(2), std::bad_alloc);
}
#endif

#if !defined(NDEBUG)
TEST(FixedBlockPoolDeathTest, CatchesForeignBlocks) {
    BlockPoolOptions options;
    options.blockSize = 20;
    options.capacity = 3;
    FixedBlockPool pool(options);
    FixedBlockPool other(options);
    void* const block = pool.allocate();
    EXPECT_TRUE(pool.owns(block));
    EXPECT_FALSE(pool.owns(static_cast<char*>(block) + 1));
    EXPECT_DEATH(other.deallocate(block), "no block of this pool begins at");
    pool.deallocate(block);
    pool.deallocate(nullptr);
}
#endif

// In release builds, too.
TYPED_TEST(FixedPoolTest, CatchesAnObjectThatIsDestroyedTwice) {
    using IntPool = typename TestFixture::template Pool<int>;
    IntPool pool(atMost(3));
    auto object = pool.make(1);
    int* const raw = object.get();
    EXPECT_DEATH((object.reset(), IntPool::destroy(raw)), SLUICE_TEST_FREED_TWICE);
}

// ---- interrupts

using InterruptedPool = ObjectPool<int, ExactTraits<Narrow<InterruptingPlatform>>>;

struct Scene {
    InterruptedPool pool{atMost(3)};
    InterruptedPool::Pointer first = pool.make(1), main{}, inInterrupt{};
};

void expectEachOnce(Scene& scene) {
    const bool hasMain = scene.main != nullptr;
    const bool hasOther = scene.inInterrupt != nullptr;
    EXPECT_EQ(scene.pool.statistics().inUse,
              (hasMain ? 1U : 0U) + (hasOther ? 1U : 0U) + (scene.first != nullptr ? 1U : 0U));
    std::set<const int*> places;
    const auto rest = makeAll(scene.pool);
    for (const auto& object : rest) {
        places.insert(object.get());
    }
    for (const auto* object : {&scene.first, &scene.main, &scene.inInterrupt}) {
        if (*object != nullptr) {
            places.insert(object->get());
        }
    }
    EXPECT_EQ(places.size(), 3U) << "each place is free, or in use once";
    EXPECT_EQ(scene.pool.statistics().highWater, 3U) << "never more than there are";
}

// An interrupt stops the main program in front of each access to the pool. It makes an object, and
// destroys one that the main program has made. It never waits.
TEST(FixedPoolInterruptedTest, InterruptMayMakeWhileTheMainProgramDoes) {
    const auto makeScene = [] { return std::make_unique<Scene>(); };
    const std::size_t accesses = interruptEverywhere(
        makeScene, [](Scene& scene) { scene.main = scene.pool.tryMake(2); },
        [](Scene& scene) { scene.inInterrupt = scene.pool.tryMake(3); },
        [](Scene& scene) {
            EXPECT_TRUE(scene.main && scene.inInterrupt) << "there was one for each";
            EXPECT_NE(scene.main, scene.inInterrupt);
            expectEachOnce(scene);
        });
    EXPECT_GE(accesses, 3U);
}

TEST(FixedPoolInterruptedTest, InterruptMayReorderTheFreeOnes) {
    interruptEverywhere([] { return std::make_unique<Scene>(); },
                        [](Scene& scene) { scene.main = scene.pool.tryMake(2); },
                        [](Scene& scene) {
                            auto top = scene.pool.tryMake(3);
                            scene.inInterrupt = scene.pool.tryMake(4);
                            top.reset();
                        },
                        &expectEachOnce);
}

TEST(FixedPoolInterruptedTest, InterruptMayMakeWhileTheMainProgramDestroys) {
    interruptEverywhere([] { return std::make_unique<Scene>(); },
                        [](Scene& scene) { scene.first.reset(); },
                        [](Scene& scene) {
                            scene.inInterrupt = scene.pool.tryMake(3);
                            (void)makeAll(scene.pool);
                        },
                        &expectEachOnce);
}

// ---- threads

template <class Traits>
class FixedPoolThreadsTest : public FixedPoolTest<Traits> {};
using ThreadTraits = ::testing::Types<ExactTraits<StdPlatform>, ExactTraits<JitterPlatform>,
                                      ExactTraits<Narrow<JitterPlatform>>>;
TYPED_TEST_SUITE(FixedPoolThreadsTest, ThreadTraits, );

/// Each thread has at most one object, and there is one for each: so none may be turned away.
TYPED_TEST(FixedPoolThreadsTest, IsNotExhaustedWhileAnObjectIsFree) {
    struct Pair {
        explicit Pair(std::size_t number) : first(number), second(number) {}
        std::size_t first, second;
    };
    constexpr std::size_t threads = 3;
    typename TestFixture::template Pool<Pair> pool(atMost(threads));
    const Watchdog watchdog([](std::FILE*) {});
    std::atomic<std::size_t> torn{0};
    {
        Crew crew;
        for (std::size_t i = 0; i < threads; ++i) {
            crew.add([&pool, &torn, i] {
                for (std::size_t round = scaled(60'000); round != 0; --round) {
                    const auto pair = pool.tryMake(i);
                    const bool isIntact = pair && pair->first == i && pair->second == i;
                    torn.fetch_add(isIntact ? 0 : 1, std::memory_order_relaxed);
                }
            });
        }
    }
    EXPECT_EQ(torn, 0U) << "an object was turned away or given out twice";
    EXPECT_EQ(pool.statistics().exhausted, 0U);
    EXPECT_EQ(pool.statistics().inUse, 0U);
    EXPECT_LE(pool.statistics().highWater, threads);
}

}  // namespace
}  // namespace sluice
