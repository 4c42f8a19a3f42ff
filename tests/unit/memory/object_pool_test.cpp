#include "support/payloads.hpp"
#include "support/sanitizers.hpp"
#include "unit/queue/queue_doubles.hpp"

#include <sluice/memory/object_pool.hpp>

#include "support/testing.hpp"

namespace sluice {
namespace {

using test::CountingResource;
using test::Tracked;

static_assert(sizeof(PoolPtr<int>) == sizeof(int*));
ObjectPoolOptions atMost(std::size_t capacity) {
    ObjectPoolOptions options;
    options.capacity = capacity;
    return options;
}

TEST(ObjectPoolTest, TakesNoAddressWithTheOperatorOfAnObject) {
    ObjectPool<test::Disguised> pool;
    EXPECT_EQ(pool.make(7)->value, 7);
}

TEST(ObjectPoolTest, ReleasedObjectsAreOwnedAgainOrDestroyed) {
    ObjectPool<Tracked> pool;
    Tracked* const first = pool.make(1).release();
    Tracked* const second = pool.make(2).release();
    EXPECT_EQ(Tracked::alive, 2);
    EXPECT_EQ(PoolPtr<Tracked>(first)->value, 1);
    EXPECT_EQ(Tracked::alive, 1);
    ObjectPool<Tracked>::destroy(second);
    EXPECT_EQ(Tracked::alive, 0);
    ObjectPool<Tracked>::destroy(nullptr);
}

TEST(ObjectPoolTest, PointersMayBecomeSharedOnes) {
    ObjectPool<Tracked> pool;
    std::shared_ptr<Tracked> shared = pool.make(1);
    EXPECT_EQ(pool.statistics().inUse, 1U);
    shared.reset();
    EXPECT_EQ(pool.statistics().inUse, 0U);
}

TEST(ObjectPoolTest, IsFixedUpToItsLimit) {
    EXPECT_EQ(ObjectPool<int>(atMost(1024)).statistics().blocks, 1024U);
    EXPECT_EQ(ObjectPool<int>(atMost(1025)).statistics().blocks, 0U) << "it grows when it must";
    ObjectPoolOptions options = atMost(1024);
    options.exactUpTo = 1023;
    EXPECT_EQ(ObjectPool<int>(options).statistics().blocks, 0U);
}

TEST(ObjectPoolTest, AlignsItsObjects) {
    struct alignas(256) Wide {
        char content = 1;
    };
    ObjectPool<Wide> wide;
    const auto object = wide.make();
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(object.get()) % 256, 0U);
    ObjectPool<char> narrow;
    const auto letter = narrow.make('x');
    EXPECT_EQ(*letter, 'x');
}

TEST(ObjectPoolTest, HoldsMoveOnlyAndConstObjects) {
    ObjectPool<std::unique_ptr<int>> pool;
    const auto object = pool.make(std::make_unique<int>(3));
    EXPECT_EQ(**object, 3);
    ObjectPool<const int> constants;
    EXPECT_EQ(*constants.make(5), 5);
}

std::string leakedName;
std::size_t leakedBlocks = 0;

TEST(ObjectPoolTest, ReportsWhatWasNotDestroyedWithItsType) {
    ObjectPoolOptions options;
    options.onLeak = [](const BlockLeak& leak) noexcept {
        leakedName = leak.name;
        leakedBlocks = leak.blocks;
    };
    {
        ObjectPool<Tracked> pool(options);
        pool.make(1).release()->~Tracked();
    }
    EXPECT_NE(leakedName.find("Tracked"), std::string::npos) << leakedName;
    EXPECT_EQ(leakedBlocks, 1U);
    options.name = "orders";
    {
        ObjectPool<Tracked> pool(options);
        pool.make(1).release()->~Tracked();
    }
    EXPECT_EQ(leakedName, "orders");
}

#if defined(__cpp_exceptions)
TEST(ObjectPoolTest, ThrowingConstructorGivesTheBlockBack) {
    struct Refusing {
        explicit Refusing(bool refuses) {
            if (refuses) {
                throw std::runtime_error("constructor");
            }
        }
    };
    ObjectPool<Refusing> pool(atMost(1));
    EXPECT_THROW((void)pool.make(true), std::runtime_error);
    EXPECT_THROW((void)pool.tryMake(true), std::runtime_error);
    EXPECT_EQ(pool.statistics().inUse, 0U);
    const auto object = pool.make(false);
    EXPECT_THROW((void)pool.make(false), std::bad_alloc);
}
#endif

#if !defined(NDEBUG)
TEST(ObjectPoolDeathTest, CatchesMisuse) {
    ObjectPool<int> pool;
    auto object = pool.make(1);
    int* const raw = object.get();
    EXPECT_DEATH((object.reset(), ObjectPool<int>::destroy(raw)), SLUICE_TEST_FREED_TWICE);
}
#endif

}  // namespace
}  // namespace sluice
