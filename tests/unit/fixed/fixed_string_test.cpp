#include <sluice/fixed/fixed_string.hpp>

#include "support/testing.hpp"
#include <cstring>
#include <unordered_map>

namespace sluice {
namespace {

using namespace std::string_view_literals;

// All of it works while compiling.
constexpr FixedString<5> hello = "hello";
static_assert(hello.size() == 5 && !hello.empty() && hello.capacity() == 5 && hello[4] == 'o');
static_assert(hello == "hello" && "hello"sv == hello && hello != "hell" && hello < "help");
constexpr FixedString<5> cut(truncateToFit, "hello world");
static_assert(cut == hello && cut.truncated() && !hello.truncated());

constexpr FixedString<8> joined() {
    FixedString<8> text = "ab";
    text.append("cd");
    text.append(text);
    return text;
}
static_assert(joined() == "abcdabcd");

template <std::size_t N>
inline constexpr bool trivial = std::is_trivially_copyable_v<FixedString<N>> &&
                                std::is_trivially_destructible_v<FixedString<N>>;
static_assert(trivial<1> && trivial<300> && trivial<70000>);
static_assert(sizeof(FixedString<29>) == 32 && sizeof(FixedString<61>) == 64);
static_assert(FixedString<255>::capacity() == 255 && sizeof(FixedString<255>) == 258);

template <class Source>
inline constexpr bool implicit = std::is_convertible_v<Source, FixedString<4>>;
static_assert(implicit<const char (&)[5]> && implicit<char (&)[3]>);
static_assert(!implicit<const char (&)[6]>, "a literal that is too long");
static_assert(implicit<FixedString<3>> && !implicit<FixedString<5>>);
template <class Source>
inline constexpr bool untagged = std::is_constructible_v<FixedString<4>, Source>;
static_assert(!untagged<const char (&)[6]> && !untagged<FixedString<5>>);
static_assert(!untagged<std::string_view> && !untagged<std::string> && !untagged<const char*>);
static_assert(!untagged<std::nullptr_t> && !untagged<int>);
template <class Source>
inline constexpr bool tagged = std::is_constructible_v<FixedString<4>, TruncateToFit, Source>;
static_assert(tagged<std::string_view> && tagged<const char*> && tagged<const char (&)[90]>);
static_assert(!tagged<std::nullptr_t> && !tagged<int> && !tagged<const wchar_t*>);

TEST(FixedStringTest, CharArrayEndsAtItsFirstNul) {
    const char buffer[8] = {'a', 'b', '\0', 'x', 'y', 'z', '!', '!'};
    const FixedString<7> text = buffer;
    EXPECT_EQ(text.size(), 2U);
    EXPECT_EQ(text, "ab");
    EXPECT_EQ(text, buffer);
}

TEST(FixedStringTest, CharArrayWithoutNulIsTakenWhole) {
    // On the heap, so that a sanitizer sees a read beyond the end.
    struct Tag {
        char name[4];
    };
    const auto tag = std::make_unique<Tag>(Tag{{'w', 'x', 'y', 'z'}});
    const FixedString<4> text = tag->name;
    EXPECT_EQ(text, "wxyz");
    EXPECT_STREQ(text.c_str(), "wxyz");
    FixedString<9> longer(truncateToFit, tag->name);
    EXPECT_TRUE(longer.append(tag->name));
    EXPECT_EQ(longer, "wxyzwxyz");
    EXPECT_NE(longer, tag->name);
}

TEST(FixedStringTest, TagTakesAnyText) {
    const std::string text = "0123456789";
    const FixedString<4> fromString(truncateToFit, text);
    const FixedString<4> fromView(truncateToFit, std::string_view(text));
    const FixedString<4> fromPointer(truncateToFit, text.c_str());
    const FixedString<4> fromFixed(truncateToFit, FixedString<10>("0123456789"));
    for (const auto& each : {fromString, fromView, fromPointer, fromFixed}) {
        EXPECT_EQ(each, "0123");
        EXPECT_STREQ(each.c_str(), "0123");
        EXPECT_TRUE(each.truncated());
    }
}

TEST(FixedStringTest, NullPointerIsTheEmptyText) {
    const char* const nothing = nullptr;
    FixedString<4> text(truncateToFit, nothing);
    EXPECT_TRUE(text.empty());
    text = "abc";
    EXPECT_TRUE(text.append(nothing));
    EXPECT_EQ(text, "abc");
    EXPECT_NE(text, nothing);
    EXPECT_TRUE(text.assign(nothing));
    EXPECT_EQ(text, nothing);
}

TEST(FixedStringTest, PushBackTellsWhetherThereWasRoom) {
    FixedString<3> text("ab");
    EXPECT_TRUE(text.push_back('c'));
    EXPECT_EQ(text, "abc");
    EXPECT_FALSE(text.truncated());
    EXPECT_FALSE(text.push_back('d'));
    EXPECT_EQ(text, "abc");
    EXPECT_TRUE(text.truncated());

    FixedString<2> euro("a");
    EXPECT_TRUE(euro.push_back('\xE2'));
    EXPECT_FALSE(euro.push_back('\x82'));
    EXPECT_EQ(euro, "a") << "half a character";
}

TEST(FixedStringTest, MarkTravelsWithTheText) {
    const FixedString<2> beginning(truncateToFit, "abc");
    const FixedString<9> converted = beginning;
    EXPECT_TRUE(converted.truncated());
    const FixedString<9> tagged(truncateToFit, beginning);
    EXPECT_TRUE(tagged.truncated());
    FixedString<9> text;
    EXPECT_TRUE(text.assign(beginning)) << "nothing more was cut";
    EXPECT_TRUE(text.truncated());
    text = "xy";
    EXPECT_FALSE(text.truncated());
    EXPECT_TRUE(text.append(beginning));
    EXPECT_TRUE(text.truncated());
    EXPECT_TRUE(text.assign(text));
    EXPECT_TRUE(text.truncated());
    EXPECT_TRUE(text.assign("ab"));
    EXPECT_FALSE(text.truncated());
}

TEST(FixedStringTest, CutKeepsUtf8CharactersWhole) {
    const auto fitted = [](std::string_view text) { return FixedString<4>(truncateToFit, text); };
    EXPECT_EQ(fitted("ab\u00e9x"), "ab\u00e9") << "ends on the limit";
    EXPECT_EQ(fitted("abc\u00e9"), "abc") << "2 bytes";
    EXPECT_EQ(fitted("ab\u20ac"), "ab") << "3 bytes";
    EXPECT_EQ(fitted("a\U0001F600"), "a") << "4 bytes";
    EXPECT_EQ(fitted("\U0001F600x"), "\U0001F600");
    EXPECT_TRUE(fitted("a\U0001F600").truncated());
    const FixedString<3> small(truncateToFit, "\U0001F600");
    EXPECT_EQ(small, "") << "nothing whole fits";
    EXPECT_TRUE(small.truncated());
    FixedString<4> grown = "abc";
    EXPECT_FALSE(grown.append("\u00e9"));
    EXPECT_EQ(grown, "abc");
}

TEST(FixedStringTest, HashesLikeItsText) {
    const FixedString<9> text = "key";
    EXPECT_EQ(std::hash<FixedString<9>>()(text), std::hash<std::string_view>()("key"));
    EXPECT_NE(std::hash<FixedString<9>>()(text), std::hash<FixedString<9>>()("kez"));
    std::unordered_map<FixedString<9>, int> map;
    map["key"] = 3;
    EXPECT_EQ(map[text], 3);
    EXPECT_EQ(map.size(), 1U);
}

TEST(FixedStringTest, CountsBeyondEachSizeType) {
    const std::string text(70000, 'x');
    FixedString<255> bytes(truncateToFit, text);
    EXPECT_EQ(bytes.size(), 255U);
    FixedString<256> wider(truncateToFit, text);
    EXPECT_EQ(wider.size(), 256U);
    const auto widest = std::make_unique<FixedString<66000>>(truncateToFit, text);
    EXPECT_EQ(widest->size(), 66000U);
    EXPECT_EQ(std::strlen(widest->c_str()), 66000U);
}

#if !defined(NDEBUG)
TEST(FixedStringDeathTest, ArrayOneCharTooLongWithoutNul) {
    const char four[4] = {'a', 'b', 'c', 'd'};
    EXPECT_DEATH(FixedString<3>{four}, "use truncateToFit");
}

TEST(FixedStringDeathTest, IndexBeyondTheText) {
    const FixedString<9> text = "abc";
    EXPECT_DEATH(static_cast<void>(text[3]), "compare it with size\\(\\) first");
}
#else
TEST(FixedStringTest, ArrayOneCharTooLongWithoutNulIsCutVisibly) {
    const char four[4] = {'a', 'b', 'c', 'd'};
    const FixedString<3> text = four;
    EXPECT_EQ(text, "abc");
    EXPECT_TRUE(text.truncated());
}
#endif

}  // namespace
}  // namespace sluice
