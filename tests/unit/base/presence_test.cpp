#include "support/crew.hpp"
#include "support/sanitizers.hpp"
#include "support/watchdog.hpp"

#include <sluice/base/presence.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <thread>
#include <vector>

namespace sluice {
namespace {

struct PortablePlatform : StdPlatform {
    using Fence = PortableFence;
};

template <class Platform>
class PresenceTest : public testing::Test {
protected:
    using Presence = BasicPresence<Platform>;

    typename Presence::Owner owner = Presence::make();
    Presence& presence = *owner;
    std::array<std::uint64_t, 40> places{};  // addresses to be inside of
};
using Platforms = testing::Types<StdPlatform, PortablePlatform>;
TYPED_TEST_SUITE(PresenceTest, Platforms);

TYPED_TEST(PresenceTest, TellsWhereThisThreadIs) {
    EXPECT_FALSE(this->presence.isInside(&this->places[0]));
    {
        const auto section = this->presence.enter(&this->places[0]);
        EXPECT_TRUE(this->presence.isInside(&this->places[0]));
        EXPECT_FALSE(this->presence.isInside(&this->places[1]));
    }
    EXPECT_FALSE(this->presence.isInside(&this->places[0]));
}

TYPED_TEST(PresenceTest, SectionsNestDeeply) {
    const auto nest = [this](const auto& again, std::size_t depth) -> void {
        if (depth == this->places.size()) {
            for (const auto& place : this->places) {
                EXPECT_TRUE(this->presence.isInside(&place));
            }
            return;
        }
        const auto section = this->presence.enter(&this->places[depth]);
        again(again, depth + 1);
        EXPECT_TRUE(this->presence.isInside(&this->places[depth]));
    };
    for (int round = 0; round < 2; ++round) {
        nest(nest, 0);
        for (const auto& place : this->places) {
            EXPECT_FALSE(this->presence.isInside(&place));
        }
    }
}

TYPED_TEST(PresenceTest, NestedSectionsOfOneObjectCountOneByOne) {
    const auto outer = this->presence.enter(&this->places[0]);
    { const auto inner = this->presence.enter(&this->places[0]); }
    EXPECT_TRUE(this->presence.isInside(&this->places[0]));
}

TYPED_TEST(PresenceTest, TellsWhetherOtherThreadsHavePlaces) {
    EXPECT_TRUE(this->presence.isAlone());
    std::atomic<int> step{0};
    std::thread other([&] {
        const auto section = this->presence.enter(&this->places[0]);
        step = 1;
        test::awaitThat([&] { return step == 2; });
    });
    test::awaitThat([&] { return step == 1; });
    EXPECT_FALSE(this->presence.isAlone());
    EXPECT_FALSE(this->presence.isInside(&this->places[0]));
    step = 2;
    other.join();
    EXPECT_TRUE(this->presence.isAlone()) << "a thread that ends gives its place back";
}

TYPED_TEST(PresenceTest, WaitsForThreadsInThisObjectAlone) {
    const test::Watchdog watchdog([](std::FILE*) {});
    std::atomic<int> step{0};
    int trail = 0;
    test::Crew crew;
    crew.add([&] {
        const auto section = this->presence.enter(&this->places[1]);
        ++step;
        test::awaitThat([&] { return step == 4; });
    });
    crew.add([&] {
        const auto section = this->presence.enter(&this->places[0]);
        ++step;
        test::awaitThat([&] { return step == 3; });
        trail = 1;
    });
    crew.start();
    test::awaitThat([&] { return step == 2; });
    this->presence.waitForOthers(&this->places[2]);
    step = 3;
    this->presence.waitForOthers(&this->places[0]);
    EXPECT_EQ(trail, 1);
    auto period = this->presence.beginGrace();
    EXPECT_FALSE(this->presence.hasPassed(period, &this->places[1])) << "the other reader";
    step = 4;
}

TYPED_TEST(PresenceTest, GracePeriodEndsWithTheSectionsThatHadBegun) {
    auto& slot = this->presence.acquire();
    {
        auto before = this->presence.beginGrace();
        const auto outer = this->presence.enter(slot, &this->places[0]);
        EXPECT_FALSE(this->presence.hasPassed(before, &this->places[0]));
        auto period = this->presence.beginGrace();
        EXPECT_TRUE(this->presence.hasPassed(period, &this->places[1]));
        for (std::size_t depth = 1; depth < 12; ++depth) {
            const auto inner = this->presence.enter(slot, &this->places[depth]);
            EXPECT_FALSE(this->presence.hasPassed(before, &this->places[0]));
        }
    }
    auto ofFirst = this->presence.beginGrace();
    {
        const auto first = this->presence.enter(slot, &this->places[0]);
        EXPECT_FALSE(this->presence.hasPassed(ofFirst, &this->places[0]));
    }
    {
        const auto second = this->presence.enter(slot, &this->places[0]);
        EXPECT_TRUE(this->presence.hasPassed(ofFirst, &this->places[0])) << "the first one is over";
    }
    this->presence.release(slot);
}

TYPED_TEST(PresenceTest, WaitsForNoSectionOfItsOwn) {
    const test::Watchdog watchdog([](std::FILE*) {});
    std::thread([&] { const auto section = this->presence.enter(&this->places[0]); }).join();
    const auto section = this->presence.enter(&this->places[0]);
    this->presence.waitForOthers(&this->places[0]);
    EXPECT_TRUE(this->presence.isInside(&this->places[0]));
}

TYPED_TEST(PresenceTest, WaitsForNoLaterSection) {
    const test::Watchdog watchdog([](std::FILE*) {});
    std::atomic<bool> isOver{false};
    std::atomic<bool> hasBegun{false};
    std::thread reader([&] {
        while (!isOver) {
            // Outside for a moment only, so that a wait for an empty entry finds none.
            const auto section = this->presence.enter(&this->places[0]);
            hasBegun = true;
            std::this_thread::yield();
        }
    });
    test::awaitThat([&] { return hasBegun.load(); });
    for (int i = 0; i < 100; ++i) {
        this->presence.waitForOthers(&this->places[0]);
    }
    isOver = true;
    reader.join();
}

TYPED_TEST(PresenceTest, TwoPlacesOfOneThreadAreBothItsOwn) {
    const test::Watchdog watchdog([](std::FILE*) {});
    auto& slot = this->presence.acquire();
    {
        const auto first = this->presence.enter(slot, &this->places[0]);
        const auto second = this->presence.enter(&this->places[1]);
        EXPECT_TRUE(this->presence.isAlone());
        EXPECT_TRUE(this->presence.isInside(&this->places[0]));
        EXPECT_TRUE(this->presence.isInside(&this->places[1]));
        this->presence.waitForOthers(&this->places[0]);
    }
    this->presence.release(slot);
}

TYPED_TEST(PresenceTest, ThreadsOutliveTheOwner) {
    std::atomic<int> step{0};
    std::thread other([&] {
        { const auto section = this->presence.enter(&this->places[0]); }
        step = 1;
        test::awaitThat([&] { return step == 2; });
    });
    test::awaitThat([&] { return step == 1; });
    this->owner.reset();
    step = 2;
    other.join();
}

template <class Presence>
struct LateUser {
    Presence* presence = nullptr;
    const void* where = nullptr;
    std::atomic<bool>* wasInside = nullptr;
    ~LateUser() {
        if (presence != nullptr) {
            const auto outer = presence->enter(where);
            const auto inner = presence->enter(where);
            *wasInside = presence->isInside(where);
        }
    }
};

TYPED_TEST(PresenceTest, LateThreadLocalDestructorsMayEnter) {
    std::atomic<bool> wasInside{false};
    std::thread([&] {
        // Constructed before the thread's place, hence destroyed after it.
        thread_local LateUser<BasicPresence<TypeParam>> late;
        late.presence = &this->presence;
        late.where = &this->places[0];
        late.wasInside = &wasInside;
        const auto section = this->presence.enter(&this->places[1]);
    }).join();
    EXPECT_TRUE(wasInside);
    EXPECT_TRUE(this->presence.isAlone());
    auto period = this->presence.beginGrace();
    EXPECT_TRUE(this->presence.hasPassed(period, &this->places[0]));
}

TYPED_TEST(PresenceTest, PlacesAreUsedAgain) {
    for (int i = 0; i < 100; ++i) {
        std::thread([&] { const auto section = this->presence.enter(&this->places[0]); }).join();
    }
    auto& one = this->presence.acquire();
    EXPECT_EQ(one.next, nullptr) << "one hundred threads, one after the other, need one place";
    this->presence.release(one);
}

#if !defined(NDEBUG) && !SLUICE_TEST_TSAN
TYPED_TEST(PresenceTest, TwoThreadsThatWaitForEachOtherAreTold) {
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    const auto waitForEachOther = [this] {
        std::atomic<int> inside{0};
        const auto meet = [&](std::size_t own, std::size_t other) {
            const auto section = this->presence.enter(&this->places[own]);
            ++inside;
            test::awaitThat([&] { return inside == 2; });
            this->presence.waitForOthers(&this->places[other]);
        };
        std::thread one([&] { meet(0, 1); });
        meet(1, 0);
        one.join();
    };
    EXPECT_DEATH(waitForEachOther(), "wait for each other");
}

TYPED_TEST(PresenceTest, UnalignedAddressIsRefused) {
    EXPECT_DEATH((void)this->presence.enter(reinterpret_cast<const char*>(&this->places[0]) + 1),
                 "aligned");
    EXPECT_DEATH((void)this->presence.enter(nullptr), "aligned");
}
#endif

}  // namespace
}  // namespace sluice
