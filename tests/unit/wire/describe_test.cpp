// The fields that a type has, and the hash that tells types apart.

#include <sluice/wire/describe.hpp>
#include <sluice/wire/schema_hash.hpp>

#include "support/testing.hpp"

namespace {

struct Pair {
    int left;
    std::string right;
};

struct Nested {
    Pair pair;
    std::array<int, 3> numbers;
    std::vector<int> more;
    std::optional<std::string> note;
};

struct Sixteen {
    int a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p;
};

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
    EXPECT_EQ(namesOf(Nested{}), (Names{"0", "1", "2", "3"}));
    EXPECT_EQ(namesOf(Sixteen{}), (Names{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10",
                                         "11", "12", "13", "14", "15"}));
}

struct One {
    std::int32_t a;
};
struct Same {
    std::int32_t b;
};
struct Wider {
    std::int64_t a;
};
struct More {
    std::int32_t a;
    std::int32_t b;
};
struct Tree {
    std::int32_t a;
    std::vector<Tree> children;
};
template <class T>
using ThreeDeep = std::vector<std::vector<std::vector<T>>>;
template <class T>
using Deep = ThreeDeep<ThreeDeep<ThreeDeep<T>>>;
struct Named {
    std::int32_t a;
};
constexpr auto describe(sluice::wire::Type<Named>) {
    return sluice::wire::fields(sluice::wire::field("a", &Named::a));
}

struct Outer {
    std::vector<One> parts;
};
constexpr auto describe(sluice::wire::Type<Outer>) {
    return sluice::wire::fields(sluice::wire::field("parts", &Outer::parts));
}

namespace one {
struct Branch;
struct Root {
    std::vector<Branch> branches;
};
struct Branch {
    std::vector<Root> roots;
    std::vector<Branch> branches;
};
}  // namespace one
namespace exchanged {
struct Branch;
struct Root {
    std::vector<Branch> branches;
};
struct Branch {
    std::vector<Branch> branches;
    std::vector<Root> roots;
};
}  // namespace exchanged

TEST(WireSchemaHash, TellsTypesWhoseFieldsHaveNoNames) {
    using sluice::wire::hasUnnamedFields;
    static_assert(!hasUnnamedFields<Named>());
    EXPECT_TRUE(hasUnnamedFields<One>());
    EXPECT_TRUE(hasUnnamedFields<Outer>());
}

TEST(WireSchemaHash, DependsOnNamesAndTypes) {
    using sluice::wire::schemaHash;
    static_assert(schemaHash<One>() == schemaHash<Same>());
    EXPECT_NE(schemaHash<One>(), schemaHash<Wider>());
    EXPECT_NE(schemaHash<One>(), schemaHash<More>());
    EXPECT_NE(schemaHash<One>(), schemaHash<Named>());
    EXPECT_NE(schemaHash<Tree>(), schemaHash<More>());
    EXPECT_NE(schemaHash<one::Root>(), schemaHash<exchanged::Root>());
    EXPECT_NE(schemaHash<Deep<One>>(), schemaHash<Deep<More>>());
}

}  // namespace
