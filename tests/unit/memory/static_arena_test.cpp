#include "support/payloads.hpp"
#include "support/sanitizers.hpp"

#include <sluice/memory/static_arena.hpp>

#include "support/testing.hpp"

namespace sluice {
namespace {

using namespace test;

/// As large as a unit of the arenas below, on each platform.
struct Unit {
    explicit Unit(int v) noexcept : value(v) {}
    int value;
    std::array<char, 12> filling{};
};
template <std::size_t Units>
using Arena = StaticArena<Units * 16, 16>;

template <std::size_t Size>
struct Block {
    std::array<unsigned char, Size> bytes;
};

struct Point {
    int x;
    int y;
};

static_assert(!std::is_copy_constructible_v<Arena<4>> && !std::is_copy_assignable_v<Arena<4>>);
static_assert(!std::is_move_constructible_v<Arena<4>>, "its objects have addresses");
static_assert(noexcept(std::declval<Arena<4>&>().tryEmplace<Unit>(1)));
static_assert(noexcept(std::declval<Arena<4>&>().emplaceAt<Unit, 0>(1)));
static_assert(!noexcept(std::declval<Arena<4>&>().tryEmplace<std::vector<int>>(std::size_t{1})));
static_assert(Arena<4>::capacity() == 64);
static_assert(sizeof(ArenaPtr<Unit>) == 3 * sizeof(void*));
// The buffer, one bit per place in whole words, and the number of objects.
static_assert(sizeof(StaticArena<520, 8>) == 520 + 16 + 8);

template <class T, std::size_t Bytes, std::size_t Align>
std::size_t offsetOf(const ArenaPtr<T>& handle, const StaticArena<Bytes, Align>& arena) {
    return static_cast<std::size_t>(reinterpret_cast<const char*>(handle.get()) -
                                    static_cast<const char*>(arena.data()));
}

// ---- chosen places

TEST(StaticArenaTest, BuildsAtTheChosenPlace) {
    Arena<8> arena;
    const auto first = arena.emplaceAt<Unit, 0>(1);
    const auto last = arena.emplaceAt<Unit, 7 * 16>(2);
    const auto point = arena.emplaceAt<Point, 48>(3, 4);
    EXPECT_EQ(offsetOf(first, arena), 0U);
    EXPECT_EQ(offsetOf(last, arena), 112U);
    EXPECT_EQ(offsetOf(point, arena), 48U);
    EXPECT_EQ(first->value, 1);
    EXPECT_EQ((*last).value, 2);
    EXPECT_EQ(point->x, 3);
    EXPECT_EQ(point->y, 4);
    EXPECT_EQ(arena.objects(), 3U);
}

TEST(StaticArenaTest, TakesNoAddressWithTheOperatorOfAnObject) {
    Arena<8> arena;
    const auto object = arena.emplaceAt<Disguised, 0>(1);
    EXPECT_EQ(object->value, 1);
}

TEST(StaticArenaTest, AlignsTheBuffer) {
    StaticArena<8192, 4096> arena;
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(arena.data()) % 4096, 0U);
    const auto strict = arena.emplaceAt<OverAligned<4096>, 4096>(7);
    ASSERT_TRUE(strict);
    EXPECT_TRUE(strict->isAligned());
    StaticArena<4, 1> bytes;
    const auto odd = bytes.emplaceAt<char, 3>('x');
    EXPECT_EQ(*odd, 'x');
}

// ---- places the arena chooses

TEST(StaticArenaTest, UnitsThatWereFreedAreUsedAgain) {
    Arena<3> arena;
    auto first = arena.tryEmplace<Unit>(1);
    auto second = arena.tryEmplace<Unit>(2);
    auto third = arena.tryEmplace<Unit>(3);
    first.reset();
    third.reset();
    EXPECT_FALSE(arena.tryEmplace<Block<32>>()) << "the free units are not neighbours";
    EXPECT_EQ(offsetOf(arena.tryEmplace<Unit>(4), arena), 0U);
    second.reset();
    EXPECT_TRUE(arena.tryEmplace<Block<48>>());
}

TEST(StaticArenaTest, LeavesTheArgumentsAloneWhenFull) {
    Arena<1> arena;
    MoveOnly message(7);
    const auto first = arena.tryEmplace<Unit>(1);
    EXPECT_FALSE(arena.tryEmplace<MoveOnly>(std::move(message)));
    EXPECT_EQ(message.value(), 7);
}

// ---- lifetime

TEST(StaticArenaTest, DestroysEachObjectOnce) {
    Census census;
    Arena<8> arena;
    {
        auto a = arena.tryEmplace<Counted>(census, 1);
        auto b = arena.tryEmplace<Counted>(census, 2);
        EXPECT_EQ(census.alive(), 2U);
        a.reset();
        EXPECT_FALSE(a);
        EXPECT_EQ(a.get(), nullptr);
        EXPECT_EQ(census.alive(), 1U);
        a.reset();
        const ArenaPtr<Counted> moved = std::move(b);
        EXPECT_FALSE(b);
        EXPECT_EQ(moved->value(), 2);
        EXPECT_EQ(census.births(), 2U) << "the handle moves, not the object";
    }
    EXPECT_EQ(census.alive(), 0U);
    EXPECT_EQ(arena.objects(), 0U);
}

struct OwnsItsHandle {
    std::unique_ptr<ArenaPtr<OwnsItsHandle>> handle;
};

TEST(StaticArenaTest, AnObjectMayDestroyItsHandle) {
    Arena<4> arena;
    auto handle = std::make_unique<ArenaPtr<OwnsItsHandle>>(arena.tryEmplace<OwnsItsHandle>());
    auto& object = **handle;
    object.handle = std::move(handle);
    object.handle->reset();
    EXPECT_EQ(arena.objects(), 0U);
}

#if defined(__cpp_exceptions)
TEST(StaticArenaTest, ThrowingConstructorLeavesThePlaceFree) {
    Census census;
    StaticArena<sizeof(Fragile), alignof(Fragile)> arena;
    EXPECT_THROW((void)arena.tryEmplace<Fragile>(census, 1, Fault::inConstructor), Breakage);
    EXPECT_THROW((void)(arena.emplaceAt<Fragile, 0>(census, 1, Fault::inConstructor)), Breakage);
    EXPECT_EQ(arena.objects(), 0U);
    const auto handle = arena.emplaceAt<Fragile, 0>(census, 2);
    ASSERT_TRUE(handle);
    EXPECT_EQ(handle->value(), 2);
}
#endif

// ---- static storage

/// Has no end, so that it does not matter whether the test below runs.
union Forever {
    constexpr Forever() noexcept : arena() {}
    Forever(const Forever&) = delete;
    Forever& operator=(const Forever&) = delete;
    ~Forever() {}
    Arena<4> arena;
};
extern Forever late;
extern ArenaPtr<Unit> early;
/// Built before the arena's definition is reached: nothing would be left of it if the arena were
/// not ready from the start.
ArenaPtr<Unit> early = late.arena.tryEmplace<Unit>(9);
Forever late;

TEST(StaticArenaTest, StaticArenaIsReadyBeforeTheProgramRuns) {
    EXPECT_EQ(late.arena.objects(), 1U);
    ASSERT_TRUE(early);
    EXPECT_EQ(early->value, 9);
    early.reset();
    EXPECT_EQ(late.arena.objects(), 0U);
}

// ---- misuse

#if defined(NDEBUG)
TEST(StaticArenaTest, OccupiedPlaceYieldsAnEmptyHandle) {
    Arena<4> arena;
    const auto first = arena.emplaceAt<Block<32>, 16>();
    EXPECT_FALSE((arena.emplaceAt<Unit, 32>(1)));
    EXPECT_EQ(arena.objects(), 1U);
}
#else
TEST(StaticArenaDeathTest, CatchesMisuse) {
    Arena<4> arena;
    auto first = arena.emplaceAt<Block<32>, 16>();
    EXPECT_DEATH((void)(arena.emplaceAt<Unit, 16>(1)), "destroy it first");
    EXPECT_DEATH((void)(arena.emplaceAt<Unit, 32>(1)), "destroy it first");
    EXPECT_DEATH((void)(arena.emplaceAt<Block<32>, 0>()), "destroy it first");
    first.reset();
    EXPECT_TRUE((arena.emplaceAt<Unit, 32>(1)));
    const auto outlive = [] {
        std::array<ArenaPtr<Unit>, 2> handles;
        Arena<4> ending;
        handles = {ending.tryEmplace<Unit>(1), ending.tryEmplace<Unit>(2)};
    };
    EXPECT_DEATH(outlive(), "outlive their StaticArena: 2; destroy their pointers");
}
#endif

#if SLUICE_TEST_ASAN
TEST(StaticArenaDeathTest, DestroyedObjectsArePoisoned) {
    Arena<4> arena;
    auto handle = arena.tryEmplace<Unit>(1);
    auto* const value = const_cast<volatile int*>(&handle->value);
    handle.reset();
    EXPECT_DEATH(*value = 2, "use-after-poison");
    EXPECT_TRUE(arena.tryEmplace<Unit>(1));
}
#endif

}  // namespace
}  // namespace sluice
