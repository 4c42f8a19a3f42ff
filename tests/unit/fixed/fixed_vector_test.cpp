#include "support/payloads.hpp"

#include <sluice/fixed/fixed_vector.hpp>

#include "support/testing.hpp"

namespace sluice {
namespace {

using test::Disguised;

/// Counts objects and operations, and throws in the copy or move that `fuse` counts down to.
struct Tracked {
    static inline int living = 0;
    static inline int fuse = 0;
    static void burn() {
#if defined(__cpp_exceptions)
        if (fuse != 0 && --fuse == 0) {
            throw std::runtime_error("fuse");
        }
#endif
    }

    Tracked(int number) : number_(number) { ++living; }
    Tracked(const Tracked& other) : number_(other.number_) {
        burn();
        ++living;
    }
    Tracked& operator=(const Tracked&) = default;
    ~Tracked() { --living; }
    int number_;
};

/// Its copy may throw, its move may not, and it must not be moved onto itself.
struct SafeMove : Tracked {
    using Tracked::Tracked;
    SafeMove(const SafeMove&) = default;
    SafeMove(SafeMove&& other) noexcept : Tracked(std::exchange(other.number_, -1)) {}
    SafeMove& operator=(const SafeMove&) = default;
    SafeMove& operator=(SafeMove&& other) noexcept {
        EXPECT_NE(this, &other);
        number_ = std::exchange(other.number_, -1);
        return *this;
    }
};

template <class T>
using Four = FixedVector<T, 4>;

template <class T, std::size_t N>
std::vector<int> numbersOf(const FixedVector<T, N>& items) {
    std::vector<int> numbers;
    for (const T& item : items) {
        numbers.push_back(item.number_);
    }
    return numbers;
}
using Numbers = std::vector<int>;

class FixedVectorTest : public testing::Test {
protected:
    void SetUp() override {
        Tracked::living = 0;
        Tracked::fuse = 0;
    }
    void TearDown() override { EXPECT_EQ(Tracked::living, 0); }
};

struct Point {
    int x;
    int y;
};

struct alignas(64) Wide {
    int number;
};

struct Immovable {
    explicit Immovable(int number) : number_(number) {}
    Immovable(const Immovable&) = delete;
    Immovable& operator=(const Immovable&) = delete;
    int number_;
};

using Owner = std::unique_ptr<int>;

template <class T>
inline constexpr bool agreesOnTrivialCopies =
    std::is_trivially_copyable_v<T> == std::is_trivially_copyable_v<Four<T>>;
static_assert(agreesOnTrivialCopies<int> && agreesOnTrivialCopies<Point>);
static_assert(agreesOnTrivialCopies<std::string> && agreesOnTrivialCopies<Owner>);
static_assert(agreesOnTrivialCopies<Wide> && agreesOnTrivialCopies<Four<int>>);
static_assert(std::is_trivially_copyable_v<Four<Four<int>>>);

static_assert(std::is_copy_constructible_v<Four<std::string>>);
static_assert(!std::is_copy_constructible_v<Four<Owner>> &&
              !std::is_copy_assignable_v<Four<Owner>>);
static_assert(std::is_nothrow_move_constructible_v<Four<Owner>>);
static_assert(std::is_nothrow_move_assignable_v<Four<Owner>>);
static_assert(!std::is_nothrow_move_constructible_v<Four<Tracked>>);
static_assert(!std::is_move_constructible_v<Four<Immovable>>);
static_assert(!std::is_move_assignable_v<Four<Immovable>>);
static_assert(alignof(Four<Wide>) == 64 && sizeof(FixedVector<char, 7>) == 8);
static_assert(Four<int>::capacity() == 4);

Four<std::string> readyFromTheStart;

TEST_F(FixedVectorTest, EmplaceBuildsAggregatesAndImmovables) {
    Four<Point> points;
    EXPECT_TRUE(points.emplaceBack(1, 2));
    EXPECT_EQ(points[0].y, 2);
    Four<Immovable> immovables;
    EXPECT_TRUE(immovables.emplaceBack(3));
    EXPECT_EQ(immovables[0].number_, 3);
    immovables.popBack();
    EXPECT_TRUE(immovables.empty());
}

TEST_F(FixedVectorTest, PushOfItsOwnElement) {
    Four<std::string> items{"a text that is too long for the string itself", "b"};
    EXPECT_TRUE(items.pushBack(items[0]));
    EXPECT_EQ(items[0], items[2]);
    EXPECT_TRUE(items.pushBack(std::move(items[0])));
    EXPECT_EQ(items[3], items[2]);
}

TEST_F(FixedVectorTest, EraseUnorderedNeedsNoAddressOperator) {
    Four<Disguised> items{Disguised(1), Disguised(2)};
    items.eraseUnordered(0);
    ASSERT_EQ(items.size(), 1U);
    EXPECT_EQ(items[0].value, 2);
}

TEST_F(FixedVectorTest, CopyAssignmentOfWhatCannotThrow) {
    struct Quiet : Tracked {
        Quiet(int number) : Tracked(number) {}
        Quiet(const Quiet& other) noexcept : Tracked(other.number_) {}
        Quiet& operator=(const Quiet&) = default;
    };
    const Four<Quiet> source{1, 2};
    Four<Quiet> target{7, 8, 9};
    target = source;
    EXPECT_EQ(numbersOf(target), (Numbers{1, 2}));
    EXPECT_EQ(Tracked::living, 4);
    const Four<Quiet>& same = target;
    target = same;
    EXPECT_EQ(numbersOf(target), (Numbers{1, 2}));
}

TEST_F(FixedVectorTest, MoveEmptiesTheSource) {
    Four<SafeMove> items{1, 2};
    Four<SafeMove> other = std::move(items);
    EXPECT_TRUE(items.empty());
    EXPECT_EQ(numbersOf(other), (Numbers{1, 2}));
    EXPECT_EQ(Tracked::living, 2);
    Four<SafeMove> third{7, 8, 9};
    third = std::move(other);
    EXPECT_TRUE(other.empty());
    EXPECT_EQ(numbersOf(third), (Numbers{1, 2}));
    EXPECT_EQ(Tracked::living, 2);
    Four<SafeMove>& same = third;
    third = std::move(same);
    EXPECT_EQ(numbersOf(third), (Numbers{1, 2}));
    std::swap(third, other);
    EXPECT_TRUE(third.empty());
    EXPECT_EQ(numbersOf(other), (Numbers{1, 2}));
}

TEST_F(FixedVectorTest, CountsBeyondEachSizeType) {
    FixedVector<char, 256> numbers;
    EXPECT_TRUE(numbers.resize(256));
    EXPECT_EQ(numbers.size(), 256U);
    FixedVector<char, 255> bytes;
    EXPECT_TRUE(bytes.resize(255));
    EXPECT_FALSE(bytes.pushBack('x'));
    const auto large = std::make_unique<FixedVector<char, 66000>>();
    EXPECT_TRUE(large->resize(66000));
    EXPECT_EQ(large->size(), 66000U);
}

TEST(FixedVectorDeathTest, AtIsCheckedInEveryBuild) {
    Four<int> numbers{1};
    EXPECT_EQ(numbers.at(0), 1);
    EXPECT_DEATH(static_cast<void>(numbers.at(1)), "compare it with size\\(\\) first");
}

#if !defined(NDEBUG)
TEST(FixedVectorDeathTest, MisuseAsserts) {
    Four<int> numbers{1};
    EXPECT_DEATH(static_cast<void>(numbers[1]), "compare it with size\\(\\) first");
    EXPECT_DEATH(numbers.eraseOrdered(1), "compare it with size\\(\\) first");
    EXPECT_DEATH(numbers.eraseUnordered(-1), "compare it with size\\(\\) first");
    EXPECT_DEATH(numbers.eraseOrdered(numbers.end()), "end\\(\\) cannot be erased");
    EXPECT_DEATH(numbers.eraseUnordered(numbers.end()), "end\\(\\) cannot be erased");
    EXPECT_DEATH(numbers.eraseOrdered(numbers.end(), numbers.begin()), "the earlier one first");
    numbers.clear();
    EXPECT_DEATH(numbers.popBack(), "ask empty\\(\\) first");
    EXPECT_DEATH(static_cast<void>(numbers.front()), "compare it with size\\(\\) first");
    EXPECT_DEATH(static_cast<void>(numbers.back()), "compare it with size\\(\\) first");
}
#endif

TEST_F(FixedVectorTest, ComparesElementByElement) {
    EXPECT_TRUE((Four<int>{1, 2}) == (FixedVector<int, 9>{1, 2}));
    EXPECT_TRUE((Four<int>{1, 2}) != (Four<int>{1}) && (Four<int>{1, 2}) != (Four<int>{1, 3}));
    EXPECT_FALSE((Four<int>{1, 2}) == (Four<int>{1, 2, 0}));
}

TEST_F(FixedVectorTest, InsertKeepsTheOrder) {
    FixedVector<int, 4> numbers{1, 3};
    EXPECT_TRUE(numbers.insert(numbers.begin() + 1, 2));
    EXPECT_TRUE(numbers.insert(numbers.begin(), numbers[2])) << "a copy of an element";
    EXPECT_EQ(numbers, (FixedVector<int, 4>{3, 1, 2, 3}));
    EXPECT_FALSE(numbers.insert(numbers.end(), 5));
    EXPECT_EQ(numbers, (FixedVector<int, 4>{3, 1, 2, 3}));
}

TEST_F(FixedVectorTest, InsertOfAMoveOnlyElementThatIsRefusedLeavesIt) {
    FixedVector<std::unique_ptr<int>, 1> owners;
    auto owner = std::make_unique<int>(1);
    EXPECT_TRUE(owners.insert(owners.end(), std::move(owner)));
    auto other = std::make_unique<int>(2);
    EXPECT_FALSE(owners.insert(owners.begin(), std::move(other)));
    EXPECT_NE(other, nullptr);
}

TEST_F(FixedVectorTest, AssignReplacesAllOrChangesNothing) {
    Four<int> numbers{1, 2};
    const int more[] = {3, 4, 5, 6, 7};
    EXPECT_TRUE(numbers.assign(more, more + 3));
    EXPECT_FALSE(numbers.assign(more, more + 5));
    EXPECT_EQ(numbers, (Four<int>{3, 4, 5}));
}

#if defined(__cpp_exceptions)
// ---- Copies, moves and constructors that throw

TEST_F(FixedVectorTest, TooManyItemsAreASetUpError) {
    try {
        const FixedVector<int, 2> numbers{1, 2, 3};
        FAIL() << "took " << numbers.size();
    } catch (const std::invalid_argument& error) {
        EXPECT_STREQ(error.what(), "FixedVector: number of items: 3, limit 2");
    }
}

TEST_F(FixedVectorTest, ThrowingPushChangesNothing) {
    Four<Tracked> items{1, 2};
    const Tracked item(3);
    Tracked::fuse = 1;
    EXPECT_THROW(static_cast<void>(items.pushBack(item)), std::runtime_error);
    EXPECT_EQ(numbersOf(items), (Numbers{1, 2}));
    EXPECT_TRUE(items.pushBack(item));
}

TEST_F(FixedVectorTest, ThrowingCopyLeavesNothingBehind) {
    const Four<Tracked> items{1, 2, 3};
    for (int fuse = 1; fuse <= 3; ++fuse) {
        Tracked::fuse = fuse;
        EXPECT_THROW(Four<Tracked>{items}, std::runtime_error);
        EXPECT_EQ(Tracked::living, 3);
    }
    Tracked::fuse = 2;
    EXPECT_THROW((Four<Tracked>{1, 2}), std::runtime_error);
    EXPECT_EQ(Tracked::living, 3);
}

TEST_F(FixedVectorTest, ThrowingCopyAssignmentChangesNothingWhenMovesAreSafe) {
    const Four<SafeMove> items{1, 2, 3};
    Four<SafeMove> target{7, 8};
    for (int fuse = 1; fuse <= 3; ++fuse) {
        Tracked::fuse = fuse;
        EXPECT_THROW(target = items, std::runtime_error);
        EXPECT_EQ(numbersOf(target), (Numbers{7, 8}));
        EXPECT_EQ(Tracked::living, 5);
    }
    target = items;
    EXPECT_EQ(numbersOf(target), (Numbers{1, 2, 3}));
}

TEST_F(FixedVectorTest, ThrowingMoveLeavesValidVectors) {
    for (int fuse = 1; fuse <= 3; ++fuse) {
        Four<Tracked> items{1, 2, 3};
        Four<Tracked> target{7};
        Tracked::fuse = fuse;
        EXPECT_THROW(target = std::move(items), std::runtime_error);
        EXPECT_EQ(items.size(), 3U);
        EXPECT_EQ(target.size(), static_cast<std::size_t>(fuse - 1));
        EXPECT_EQ(Tracked::living, 3 + fuse - 1);
    }
}
#endif

}  // namespace
}  // namespace sluice
