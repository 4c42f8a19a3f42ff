#include "deferred_doubles.hpp"

#include <sluice/log/copy_when_logging.hpp>

#include <spdlog/fmt/chrono.h>

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>

namespace sluice::log::test {

struct Point {
    int x;
    int y;
    Point(int across, int down) : x(across), y(down) {}  // no default constructor
};

/// Not copied: nobody said that it may be.
struct Shy {
    int value;
};

struct Person {
    std::string name;
    int age;
};

/// Its codec answers with text that is longer than what travels, and counts who measures.
struct Counted {
    int* measured;
};

/// What its codec reads throws.
struct Unreadable {};

}  // namespace sluice::log::test

template <>
struct sluice::log::copy_when_logging<sluice::log::test::Point> : std::true_type {};

template <>
struct sluice::log::argument_codec<sluice::log::test::Person> {
    using Person = sluice::log::test::Person;
    static std::size_t size(const Person& person) noexcept {
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

template <>
struct sluice::log::argument_codec<sluice::log::test::Counted> {
    static std::size_t size(const test::Counted& counted) noexcept {
        ++*counted.measured;
        return 0;
    }
    static void write(std::byte*, std::size_t, const test::Counted&) noexcept {}
    static std::string_view read(const std::byte*, std::size_t size) {
        return size == 0 ? "nothing travelled" : "something travelled";
    }
};

template <>
struct sluice::log::argument_codec<sluice::log::test::Unreadable> {
    static std::size_t size(const test::Unreadable&) noexcept { return 1; }
    static void write(std::byte* to, std::size_t, const test::Unreadable&) noexcept {
        *to = std::byte{1};
    }
    static int read(const std::byte*, std::size_t) { throw std::runtime_error("unreadable"); }
};

template <>
struct fmt::formatter<sluice::log::test::Point> : fmt::formatter<int> {
    template <class Context>
    auto format(const sluice::log::test::Point& point, Context& context) const {
        fmt::formatter<int>::format(point.x, context);
        *context.out() = '/';
        return fmt::formatter<int>::format(point.y, context);
    }
};

template <>
struct fmt::formatter<sluice::log::test::Counted> : fmt::formatter<std::string_view> {
    template <class Context>
    auto format(const sluice::log::test::Counted&, Context& context) const {
        return fmt::formatter<std::string_view>::format("nothing travelled", context);
    }
};

template <>
struct fmt::formatter<sluice::log::test::Unreadable> : fmt::formatter<int> {
    template <class Context>
    auto format(const sluice::log::test::Unreadable&, Context& context) const {
        return fmt::formatter<int>::format(1, context);
    }
};

template <>
struct fmt::formatter<sluice::log::test::Shy> : fmt::formatter<int> {
    template <class Context>
    auto format(const sluice::log::test::Shy& shy, Context& context) const {
        return fmt::formatter<int>::format(shy.value, context);
    }
};

template <>
struct fmt::formatter<sluice::log::test::Person> : fmt::formatter<std::string_view> {
    template <class Context>
    auto format(const sluice::log::test::Person& person, Context& context) const {
        return fmt::formatter<std::string_view>::format(
            person.name + ", " + std::to_string(person.age), context);
    }
};

namespace sluice::log::test {
namespace {

TEST(CopyWhenLoggingTest, AUserTypeThatOptsInTravelsAsItsBytes) {
    KeepingLogger logger;
    SLUICE_LOG_INFO(logger, "at {:>4}", Point(3, -7));
    ASSERT_EQ(logger.records.size(), 1U);
    EXPECT_EQ(logger.records[0].bytes.size(), 1 + sizeof(Point));
    EXPECT_EQ(logger.last(), "at    3/  -7");
}

TEST(CopyWhenLoggingTest, AUserTypeThatDoesNotIsFormattedInPlaceWithTheWholeMessage) {
    KeepingLogger logger;
    Shy shy{5};
    SLUICE_LOG_INFO(logger, "{} and {:03}", 1, shy);
    EXPECT_TRUE(logger.records.empty());
    EXPECT_EQ(logger.sink->texts, std::vector<std::string>{"1 and 005"});
}

TEST(CopyWhenLoggingTest, DurationsAndTimePointsAreCopied) {
    using namespace std::chrono_literals;
    KeepingLogger logger;
    SLUICE_LOG_INFO(logger, "{} {:%H:%M:%S} {:%F}", 250ms, 3661s,
                    std::chrono::system_clock::time_point(86400s));
    ASSERT_EQ(logger.records.size(), 1U);
    EXPECT_EQ(logger.last(), "250ms 01:01:01 1970-01-02");
}

TEST(CopyWhenLoggingTest, ACodecSaysWhatTravelsAndWhatIsFormatted) {
    KeepingLogger logger;
    {
        const Person person{"Ada", 36};
        SLUICE_LOG_INFO(logger, "{:*^11}, {:.3}", person, Person{"Grace", 85});
    }
    ASSERT_EQ(logger.records.size(), 1U);
    EXPECT_EQ(logger.last(), "**Ada, 36**, Gra");
}

TEST(CopyWhenLoggingTest, ACodecMeasuresOnce) {
    KeepingLogger logger;
    int measured = 0;
    SLUICE_LOG_INFO(logger, "{}, {}", Counted{&measured}, 2);
    EXPECT_EQ(measured, 1);
    EXPECT_EQ(logger.last(), "nothing travelled, 2");
    EXPECT_EQ(measured, 1);
}

TEST(CopyWhenLoggingTest, ACodecMayThrowWhereItIsRead) {
    KeepingLogger logger;
    SLUICE_LOG_INFO(logger, "{}", Unreadable{});
    EXPECT_THROW((void)logger.last(), std::runtime_error);
}

}  // namespace
}  // namespace sluice::log::test
