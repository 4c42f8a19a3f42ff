#include <sluice/wire/schema_hash.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace {

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
using Nested = std::vector<std::vector<std::vector<T>>>;
template <class T>
using Deep = Nested<Nested<Nested<T>>>;
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
    EXPECT_NE(schemaHash<Deep<One>>(), schemaHash<Deep<More>>());
}

}  // namespace
