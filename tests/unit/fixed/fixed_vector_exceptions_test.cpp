#include "unit/fixed/fixed_vector_doubles.hpp"

#include <gtest/gtest.h>

#if defined(__cpp_exceptions)

#include <cstddef>
#include <stdexcept>
#include <utility>

// Copies, moves and constructors that throw.

namespace sluice {
namespace {

using namespace test;

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
}  // namespace
}  // namespace sluice

#endif
