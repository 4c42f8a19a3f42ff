#include <sluice/event/event_queue.hpp>
#include <sluice/eventpp/any_id.hpp>

#include <gtest/gtest.h>

#include <any>
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace sluice {
namespace {

/// Digests of a type that is no number.
template <class T>
struct TextDigester {
    std::string operator()(const T& value) const { return std::to_string(value); }
};

/// All values collide.
template <class T>
struct ConstantDigester {
    int operator()(const T&) const { return 8; }
};

/// A storage that compares, and orders backwards to be told from the digest.
struct LengthStorage {
    LengthStorage() = default;
    LengthStorage(const std::string& text) : length(text.size()) {}

    friend bool operator==(const LengthStorage& a, const LengthStorage& b) {
        return a.length == b.length;
    }
    friend bool operator<(const LengthStorage& a, const LengthStorage& b) {
        return a.length > b.length;
    }

    std::size_t length = 0;
};

TEST(AnyIdTest, KeepsTheDigestOfTheValue) {
    EXPECT_EQ(AnyHashableId(38).getDigest(), std::hash<int>()(38));
    EXPECT_EQ(AnyHashableId(std::string("open")).getDigest(), std::hash<std::string>()("open"));
    EXPECT_EQ((AnyId<TextDigester>(5).getDigest()), "5");
    EXPECT_EQ(AnyHashableId().getDigest(), 0U);
}

TEST(AnyIdTest, KeepsTheValueInItsStorage) {
    const AnyId<std::hash, LengthStorage> id(std::string("four"));
    EXPECT_EQ(id.getValue().length, 4U);
    const AnyId<std::hash, std::any> any(7);
    EXPECT_TRUE(any.getValue().has_value());
    EXPECT_FALSE((AnyId<std::hash, std::any>().getValue().has_value()));
}

TEST(AnyIdTest, EqualDigestsAreOneEventWithTheDefaultStorage) {
    EXPECT_EQ(AnyHashableId(3), AnyHashableId(3));
    EXPECT_EQ(AnyHashableId(3), AnyHashableId(3L)) << "one digest, whatever the type";
    EXPECT_NE(AnyHashableId(3), AnyHashableId(4));
    using Colliding = AnyId<ConstantDigester>;
    EXPECT_EQ(Colliding(3), Colliding(4));
    EXPECT_FALSE(Colliding(3) < Colliding(4));
    EXPECT_FALSE(Colliding(4) < Colliding(3));
}

TEST(AnyIdTest, AStorageThatComparesDecidesBetweenEqualDigests) {
    using Id = AnyId<ConstantDigester, LengthStorage>;
    const Id one(std::string("a"));
    const Id three(std::string("aaa"));
    EXPECT_EQ(one, Id(std::string("b")));
    EXPECT_NE(one, three);
    EXPECT_TRUE(three < one);
    EXPECT_FALSE(one < three);
}

TEST(AnyIdTest, TheDigestDecidesBeforeTheStorage) {
    using Id = AnyId<TextDigester, std::any>;
    EXPECT_TRUE(Id(1) < Id(2));
    EXPECT_FALSE(Id(2) < Id(1));
    EXPECT_NE(Id(1), Id(2));
    using Measured = AnyId<std::hash, LengthStorage>;
    const Measured shorter(std::string("a"));
    const Measured longer(std::string("aaa"));
    EXPECT_EQ(shorter < longer, shorter.getDigest() < longer.getDigest());
    EXPECT_EQ(longer < shorter, longer.getDigest() < shorter.getDigest());
    EXPECT_EQ(Id(1), Id(1)) << "std::any has no ==: it counts as equal";
}

TEST(AnyIdTest, MixesTypesAsKeysOfAHashMap) {
    std::unordered_map<AnyHashableId, int> map;
    map[3] = 1;
    map[std::string("hello")] = 2;
    map[std::vector<bool>{true, false}] = 3;
    EXPECT_EQ(map.size(), 3U);
    EXPECT_EQ(map[3], 1);
    EXPECT_EQ(map[std::string("hello")], 2);
    EXPECT_EQ((map[std::vector<bool>{true, false}]), 3);
    EXPECT_EQ(map.count(std::string("bye")), 0U);
}

TEST(AnyIdTest, MixesTypesAsKeysOfATree) {
    std::map<AnyId<std::hash, LengthStorage>, int> lengths;
    lengths[std::string("a")] = 1;
    lengths[std::string("bb")] = 2;
    std::map<AnyHashableId, int> map;
    map[3] = 1;
    map[std::string("hello")] = 2;
    map[std::vector<bool>{true, false}] = 3;
    EXPECT_EQ(lengths.size(), 2U);
    EXPECT_EQ(map.size(), 3U);
    EXPECT_EQ(map[std::string("hello")], 2);
}

TEST(AnyIdTest, HashesToItsDigest) {
    EXPECT_EQ(std::hash<AnyHashableId>()(AnyHashableId(38)), std::hash<int>()(38));
    using Text = AnyId<TextDigester>;
    EXPECT_EQ(std::hash<Text>()(Text(5)), std::hash<std::string>()("5"));
}

TEST(AnyIdTest, MixesTypesAsEventsOfOneQueue) {
    EventQueue<AnyHashableId, void(int)> queue;
    std::vector<int> seen;
    queue.appendListener(3, [&seen](int n) { seen.push_back(n); });
    queue.appendListener(std::string("hello"), [&seen](int n) { seen.push_back(10 * n); });
    queue.dispatch(3, 1);
    queue.enqueue(std::string("hello"), 2);
    queue.enqueue(std::string("bye"), 3);
    queue.process();
    EXPECT_EQ(seen, (std::vector<int>{1, 20}));
}

TEST(AnyIdTest, ConvertsFromAnyValue) {
    const auto digest = [](const AnyHashableId& id) { return id.getDigest(); };
    EXPECT_EQ(digest(5), std::hash<int>()(5));
    EXPECT_EQ(digest(std::string_view("x")), std::hash<std::string_view>()("x"));
    AnyHashableId id = 5;
    AnyHashableId copy = id;
    EXPECT_EQ(copy, id);
    copy = std::string("other");
    EXPECT_NE(copy, id);
}

}  // namespace
}  // namespace sluice
