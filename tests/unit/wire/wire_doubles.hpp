#pragma once

#include <sluice/fixed/fixed_string.hpp>
#include <sluice/fixed/fixed_vector.hpp>
#include <sluice/wire/describe.hpp>

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

// Messages with every kind of field, for the tests of both forms.

namespace sluice::test::messages {

enum class Colour : std::uint8_t { red, blue = 200 };

struct Inner {
    std::int32_t x = 0;
    double y = 0;
};

struct Everything {
    bool flag = false;
    std::int64_t wide = 0;
    std::uint64_t natural = 0;
    float ratio = 0;
    Colour colour = Colour::red;
    std::string text;
    sluice::FixedString<8> name;
    std::vector<Inner> items;
    sluice::FixedVector<std::int16_t, 2> few;
    std::array<std::uint8_t, 3> bytes{};
    std::optional<std::int32_t> maybe;
};

constexpr auto describe(sluice::wire::Type<Everything>) {
    using sluice::wire::field;
    return sluice::wire::fields(
        field("flag", &Everything::flag), field("wide", &Everything::wide),
        field("natural", &Everything::natural), field("ratio", &Everything::ratio),
        field("colour", &Everything::colour), field("text", &Everything::text),
        field("name", &Everything::name), field("items", &Everything::items),
        field("few", &Everything::few), field("bytes", &Everything::bytes),
        field("maybe", &Everything::maybe));
}

struct Tree {
    std::vector<Tree> children;
};

struct Outer {
    std::optional<Inner> inner = Inner{7, 0.5};
};
constexpr auto describe(sluice::wire::Type<Outer>) {
    return sluice::wire::fields(sluice::wire::field("0", &Outer::inner));
}

inline Everything sample() {
    Everything all;
    all.flag = true;
    all.wide = std::numeric_limits<std::int64_t>::min();
    all.natural = std::numeric_limits<std::uint64_t>::max();
    all.ratio = 0.5F;
    all.colour = Colour::blue;
    all.text = "a \"b\"\n\x01\xC3\xA9";
    all.name = "name";
    all.items = {{1, 2.5}, {-3, std::numeric_limits<double>::infinity()}};
    all.few = {-129, 7};
    all.bytes = {1, 2, 255};
    return all;
}

}  // namespace sluice::test::messages
