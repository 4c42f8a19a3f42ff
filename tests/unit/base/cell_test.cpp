#include <array>
#include <sluice/base/cell.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#if defined(__cpp_exceptions)
#include <stdexcept>
#endif

namespace sluice {
namespace {

struct Tick {
    int source;
    double value;
};

struct alignas(128) Wide {
    char byte;
};

struct Immovable {
    explicit Immovable(int number) : number_(number) {}
    Immovable(const Immovable&) = delete;
    Immovable& operator=(const Immovable&) = delete;
    int number_;
};

struct CountsLife {
    explicit CountsLife(int& living) : living_(living) { ++living_; }
    CountsLife(const CountsLife&) = delete;
    CountsLife& operator=(const CountsLife&) = delete;
    ~CountsLife() { --living_; }
    int& living_;
};

static_assert(std::is_trivially_default_constructible_v<Cell<std::string>>);
static_assert(std::is_trivially_destructible_v<Cell<std::string>>);
static_assert(!std::is_copy_constructible_v<Cell<int>> && !std::is_copy_assignable_v<Cell<int>>);
static_assert(sizeof(Cell<Wide>) == sizeof(Wide) && alignof(Cell<Wide>) == alignof(Wide));
static_assert(sizeof(Cell<Tick>[8]) == 8 * sizeof(Tick), "the cells of a ring have no gaps");

static_assert(noexcept(std::declval<Cell<Tick>&>().construct(1, 2.0)));
static_assert(noexcept(std::declval<Cell<std::string>&>().construct(std::string())));
static_assert(!noexcept(std::declval<Cell<std::string>&>().construct("text")));

/// How a class with cells gets a constexpr constructor: its statics need no start-up code.
class Ring {
public:
    constexpr Ring() noexcept : none_(0) {}
    Cell<std::string>& operator[](std::size_t index) { return cells_[index]; }

private:
    union {
        char none_;
        Cell<std::string> cells_[1000];
    };
};
Ring readyFromTheStart;

TEST(CellTest, BuildsReadsAndDestroys) {
    int living = 0;
    Cell<CountsLife> cell;
    EXPECT_EQ(living, 0);
    CountsLife& built = cell.construct(living);
    EXPECT_EQ(living, 1);
    EXPECT_EQ(&built, &cell.get());
    EXPECT_EQ(&std::as_const(cell).get(), &built);
    cell.destroy();
    EXPECT_EQ(living, 0);
}

TEST(CellTest, NeverDestroysByItself) {
    int living = 0;
    {
        Cell<CountsLife> cell;
        cell.construct(living);
    }
    EXPECT_EQ(living, 1);
}

TEST(CellTest, LivesInsideItsOwnBytes) {
    Cell<std::string> cell;
    EXPECT_EQ(static_cast<void*>(&cell.construct("short")), static_cast<void*>(&cell));
    cell.destroy();
}

TEST(CellTest, ForwardsArgumentsWithoutCopies) {
    Cell<std::unique_ptr<int>> cell;
    auto owned = std::make_unique<int>(7);
    const int* const address = owned.get();
    cell.construct(std::move(owned));
    EXPECT_EQ(cell.get().get(), address);
    cell.destroy();

    int target = 1;
    Cell<std::reference_wrapper<int>> reference;
    reference.construct(target).get() = 2;
    EXPECT_EQ(target, 2);
}

TEST(CellTest, BuildsAggregatesAndImmovables) {
    Cell<Tick> tick;
    EXPECT_EQ(tick.construct(3, 1.5).source, 3);
    EXPECT_EQ(tick.get().value, 1.5);
    Cell<Immovable> immovable;
    EXPECT_EQ(immovable.construct(9).number_, 9);
}

TEST(CellTest, ValueInitialisesWithoutArguments) {
    Cell<int> cell;
    cell.construct(77);
    EXPECT_EQ(cell.construct(), 0);
}

TEST(CellTest, AlignsWhatIsOverAligned) {
    Cell<Wide> cells[3];
    for (Cell<Wide>& cell : cells) {
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(&cell.construct()) % 128, 0U);
    }
}

TEST(CellTest, ReusedBytesShowTheNewConstMember) {
    struct Frozen {
        const int number;
    };
    Cell<Frozen> cell;
    for (int number = 0; number < 3; ++number) {
        cell.construct(number);
        EXPECT_EQ(cell.get().number, number);
        cell.destroy();
    }
}

TEST(CellTest, StaticRingNeedsNoStartUp) {
    readyFromTheStart[999].construct(3U, 'x');
    EXPECT_EQ(readyFromTheStart[999].get(), "xxx");
    readyFromTheStart[999].destroy();
}

/// Whether ownLines() of an empty Cell<T> writes its first and its last byte, and none beside it.
template <std::size_t Size>
void expectOwnBytesOnly() {
    using Bytes = std::array<unsigned char, Size>;
    struct {
        std::array<unsigned char, 64> before;
        Cell<Bytes> cell;
        std::array<unsigned char, 64> behind;
    } place;
    place.before.fill(1);
    place.behind.fill(1);
    place.cell.construct().fill(1);
    const Bytes& bytes = place.cell.get();
    place.cell.destroy();
    place.cell.ownLines();
    EXPECT_EQ(bytes.front(), 0);
    EXPECT_EQ(bytes.back(), Size <= 256 ? 0 : 1) << Size;
    for (std::size_t i = 0; i < 64; ++i) {
        EXPECT_EQ(place.before[i], 1) << Size;
        EXPECT_EQ(place.behind[i], 1) << Size;
    }
}

TEST(CellTest, OwnsTheLinesOfItsStorageAlone) {
    expectOwnBytesOnly<1>();
    expectOwnBytesOnly<2>();
    expectOwnBytesOnly<64>();
    expectOwnBytesOnly<65>();
    expectOwnBytesOnly<200>();
    expectOwnBytesOnly<256>();
    expectOwnBytesOnly<4096>();
}

#if defined(__cpp_exceptions)
TEST(CellTest, PassesOnWhatAConstructorThrows) {
    struct Throwing {
        explicit Throwing(int) { throw std::runtime_error("no"); }
    };
    Cell<Throwing> cell;
    EXPECT_THROW(cell.construct(1), std::runtime_error);
}
#endif

}  // namespace
}  // namespace sluice
