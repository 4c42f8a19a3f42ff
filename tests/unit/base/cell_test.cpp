#include <sluice/base/platform.hpp>

#include "support/testing.hpp"

namespace sluice {
namespace {

struct Tick {
    int source;
    double value;
};

struct alignas(128) Wide {
    char byte;
};

static_assert(std::is_trivially_default_constructible_v<Cell<std::string>>);
static_assert(std::is_trivially_destructible_v<Cell<std::string>>);
static_assert(!std::is_copy_constructible_v<Cell<int>> && !std::is_copy_assignable_v<Cell<int>>);
static_assert(sizeof(Cell<Wide>) == sizeof(Wide) && alignof(Cell<Wide>) == alignof(Wide));
static_assert(sizeof(Cell<Tick>[8]) == 8 * sizeof(Tick), "the cells of a ring have no gaps");

static_assert(noexcept(std::declval<Cell<Tick>&>().construct(1, 2.0)));
static_assert(noexcept(std::declval<Cell<std::string>&>().construct(std::string())));
static_assert(!noexcept(std::declval<Cell<std::string>&>().construct("text")));

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

template <std::size_t Size, std::size_t Alignment>
struct Bytes {
    alignas(Alignment) std::array<unsigned char, Size> values;
};

/// Whether destroyAndOwnLines() writes into each line that the T may be in, for each address that
/// its alignment allows, and into no byte beside the T. Returns how many bytes it writes.
template <std::size_t Size, std::size_t Alignment>
std::size_t bytesToOwn() {
    struct {
        std::array<unsigned char, 64> before;
        Cell<Bytes<Size, Alignment>> cell;
        std::array<unsigned char, 64> behind;
    } place;
    place.before.fill(1);
    place.behind.fill(1);
    place.cell.construct().values.fill(1);
    const auto& values = place.cell.get().values;
    place.cell.destroyAndOwnLines();
    for (std::size_t i = 0; i < 64; ++i) {
        EXPECT_EQ(place.before[i], 1) << Size;
        EXPECT_EQ(place.behind[i], 1) << Size;
    }
    for (std::size_t begin = 0; Size <= 256 && begin < 64; begin += Alignment) {
        std::array<bool, 6> isOwn{};
        for (std::size_t i = 0; i < Size; ++i) {
            isOwn[(begin + i) / 64] = isOwn[(begin + i) / 64] || values[i] == 0;
        }
        for (std::size_t line = 0; line <= (begin + Size - 1) / 64; ++line) {
            EXPECT_TRUE(isOwn[line]) << Size << " bytes at " << begin << ", line " << line;
        }
    }
    return static_cast<std::size_t>(std::count(values.begin(), values.end(), 0));
}

TEST(CellTest, OwnsEachLineOfItsStorageByOneStore) {
    EXPECT_EQ((bytesToOwn<1, 1>()), 1U);
    EXPECT_EQ((bytesToOwn<2, 1>()), 2U);
    EXPECT_EQ((bytesToOwn<64, 1>()), 2U);
    EXPECT_EQ((bytesToOwn<65, 1>()), 2U);
    EXPECT_EQ((bytesToOwn<66, 1>()), 3U);
    EXPECT_EQ((bytesToOwn<200, 1>()), 5U);
    EXPECT_EQ((bytesToOwn<8, 8>()), 1U);
    EXPECT_EQ((bytesToOwn<64, 8>()), 2U);
    EXPECT_EQ((bytesToOwn<72, 8>()), 2U);
    EXPECT_EQ((bytesToOwn<80, 8>()), 3U);
    EXPECT_EQ((bytesToOwn<96, 32>()), 2U);
    EXPECT_EQ((bytesToOwn<64, 64>()), 1U);
    EXPECT_EQ((bytesToOwn<128, 64>()), 2U);
    EXPECT_EQ((bytesToOwn<256, 8>()), 5U);
    EXPECT_EQ((bytesToOwn<4096, 8>()), 1U);
}

TEST(CellTest, DestroysBeforeItOwnsTheLines) {
    struct Reading {
        explicit Reading(int& place) : seen(&place) {}
        ~Reading() { *seen = value; }
        int value = 7;
        int* seen;
    };
    int seen = 0;
    Cell<Reading> cell;
    cell.construct(seen);
    cell.destroyAndOwnLines();
    EXPECT_EQ(seen, 7);
}

}  // namespace
}  // namespace sluice
