#include "deferred_doubles.hpp"
#include "support/dice.hpp"

#include <sluice/fixed/fixed_string.hpp>
#include <sluice/log/copy_when_logging.hpp>

#include <spdlog/fmt/chrono.h>

#include "support/testing.hpp"
#include <cstring>
#include <memory_resource>

namespace sluice::log::test {

enum class Colour : unsigned char { red, green };
enum Plain { one = 1, two = 2 };

struct Point {
    int x;
    int y;
    Point(int across, int down) : x(across), y(down) {}  // no default constructor
};

struct Person {
    std::string name;
    int age;
    inline static int measured = 0;  ///< calls of its codec's size()
};

/// Not copied.
struct Shy {
    int value;
};

inline std::string_view textOf(Colour colour) {
    return colour == Colour::red ? "red" : "green";
}
inline std::string textOf(const Point& point) {
    return std::to_string(point.x) + "/" + std::to_string(point.y);
}
inline std::string textOf(const Person& person) {
    return person.name + ", " + std::to_string(person.age);
}
inline std::string textOf(const Shy& shy) {
    return std::to_string(shy.value);
}

}  // namespace sluice::log::test

template <>
struct sluice::log::copy_when_logging<sluice::log::test::Point> : std::true_type {};

template <>
struct sluice::log::argument_codec<sluice::log::test::Person> {
    using Person = sluice::log::test::Person;
    static std::size_t size(const Person& person) noexcept {
        ++Person::measured;
        return sizeof person.age + person.name.size();
    }
    static void write(std::byte* to, std::size_t, const Person& person) noexcept {
        std::memcpy(to, &person.age, sizeof person.age);
        std::memcpy(to + sizeof person.age, person.name.data(), person.name.size());
    }
    static Person read(const std::byte* from, std::size_t size) {
        Person person{{}, 0};
        std::memcpy(&person.age, from, sizeof person.age);
        person.name.assign(reinterpret_cast<const char*>(from) + sizeof person.age,
                           size - sizeof person.age);
        return person;
    }
};

SLUICE_TEST_PRINTED(Colour)
SLUICE_TEST_PRINTED(Point)
SLUICE_TEST_PRINTED(Person)
SLUICE_TEST_PRINTED(Shy)

namespace sluice::log::test {
namespace {

using sluice::test::Dice;

using detail::CodecOf;
using detail::isCopied;
using detail::TextCodec;
using detail::ValueCodec;

static_assert(std::is_same_v<CodecOf<const int&>, ValueCodec<int>>);
static_assert(std::is_same_v<CodecOf<const char (&)[7]>, TextCodec>);
static_assert(std::is_same_v<CodecOf<char* const&>, TextCodec>);
static_assert(std::is_same_v<CodecOf<std::pmr::string>, TextCodec>);
static_assert(isCopied<bool> && isCopied<long double> && isCopied<Colour> && isCopied<Plain>);
static_assert(isCopied<void*> && isCopied<const void*> && isCopied<std::nullptr_t>);
static_assert(!isCopied<int*> && !isCopied<std::vector<int>> && !isCopied<std::atomic<int>&>);
static_assert(!isCopied<volatile int&>, "its copy would be taken at another moment");
static_assert(!isCopied<const signed char*>, "not what the formatting library takes for text");

TEST(FixedStringTest, IsFormattedAsItsText) {
    const FixedString<16> text("sluice");
    EXPECT_EQ(fmt::format("{}|{:>8}|{:.2}", text, text, text), "sluice|  sluice|sl");
}

std::uint64_t randomBits(Dice& dice) {
    return std::uint64_t{dice()} << 40U ^ std::uint64_t{dice()} << 20U ^ dice();
}

/// The same call through spdlog's own front end and deferred, each format string a constant.
class SameTextTest : public testing::Test {
protected:
    std::shared_ptr<TextSink> sink = std::make_shared<TextSink>();
    spdlog::logger plain{"plain", sink};
    KeepingLogger logger;
};

#define EXPECT_SAME_TEXT(...)                                                                      \
    do {                                                                                           \
        plain.info(__VA_ARGS__);                                                                   \
        SLUICE_LOG_INFO(logger, __VA_ARGS__);                                                      \
        ASSERT_EQ(logger.records.size(), sink->texts.size()) << "it was not deferred";             \
        EXPECT_EQ(logger.last(), sink->texts.back());                                              \
    } while (false)

TEST_F(SameTextTest, OfIntegersOfEverySize) {
    Dice dice(1);
    for (int round = 0; round < 200; ++round) {
        const std::uint64_t bits = randomBits(dice) >> (round % 64);
        EXPECT_SAME_TEXT("{} {} {} {}", static_cast<std::int8_t>(bits),
                         static_cast<std::int16_t>(bits), static_cast<std::int32_t>(bits),
                         static_cast<std::int64_t>(bits));
        EXPECT_SAME_TEXT("{:x} {:#X} {:o} {:b}", static_cast<std::uint8_t>(bits),
                         static_cast<std::uint16_t>(bits), static_cast<std::uint32_t>(bits), bits);
        EXPECT_SAME_TEXT("{:+08d} {:<6}| {:^6}| {:*>6}", static_cast<int>(bits),
                         static_cast<short>(bits), static_cast<unsigned char>(bits), bits % 7);
    }
    EXPECT_SAME_TEXT("{} {} {}", std::numeric_limits<long long>::min(),
                     std::numeric_limits<unsigned long long>::max(), -1L);
}

TEST_F(SameTextTest, OfFloatingPoint) {
    Dice dice(2);
    for (int round = 0; round < 200; ++round) {
        const std::uint64_t bits = randomBits(dice);
        double number = 0;
        std::memcpy(&number, &bits, sizeof number);  // also infinities, NaNs, denormal ones
        EXPECT_SAME_TEXT("{} {:.3f} {:12.4e} {:g} {:a}", number, number, number, number, number);
        EXPECT_SAME_TEXT("{} {:+}", static_cast<float>(bits >> 40U), static_cast<float>(number));
    }
    EXPECT_SAME_TEXT("{} {} {}", 0.1L, -0.0, std::numeric_limits<float>::infinity());
}

TEST_F(SameTextTest, OfOtherPlainValues) {
    int object = 0;
    EXPECT_SAME_TEXT("{} {:d} {:>7}", true, false, true);
    EXPECT_SAME_TEXT("{} {:d} {:<3}|", 'x', 'y', '\n');
    EXPECT_SAME_TEXT("{} {:>20} {}", static_cast<void*>(&object), static_cast<const void*>(&object),
                     nullptr);
    EXPECT_SAME_TEXT("{} {}", Colour::red, static_cast<signed char>(-3));
#if FMT_VERSION < 100000  // later ones want a formatter
    EXPECT_SAME_TEXT("{} {:x}", one, two);
#endif
    EXPECT_SAME_TEXT("{:>8}", Colour::green);
}

TEST_F(SameTextTest, OfText) {
    char array[16] = "an array";
    char* pointer = array;
    const std::string text = "a longer text, beyond what a string keeps in itself";
    const std::string_view part = std::string_view(text).substr(2, 6);
    EXPECT_SAME_TEXT("{} {} {} {} {}", "literal", array, pointer, text, part);
    EXPECT_SAME_TEXT("{:>12}|{:.4}|{:*^20}|{:s}", "literal", array, text, part);
    EXPECT_SAME_TEXT("{}{}{}", "", std::string(), std::string_view());
    EXPECT_SAME_TEXT("{} {}", std::pmr::string("pmr"), spdlog::string_view_t("spdlog's"));
    EXPECT_SAME_TEXT("{}", std::string("nul\0inside\nand a line", 21));
    EXPECT_SAME_TEXT("{}", std::string(100000, 'x'));
    EXPECT_SAME_TEXT("{:\u00e9^9} {}", "\u00fcnicode", "\u65e5\u672c");
    EXPECT_SAME_TEXT("{}", "before\0behind");
    for (std::size_t length = 0; length < 300; ++length) {
        EXPECT_SAME_TEXT("{}|{}", text.substr(0, length % 40) + std::string(length, '%'), length);
    }
}

TEST_F(SameTextTest, OfEachFormOfTheFormat) {
    EXPECT_SAME_TEXT("{:{}}|{:<{}.{}f}|", 42, 8, 3.14159, 10, 2);
    EXPECT_SAME_TEXT("{0:>{1}} {2:.{3}}", "right", 10, "cut here", 3);
    EXPECT_SAME_TEXT("{1} {0} {1}", "a", "b");
    EXPECT_SAME_TEXT("{{}} {{{}}} }}{{", 5);
    EXPECT_SAME_TEXT("more {} than asked for", 1, "spare", 3.0);
    EXPECT_SAME_TEXT("just text");
    EXPECT_SAME_TEXT("");
    EXPECT_SAME_TEXT("{} and {{ are text here");
}

TEST(TextCodecTest, ANullPointerIsSaidToBeOne) {
    KeepingLogger logger;
    const char* const nothing = nullptr;
    char* const none = nullptr;
    SLUICE_LOG_INFO(logger, "{} {:>8}", nothing, none);
    EXPECT_EQ(logger.last(), "(null)   (null)");
    SLUICE_LOG_INFO(logger, "{} {}", nothing, Shy{3});
    EXPECT_EQ(logger.sink->texts, std::vector<std::string>{"(null) 3"});
}

TEST(TextCodecTest, AnArrayWithoutANulEndsWhereItEnds) {
    KeepingLogger logger;
    const struct {
        char full[4];
        char next;
    } text{{'f', 'u', 'l', 'l'}, '!'};
    SLUICE_LOG_INFO(logger, "{}", text.full);
    EXPECT_EQ(logger.last(), "full");
    SLUICE_LOG_INFO(logger, "{} {}", text.full, Shy{1});
    EXPECT_EQ(logger.sink->texts, std::vector<std::string>{"full 1"});
}

TEST(ArgumentCodecTest, TakesNoMoreThanTheValuesAndTheLengthsOfTexts) {
    KeepingLogger logger;
    SLUICE_LOG_INFO(logger, "{} {} {} {}", 'c', 1, 2.0, "four");
    EXPECT_EQ(logger.records.back().bytes.size() - 1, 1 + 4 + 8 + sizeof(std::size_t) + 4);
    SLUICE_LOG_INFO(logger, "nothing");
    EXPECT_EQ(logger.records.back().bytes.size() - 1, 0U);
}

TEST(CopyWhenLoggingTest, AUserTypeThatOptsInTravelsAsItsBytes) {
    KeepingLogger logger;
    SLUICE_LOG_INFO(logger, "at {:>6}", Point(3, -7));
    ASSERT_EQ(logger.records.size(), 1U);
    EXPECT_EQ(logger.records[0].bytes.size(), 1 + sizeof(Point));
    EXPECT_EQ(logger.last(), "at   3/-7");
}

TEST(CopyWhenLoggingTest, DurationsAndTimePointsAreCopied) {
    using namespace std::chrono_literals;
    KeepingLogger logger;
    SLUICE_LOG_INFO(logger, "{} {:%H:%M:%S} {:%F}", 250ms, 3661s,
                    std::chrono::system_clock::time_point(86400s));
    ASSERT_EQ(logger.records.size(), 1U);
    EXPECT_EQ(logger.last(), "250ms 01:01:01 1970-01-02");
}

TEST(CopyWhenLoggingTest, ACodecSaysWhatTravelsAndMeasuresOnce) {
    KeepingLogger logger;
    {
        const Person person{"Ada", 36};
        SLUICE_LOG_INFO(logger, "{:*^11}, {:.3}", person, Person{"Grace", 85});
    }
    ASSERT_EQ(logger.records.size(), 1U);
    EXPECT_EQ(logger.last(), "**Ada, 36**, Gra");
    EXPECT_EQ(Person::measured, 2);
}

}  // namespace
}  // namespace sluice::log::test
