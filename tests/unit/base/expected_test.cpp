#include <sluice/base/expected.hpp>

#include "support/testing.hpp"

namespace sluice {
namespace {

enum class Fault { missing, malformed };

struct Point {
    int x;
    int y;
};

using Number = Expected<int, Fault>;
using Text = Expected<std::string, std::string>;
using Done = Expected<void, Fault>;

template <class T>
inline constexpr bool trivial =
    std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>;
static_assert(trivial<Number> && trivial<Done>);
static_assert(!trivial<Text> && !trivial<Expected<int, std::string>>);
static_assert(!std::is_copy_constructible_v<Expected<std::unique_ptr<int>, Fault>>);
static_assert(std::is_nothrow_move_constructible_v<Expected<std::unique_ptr<int>, Fault>>);
static_assert(!std::is_convertible_v<Number, bool>, "its bool has to be asked for");
static_assert(!std::is_constructible_v<Number, std::string>);
static_assert(!std::is_default_constructible_v<Number> && std::is_default_constructible_v<Done>);

constexpr Number checked(int number) {
    if (number < 0) {
        return Unexpected(Fault::malformed);
    }
    return number;
}
static_assert(checked(3).value() == 3 && checked(-3).error() == Fault::malformed);
static_assert(*checked(4) == 4 && !checked(-1));

TEST(ExpectedTest, TellsValueFromErrorOfTheSameType) {
    const Text value = "text";
    const Text error = Unexpected("text");
    EXPECT_TRUE(value.hasValue());
    EXPECT_EQ(value.value(), "text");
    EXPECT_FALSE(error.hasValue());
    EXPECT_EQ(error.error(), "text");
}

TEST(ExpectedTest, BoolValueIsNotTakenForTheState) {
    const Expected<bool, Fault> no = false;
    EXPECT_TRUE(no.hasValue());
    EXPECT_FALSE(no.value());
}

TEST(ExpectedTest, IsAssignedAcrossStates) {
    Text text = "value";
    text = Unexpected(std::string("error"));
    EXPECT_EQ(text.error(), "error");
    text = "again";
    EXPECT_EQ(text.value(), "again");
    const Text copy = text;
    EXPECT_EQ(copy.value(), "again");
    EXPECT_EQ(text.value(), "again");
}

TEST(ExpectedTest, CarriesWhatOnlyMoves) {
    Expected<std::unique_ptr<int>, std::unique_ptr<int>> owner = std::make_unique<int>(4);
    auto other = std::move(owner);
    const std::unique_ptr<int> value = std::move(other).value();
    EXPECT_EQ(*value, 4);
    other = Unexpected(std::make_unique<int>(5));
    const std::unique_ptr<int> error = std::move(other).error();
    EXPECT_EQ(*error, 5);
    other = std::make_unique<int>(6);
    const std::unique_ptr<int> taken = *std::move(other);
    EXPECT_EQ(*taken, 6);
}

TEST(ExpectedTest, BuildsInPlaceAndReachesMembers) {
    Expected<std::string, Fault> text(std::in_place, 3U, 'x');
    EXPECT_EQ(text->size(), 3U);
    text->push_back('y');
    EXPECT_EQ(*text, "xxxy");
    const Expected<Point, Fault> point = Point{1, 2};
    EXPECT_EQ(point->y, 2);
}

TEST(ExpectedTest, VoidIsASuccessOrAnError) {
    const Done done;
    EXPECT_TRUE(done.hasValue());
    (void)done.value();
    Done failed = Unexpected(Fault::missing);
    EXPECT_FALSE(failed);
    EXPECT_EQ(failed.error(), Fault::missing);
    failed = Done();
    EXPECT_TRUE(failed);
}

#if defined(__cpp_exceptions)
TEST(ExpectedTest, HoldsNeitherAfterAThrowingChange) {
    struct ThrowsOnMove {
        ThrowsOnMove() = default;
        ThrowsOnMove(const ThrowsOnMove&) { throw std::runtime_error("no"); }
        ThrowsOnMove& operator=(const ThrowsOnMove&) = default;
    };
    Expected<ThrowsOnMove, std::string> good(std::in_place);
    Expected<ThrowsOnMove, std::string> changing = Unexpected("first");
    EXPECT_THROW(changing = good, std::runtime_error);
    EXPECT_FALSE(changing.hasValue());
}
#endif

TEST(ExpectedDeathTest, ReadingTheValueOfAFailureEnds) {
    const Number failed = Unexpected(Fault::missing);
#if defined(NDEBUG)
    EXPECT_DEATH(static_cast<void>(failed.value()), "");
    EXPECT_DEATH(static_cast<void>(*failed), "");
#else
    EXPECT_DEATH(static_cast<void>(failed.value()), "ask hasValue\\(\\) first");
    EXPECT_DEATH(static_cast<void>(*failed), "ask hasValue\\(\\) first");
#endif
}

TEST(ExpectedDeathTest, ReadingTheErrorOfASuccessEnds) {
    const Number good = 1;
    const Done done;
#if defined(NDEBUG)
    EXPECT_DEATH(static_cast<void>(good.error()), "");
    EXPECT_DEATH(static_cast<void>(done.error()), "");
#else
    EXPECT_DEATH(static_cast<void>(good.error()), "holds no error");
    EXPECT_DEATH(static_cast<void>(done.error()), "holds no error");
#endif
}

}  // namespace
}  // namespace sluice
