#include <sluice/eventpp/any_value_storage.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace sluice {
namespace {

template <class T>
struct ConstantDigester {
    std::size_t operator()(const T&) const { return 8; }
};

using Colliding = AnyId<ConstantDigester, AnyValueStorage>;

struct Unordered {
    int value = 0;
    friend bool operator==(Unordered a, Unordered b) { return a.value == b.value; }
};

TEST(AnyValueStorageTest, CollidingValuesStayDifferentEvents) {
    EXPECT_EQ(Colliding(3), Colliding(3));
    EXPECT_NE(Colliding(3), Colliding(4));
    EXPECT_NE(Colliding(std::string("a")), Colliding(std::string("b")));
    std::unordered_map<Colliding, int> map;
    map[3] = 1;
    map[4] = 2;
    map[std::string("a")] = 3;
    EXPECT_EQ(map.size(), 3U);
    EXPECT_EQ(map[4], 2);
}

TEST(AnyValueStorageTest, ValuesOfDifferentTypesAreDifferentEvents) {
    EXPECT_NE(AnyValueId(3), AnyValueId(3L));
    EXPECT_EQ(AnyValueId(3L), AnyValueId(3L));
    EXPECT_NE(AnyValueId(), AnyValueId(0));
    EXPECT_EQ(AnyValueId(), AnyValueId());
}

TEST(AnyValueStorageTest, OrdersValuesAndTypes) {
    EXPECT_TRUE(Colliding(3) < Colliding(4));
    EXPECT_FALSE(Colliding(4) < Colliding(3));
    EXPECT_FALSE(Colliding(3) < Colliding(3));
    EXPECT_NE(Colliding(3) < Colliding(3L), Colliding(3L) < Colliding(3));
    EXPECT_TRUE(Colliding() < Colliding(3) || Colliding(8) == Colliding());
    EXPECT_FALSE(AnyValueStorage() < AnyValueStorage());
    std::map<Colliding, int> map;
    for (int round = 0; round < 2; ++round) {
        map[3] += 1;
        map[std::string("a")] += 10;
        map[std::vector<int>{1, 2}] += 100;
        map[4] += 1000;
    }
    EXPECT_EQ(map.size(), 4U);
    EXPECT_EQ(map[std::string("a")], 20);
}

TEST(AnyValueStorageTest, GivesTheValueBackByItsExactType) {
    const AnyValueId id(std::string("text"));
    ASSERT_NE(id.getValue().get<std::string>(), nullptr);
    EXPECT_EQ(*id.getValue().get<std::string>(), "text");
    EXPECT_EQ(id.getValue().get<int>(), nullptr);
    EXPECT_EQ(AnyValueStorage().get<int>(), nullptr);
}

TEST(AnyValueStorageTest, CopiesShareTheValue) {
    const AnyValueStorage first = std::string("text");
    AnyValueStorage copy;
    copy = first;
    EXPECT_EQ(first.get<std::string>(), copy.get<std::string>());
    EXPECT_EQ(first, copy);
    EXPECT_FALSE(first != copy);
    EXPECT_NE(first, AnyValueStorage());
}

TEST(AnyValueStorageTest, TypesWithoutOrderServeInHashMaps) {
    EXPECT_EQ(Colliding(Unordered{1}), Colliding(Unordered{1}));
    EXPECT_NE(Colliding(Unordered{1}), Colliding(Unordered{2}));
}

#if !defined(NDEBUG)
TEST(AnyValueStorageDeathTest, RefusesToOrderATypeWithoutOrder) {
    const AnyValueStorage one = Unordered{1};
    const AnyValueStorage two = Unordered{2};
    EXPECT_DEATH((void)(one < two), "has no operator <");
}
#endif

}  // namespace
}  // namespace sluice
