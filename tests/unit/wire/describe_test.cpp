#include <sluice/wire/describe.hpp>

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

namespace {

struct Pair {
    int left;
    std::string right;
};

struct Nested {
    Pair pair;
    std::array<int, 3> numbers;
    std::vector<int> more;
};

struct Sixteen {
    int a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p;
};

struct Named {
    int shown = 1;
    int hidden = 2;
};

constexpr auto describe(sluice::wire::Type<Named>) {
    return sluice::wire::fields(sluice::wire::field("shown", &Named::shown));
}

template <class T>
std::vector<std::string> namesOf(T object) {
    std::vector<std::string> names;
    sluice::wire::detail::forEachField(
        object, [&](std::string_view name, auto&) { names.emplace_back(name); });
    return names;
}

using Names = std::vector<std::string>;

TEST(WireDescribe, NumbersTheMembersOfAnAggregate) {
    EXPECT_EQ(namesOf(Pair{}), (Names{"0", "1"}));
    EXPECT_EQ(namesOf(Nested{}), (Names{"0", "1", "2"}));
    EXPECT_EQ(namesOf(Sixteen{}), (Names{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10",
                                         "11", "12", "13", "14", "15"}));
}

TEST(WireDescribe, TakesTheFieldsThatTheTypeDescribes) {
    EXPECT_EQ(namesOf(Named{}), Names{"shown"});
}

}  // namespace
