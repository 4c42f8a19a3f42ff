#include "support/crew.hpp"
#include "support/sanitizers.hpp"
#include "support/watchdog.hpp"

#include <sluice/base/reader_registry.hpp>

#include "support/testing.hpp"
#include <thread>

namespace sluice {
namespace {

struct PortablePlatform : StdPlatform {
    using Fence = PortableFence;
};

template <class Platform>
class ReaderRegistryTest : public testing::Test {
protected:
    using Registry = BasicReaderRegistry<Platform>;

    /// The main thread keeps its slot until the program ends.
    static Registry& shared() {
        static auto& registry = *new Registry;
        return registry;
    }

    Registry& registry = shared();
    std::array<std::uint64_t, 40> objects{};  // addresses to read
};
using Platforms = testing::Types<StdPlatform, PortablePlatform>;
TYPED_TEST_SUITE(ReaderRegistryTest, Platforms);

TYPED_TEST(ReaderRegistryTest, APeriodDoesNotWaitForTheNextGuardOfANinthObject) {
    auto& readers = this->registry;
    const auto inEight = [&](const auto& again, std::size_t depth) -> void {
        if (depth < 8) {
            const auto guard = readers.enter(&this->objects[depth]);
            again(again, depth + 1);
            return;
        }
        const void* const ninth = &this->objects[8];
        auto period = readers.beginGrace();
        {
            const auto guard = readers.enter(ninth);
            period = readers.beginGrace();
            EXPECT_FALSE(readers.hasPassed(period, ninth));
        }
        const auto next = readers.enter(ninth);
        EXPECT_TRUE(readers.hasPassed(period, ninth));
    };
    inEight(inEight, 0);
}

TYPED_TEST(ReaderRegistryTest, GuardsNestDeeply) {
    const auto nest = [this](const auto& again, std::size_t depth) -> void {
        if (depth == this->objects.size()) {
            for (const auto& object : this->objects) {
                EXPECT_TRUE(this->registry.isInside(&object));
            }
            return;
        }
        const auto guard = this->registry.enter(&this->objects[depth]);
        again(again, depth + 1);
        EXPECT_TRUE(this->registry.isInside(&this->objects[depth]));
    };
    for (int round = 0; round < 2; ++round) {
        nest(nest, 0);
        for (const auto& object : this->objects) {
            EXPECT_FALSE(this->registry.isInside(&object));
        }
    }
}

TYPED_TEST(ReaderRegistryTest, NestedGuardsOfOneObjectCountOneByOne) {
    const auto outer = this->registry.enter(&this->objects[0]);
    { const auto inner = this->registry.enter(&this->objects[0]); }
    EXPECT_TRUE(this->registry.isInside(&this->objects[0]));
}

TYPED_TEST(ReaderRegistryTest, KnowsWhetherOtherThreadsHaveSlots) {
    EXPECT_TRUE(this->registry.isAlone());
    std::atomic<int> step{0};
    std::thread other([&] {
        const auto guard = this->registry.enter(&this->objects[0]);
        step = 1;
        test::awaitThat([&] { return step == 2; });
    });
    test::awaitThat([&] { return step == 1; });
    EXPECT_FALSE(this->registry.isAlone());
    EXPECT_FALSE(this->registry.isInside(&this->objects[0]));
    step = 2;
    other.join();
    EXPECT_TRUE(this->registry.isAlone()) << "a thread that ends gives its slot back";
}

TYPED_TEST(ReaderRegistryTest, WaitsForThreadsInThisObjectAlone) {
    const test::Watchdog watchdog([](std::FILE*) {});
    std::atomic<int> step{0};
    int trail = 0;
    test::Crew crew;
    crew.add([&] {
        const auto guard = this->registry.enter(&this->objects[1]);
        ++step;
        test::awaitThat([&] { return step == 4; });
    });
    crew.add([&] {
        const auto guard = this->registry.enter(&this->objects[0]);
        ++step;
        test::awaitThat([&] { return step == 3; });
        trail = 1;
    });
    crew.start();
    test::awaitThat([&] { return step == 2; });
    this->registry.waitForOthers(&this->objects[2]);
    step = 3;
    this->registry.waitForOthers(&this->objects[0]);
    EXPECT_EQ(trail, 1);
    auto period = this->registry.beginGrace();
    EXPECT_FALSE(this->registry.hasPassed(period, &this->objects[1])) << "the other reader";
    step = 4;
}

TYPED_TEST(ReaderRegistryTest, GracePeriodEndsWithTheGuardsThatHadBegun) {
    auto& slot = this->registry.acquire();
    {
        auto before = this->registry.beginGrace();
        const auto outer = this->registry.enter(slot, &this->objects[0]);
        EXPECT_FALSE(this->registry.hasPassed(before, &this->objects[0]));
        auto period = this->registry.beginGrace();
        EXPECT_TRUE(this->registry.hasPassed(period, &this->objects[1]));
        for (std::size_t depth = 1; depth < 12; ++depth) {
            const auto inner = this->registry.enter(slot, &this->objects[depth]);
            EXPECT_FALSE(this->registry.hasPassed(before, &this->objects[0]));
        }
    }
    auto ofFirst = this->registry.beginGrace();
    {
        const auto first = this->registry.enter(slot, &this->objects[0]);
        EXPECT_FALSE(this->registry.hasPassed(ofFirst, &this->objects[0]));
    }
    {
        const auto second = this->registry.enter(slot, &this->objects[0]);
        EXPECT_TRUE(this->registry.hasPassed(ofFirst, &this->objects[0]))
            << "the first one is over";
    }
    this->registry.release(slot);
}

TYPED_TEST(ReaderRegistryTest, WaitsForNoLaterGuard) {
    const test::Watchdog watchdog([](std::FILE*) {});
    std::atomic<bool> isOver{false};
    std::atomic<bool> hasBegun{false};
    std::thread reader([&] {
        while (!isOver) {
            // Outside for a moment only, so that a wait for an empty entry finds none.
            const auto guard = this->registry.enter(&this->objects[0]);
            hasBegun = true;
            std::this_thread::yield();
        }
    });
    test::awaitThat([&] { return hasBegun.load(); });
    for (int i = 0; i < 100; ++i) {
        this->registry.waitForOthers(&this->objects[0]);
    }
    isOver = true;
    reader.join();
}

TYPED_TEST(ReaderRegistryTest, TwoSlotsOfOneThreadAreBothItsOwn) {
    const test::Watchdog watchdog([](std::FILE*) {});
    auto& slot = this->registry.acquire();
    {
        const auto first = this->registry.enter(slot, &this->objects[0]);
        const auto second = this->registry.enter(&this->objects[1]);
        EXPECT_TRUE(this->registry.isAlone());
        EXPECT_TRUE(this->registry.isInside(&this->objects[0]));
        EXPECT_TRUE(this->registry.isInside(&this->objects[1]));
        this->registry.waitForOthers(&this->objects[0]);
    }
    this->registry.release(slot);
}

template <class Registry>
struct LateUser {
    Registry* registry = nullptr;
    const void* where = nullptr;
    std::atomic<bool>* wasInside = nullptr;
    ~LateUser() {
        if (registry != nullptr) {
            const auto outer = registry->enter(where);
            const auto inner = registry->enter(where);
            *wasInside = registry->isInside(where);
        }
    }
};

TYPED_TEST(ReaderRegistryTest, LateThreadLocalDestructorsMayEnter) {
    std::atomic<bool> wasInside{false};
    std::thread([&] {
        // Constructed before the thread's slot, hence destroyed after it.
        thread_local LateUser<BasicReaderRegistry<TypeParam>> late;
        late.registry = &this->registry;
        late.where = &this->objects[0];
        late.wasInside = &wasInside;
        const auto guard = this->registry.enter(&this->objects[1]);
    }).join();
    EXPECT_TRUE(wasInside);
    EXPECT_TRUE(this->registry.isAlone());
    auto period = this->registry.beginGrace();
    EXPECT_TRUE(this->registry.hasPassed(period, &this->objects[0]));
}

TYPED_TEST(ReaderRegistryTest, SlotsAreUsedAgain) {
    std::set<const void*> slots;
    for (int i = 0; i < 100; ++i) {
        std::thread([&] {
            const auto guard = this->registry.enter(&this->objects[0]);
            auto& second = this->registry.acquire();
            slots.insert(&second);
            this->registry.release(second);
        }).join();
    }
    EXPECT_LE(slots.size(), 2U) << "one hundred threads, one after the other, need two slots";
}

/// Counts the atomic loads of a thread.
struct CountingPlatform : StdPlatform {
    inline static thread_local std::size_t loads = 0;
    template <class T>
    struct Atomic : std::atomic<T> {
        using std::atomic<T>::atomic;
        T load(std::memory_order order) const noexcept {
            ++loads;
            return std::atomic<T>::load(order);
        }
    };
};

TEST(ReaderRegistryCostTest, RemovalsCostTheSameAfterADeepRecursionAndManyThreads) {
    using Registry = BasicReaderRegistry<CountingPlatform>;
    Registry registry;
    std::array<std::uint64_t, 100> objects{};
    std::thread([&] {
        const auto costOfARemoval = [&] {
            CountingPlatform::loads = 0;
            auto period = registry.beginGrace();
            EXPECT_TRUE(registry.hasPassed(period, &objects[0]));
            return CountingPlatform::loads;
        };
        { const auto guard = registry.enter(&objects[0]); }
        const std::size_t before = costOfARemoval();
        const auto nest = [&](const auto& again, std::size_t depth) -> void {
            if (depth != 0) {
                const auto guard = registry.enter(&objects[depth % objects.size()]);
                again(again, depth - 1);
                EXPECT_TRUE(registry.isInside(&objects[depth % objects.size()]));
            }
        };
        nest(nest, 1000);
        std::vector<Registry::Slot*> peak;
        for (int i = 0; i < 3200; ++i) {
            peak.push_back(&registry.acquire());
        }
        for (Registry::Slot* const slot : peak) {
            Registry::release(*slot);
        }
        EXPECT_LE(costOfARemoval(), before + 2 * 3200 / 32) << "one word for each group of slots";
    }).join();
}

#if !defined(NDEBUG) && !SLUICE_TEST_TSAN
TYPED_TEST(ReaderRegistryTest, TwoThreadsThatWaitForEachOtherAreTold) {
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    const auto waitForEachOther = [this] {
        std::atomic<int> inside{0};
        const auto meet = [&](std::size_t own, std::size_t other) {
            const auto guard = this->registry.enter(&this->objects[own]);
            ++inside;
            test::awaitThat([&] { return inside == 2; });
            this->registry.waitForOthers(&this->objects[other]);
        };
        std::thread one([&] { meet(0, 1); });
        meet(1, 0);
        one.join();
    };
    EXPECT_DEATH(waitForEachOther(), "wait for each other");
}

TYPED_TEST(ReaderRegistryTest, UnalignedAddressIsRefused) {
    EXPECT_DEATH((void)this->registry.enter(reinterpret_cast<const char*>(&this->objects[0]) + 1),
                 "aligned");
    EXPECT_DEATH((void)this->registry.enter(nullptr), "aligned");
}
#endif

}  // namespace
}  // namespace sluice
