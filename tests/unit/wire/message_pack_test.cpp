#include "unit/wire/wire_doubles.hpp"

#include <sluice/wire/message_pack.hpp>
#include <sluice/wire/schema_hash.hpp>

#include "support/testing.hpp"

namespace {

using namespace sluice::test::messages;
using sluice::wire::Buffer;
using sluice::wire::DecodeError;
using Bytes = std::vector<unsigned char>;

enum class Switch : bool { off, on };

template <class T>
struct Only {
    T value{};
};

/// Three levels of nesting for each object: 32 is no multiple of it.
struct Grove {
    std::vector<std::array<Grove, 1>> trees;
};

template <class T>
Bytes encoded(const T& message) {
    Bytes storage(1U << 17U);
    Buffer buffer(storage.data(), storage.size());
    EXPECT_TRUE(encode(message, buffer));
    storage.resize(buffer.size());
    return storage;
}

template <class T>
DecodeError decoded(const Bytes& bytes, T& message) {
    return sluice::wire::decode(bytes.data(), bytes.size(), message);
}

/// The bytes as the value of the only field, whose name is "0".
template <class T>
DecodeError decodedOnly(const Bytes& value) {
    Bytes bytes{0x81, 0xA1, '0'};
    bytes.insert(bytes.end(), value.begin(), value.end());
    Only<T> message;
    return decoded(bytes, message);
}

TEST(WireMessagePack, KeepsEveryKindOfField) {
    Everything all = sample();
    all.text += std::string(300, 'x');
    all.maybe = -70000;
    Everything read;
    ASSERT_EQ(decoded(encoded(all), read), DecodeError::none);
    EXPECT_EQ(encoded(read), encoded(all));
    EXPECT_EQ(read.wide, all.wide);
    EXPECT_EQ(read.text, all.text);
    EXPECT_EQ(read.items[1].x, -3);
    EXPECT_EQ(read.maybe, all.maybe);
}

TEST(WireMessagePack, WritesTheBytesOfTheSpecification) {
    EXPECT_EQ(encoded(Only<std::int32_t>{-33}), (Bytes{0x81, 0xA1, '0', 0xD0, 0xDF}));
    EXPECT_EQ(encoded(Only<std::uint16_t>{256}), (Bytes{0x81, 0xA1, '0', 0xCD, 1, 0}));
    EXPECT_EQ(encoded(Only<bool>{true}), (Bytes{0x81, 0xA1, '0', 0xC3}));
}

TEST(WireMessagePack, KeepsIntegersAtEveryWidth) {
    for (unsigned bit = 0; bit < 64; ++bit) {
        for (const int near : {-1, 0, 1}) {
            const auto bits = (std::uint64_t{1} << bit) + static_cast<std::uint64_t>(near);
            for (const auto number : {bits, ~bits}) {
                Only<std::int64_t> written{static_cast<std::int64_t>(number)};
                Only<std::int64_t> read;
                ASSERT_EQ(decoded(encoded(written), read), DecodeError::none) << number;
                EXPECT_EQ(read.value, written.value);
                Only<std::uint64_t> natural{number};
                Only<std::uint64_t> readNatural;
                ASSERT_EQ(decoded(encoded(natural), readNatural), DecodeError::none) << number;
                EXPECT_EQ(readNatural.value, number);
            }
        }
    }
}

TEST(WireMessagePack, RefusesEveryTruncation) {
    const Bytes bytes = encoded(sample());
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        const Bytes cut(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
        Everything read;
        EXPECT_EQ(decoded(cut, read), DecodeError::truncated) << size;
        Only<bool> other;  // skips every field
        EXPECT_EQ(decoded(cut, other), DecodeError::truncated) << size;
    }
}

TEST(WireMessagePack, LeavesABufferThatIsTooSmallUnchanged) {
    const std::size_t needed = encoded(sample()).size();
    Bytes storage(needed);
    for (std::size_t capacity = 0; capacity < needed; ++capacity) {
        Buffer buffer(storage.data(), capacity);
        EXPECT_FALSE(encode(sample(), buffer)) << capacity;
        EXPECT_EQ(buffer.size(), 0U);
        EXPECT_TRUE(buffer.hasOverflowed());
    }
}

TEST(WireMessagePack, KeepsAnEnumOfBool) {
    Only<Switch> read;
    ASSERT_EQ(decoded(encoded(Only<Switch>{Switch::on}), read), DecodeError::none);
    EXPECT_EQ(read.value, Switch::on);
    EXPECT_EQ(decodedOnly<Switch>({1}), DecodeError::wrongType);
}

/// Whether encode() takes the message. If it refuses the message, it must not blame the buffer.
template <class T>
bool isEncodable(const T& message) {
    Bytes storage(1U << 17U);
    Buffer buffer(storage.data(), storage.size());
    const bool isEncoded = encode(message, buffer);
    EXPECT_EQ(buffer.size() != 0, isEncoded);
    EXPECT_FALSE(buffer.hasOverflowed());
    return isEncoded;
}

TEST(WireMessagePack, EncodesNoTextThatDecodeRefuses) {
    EXPECT_TRUE(isEncodable(Only<std::string>{"caf\xC3\xA9"}));
    EXPECT_FALSE(isEncodable(Only<std::string>{"caf\xE9"}));
    EXPECT_FALSE(isEncodable(Only<sluice::FixedString<4>>{"caf\xE9"}));
    EXPECT_FALSE(isEncodable(Only<std::vector<std::string>>{{"a", "\xFF"}}));
}

/// A tree with so many maps inside each other: each one but the last is in a sequence.
Tree treeOf(int maps) {
    Tree tree;
    for (int i = 1; i < maps; ++i) {
        Tree above;
        above.children.push_back(std::move(tree));
        tree = std::move(above);
    }
    return tree;
}

TEST(WireMessagePack, EncodesNoNestingThatDecodeRefuses) {
    Tree read;
    EXPECT_EQ(decoded(encoded(treeOf(16)), read), DecodeError::none);
    EXPECT_FALSE(isEncodable(treeOf(17)));
    Bytes seventeen;
    for (int i = 0; i < 17; ++i) {
        seventeen.insert(seventeen.end(), {0x81, 0xA1, '0', 0x91});
    }
    seventeen.back() = 0x90;
    EXPECT_EQ(decoded(seventeen, read), DecodeError::tooDeep);
}

TEST(WireMessagePack, ToleratesAddedAndMissingFields) {
    Inner read{7, 0.5};
    const Bytes added{0x82, 0xA1, '2', 0x91, 3, 0xA1, '1', 0xCA, 0x40, 0, 0, 0};
    EXPECT_EQ(decoded(added, read), DecodeError::none);
    EXPECT_EQ(read.x, 7);
    EXPECT_EQ(read.y, 2.0);
    Everything all = sample();
    EXPECT_EQ(decoded(Bytes{0x80}, all), DecodeError::none);
    EXPECT_EQ(all.colour, Colour::blue);
}

TEST(WireMessagePack, TakesAWholeNumberForAFloat) {
    Inner read{7, 0.5};
    ASSERT_EQ(decoded({0x81, 0xA1, '1', 0x02}, read), DecodeError::none);
    EXPECT_EQ(read.y, 2.0);
    ASSERT_EQ(decoded({0x81, 0xA1, '1', 0xD1, 0xFF, 0x00}, read), DecodeError::none);
    EXPECT_EQ(read.y, -256.0);
    EXPECT_EQ(decodedOnly<float>({0xCC, 0xFF}), DecodeError::none);
    EXPECT_EQ(decodedOnly<float>({0xC3}), DecodeError::wrongType);
}

TEST(WireMessagePack, AMissingFieldOfAnOptionalKeepsItsValue) {
    Outer read;
    ASSERT_EQ(decoded({0x81, 0xA1, '0', 0x81, 0xA1, '0', 0x09}, read), DecodeError::none);
    EXPECT_EQ(read.inner->x, 9);
    EXPECT_EQ(read.inner->y, 0.5);
}

TEST(WireMessagePack, AnEmptyTypeNeedsNoDescription) {
    struct Stop {};
    std::array<unsigned char, 8> memory{};
    Buffer buffer(memory.data(), memory.size());
    ASSERT_TRUE(sluice::wire::encode(Stop{}, buffer));
    EXPECT_EQ(buffer.size(), 1U);
    Stop stop;
    EXPECT_EQ(sluice::wire::decode(buffer.data(), buffer.size(), stop), DecodeError::none);
    EXPECT_FALSE(sluice::wire::hasUnnamedFields<Stop>());
}

TEST(WireMessagePack, RefusesAMessageWithoutAKnownField) {
    Only<std::int32_t> read{7};
    EXPECT_EQ(decoded(encoded(sample()), read), DecodeError::noKnownField);
    EXPECT_EQ(read.value, 7);
    // Inside a message such a value may be an older form of the field.
    Only<Inner> outer;
    EXPECT_EQ(decoded(Bytes{0x81, 0xA1, '0', 0x81, 0xA1, 'x', 1}, outer), DecodeError::none);
}

// It is looked at eight bytes at a time where it can be.
TEST(WireMessagePack, ATextIsUtf8AtEachOfItsPositions) {
    constexpr std::size_t size = 20;
    for (std::size_t at = 0; at + 1 < size; ++at) {
        std::string text(size, 'x');
        text[at] = '\xC3';
        EXPECT_FALSE(sluice::isUtf8(text)) << at;
        text[at + 1] = '\xA9';
        EXPECT_TRUE(sluice::isUtf8(text)) << at;
    }
}

TEST(WireMessagePack, RefusesHostileValuesWithAReason) {
    EXPECT_EQ(decodedOnly<std::uint8_t>({0xCD, 1, 0}), DecodeError::outOfRange);
    EXPECT_EQ(decodedOnly<std::uint8_t>({0xFF}), DecodeError::outOfRange);
    EXPECT_EQ(decodedOnly<std::int8_t>({0xCC, 128}), DecodeError::outOfRange);
    EXPECT_EQ(decodedOnly<std::int8_t>({0xD1, 0xFF, 0x7F}), DecodeError::outOfRange);
    EXPECT_EQ(decodedOnly<std::int64_t>({0xCF, 128, 0, 0, 0, 0, 0, 0, 0}), DecodeError::outOfRange);
    EXPECT_EQ(decodedOnly<bool>({1}), DecodeError::wrongType);
    EXPECT_EQ(decodedOnly<int>({0xA1, '1'}), DecodeError::wrongType);
    EXPECT_EQ(decodedOnly<int>({0xC1}), DecodeError::wrongType);
    EXPECT_EQ(decodedOnly<float>({0xCB, 0, 0, 0, 0, 0, 0, 0, 0}), DecodeError::wrongType);
    EXPECT_EQ(decodedOnly<std::string>({0xDB, 0xFF, 0xFF, 0xFF, 0xFF}), DecodeError::truncated);
    EXPECT_EQ(decodedOnly<std::string>({0xA2, 0xC0, 0x80}), DecodeError::invalidUtf8);
    EXPECT_EQ(decodedOnly<std::string>({0xA3, 0xED, 0xA0, 0x80}), DecodeError::invalidUtf8);
    EXPECT_EQ(decodedOnly<sluice::FixedString<2>>({0xA3, 'a', 'b', 'c'}), DecodeError::tooLong);
    EXPECT_EQ(decodedOnly<std::vector<int>>({0xDD, 0xFF, 0xFF, 0xFF, 0xFF}),
              DecodeError::truncated);
    EXPECT_EQ((decodedOnly<sluice::FixedVector<int, 1>>({0x92, 1, 2})), DecodeError::tooLong);
    EXPECT_EQ((decodedOnly<std::array<int, 3>>({0x92, 1, 2})), DecodeError::wrongLength);
    EXPECT_EQ(decodedOnly<int>({1, 2}), DecodeError::trailingBytes);
    Only<int> read;
    EXPECT_EQ(decoded(Bytes{0x82, 0xA1, '0', 1, 0xA1, '0', 1}, read), DecodeError::duplicateKey);
    EXPECT_EQ(decoded(Bytes{0x81, 1, 1}, read), DecodeError::wrongType);
    EXPECT_EQ(decoded(Bytes{0x81, 0xA1, 'x', 0xDF, 255, 255, 255, 255}, read),
              DecodeError::truncated);
}

TEST(WireMessagePack, RefusesDeepNesting) {
    Bytes arrays{0x81, 0xA1, 'x'};
    arrays.insert(arrays.end(), 100000, 0x91);
    Only<int> skipped;
    EXPECT_EQ(decoded(arrays, skipped), DecodeError::tooDeep);
    Bytes groves;
    for (int i = 0; i < 100000; ++i) {
        groves.insert(groves.end(), {0x81, 0xA1, '0', 0x91, 0x91});
    }
    Grove grove;
    EXPECT_EQ(decoded(groves, grove), DecodeError::tooDeep);
}

}  // namespace
