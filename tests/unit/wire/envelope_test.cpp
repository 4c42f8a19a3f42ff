#include <sluice/wire/envelope.hpp>

#include "support/testing.hpp"

namespace sluice {
namespace {

using wire::Envelope;
using wire::EnvelopeError;
using Bytes = std::vector<unsigned char>;

Envelope sample() {
    Envelope envelope;
    envelope.schemaHash = 0x0102030405060708U;
    envelope.type = 0xA1A2A3A4U;
    envelope.priority = 2;
    envelope.origin = 0x1112131415161718U;
    envelope.incarnation = 0x31323334U;
    envelope.sequence = std::numeric_limits<std::uint64_t>::max();
    envelope.time = -5;
    envelope.traceId = 0x2122232425262728U;
    return envelope;
}

Bytes encoded(const Envelope& envelope = sample(), std::string_view payload = "payload") {
    Bytes bytes(wire::envelopeSize + payload.size());
    std::copy(payload.begin(), payload.end(), bytes.data() + wire::envelopeSize);
    wire::encodeEnvelope(envelope, bytes.data(), static_cast<std::uint32_t>(payload.size()));
    return bytes;
}

EnvelopeError decoded(const Bytes& bytes) {
    Envelope envelope;
    return wire::decodeEnvelope(bytes.data(), bytes.size(), envelope);
}

TEST(WireEnvelope, ChecksumIsCrc32c) {
    const Bytes digits{'1', '2', '3', '4', '5', '6', '7', '8', '9'};
    EXPECT_EQ(wire::detail::crc32c(digits.data(), 9), 0xE3069283U);
    EXPECT_EQ(wire::detail::crc32c(digits.data() + 4, 5, wire::detail::crc32c(digits.data(), 4)),
              0xE3069283U);
}

// A whole range is read in steps of eight bytes, and a long one in three streams at once. Single
// bytes are not.
TEST(WireEnvelope, ChecksumOfARangeIsThatOfItsBytes) {
    Bytes bytes(1100);
    std::uint32_t state = 1;
    for (unsigned char& byte : bytes) {
        state = state * 1664525U + 1013904223U;
        byte = static_cast<unsigned char>(state >> 24U);
    }
    for (std::size_t begin = 0; begin < 8; ++begin) {
        std::uint32_t oneByOne = 0;
        for (std::size_t size = 0; begin + size < bytes.size(); ++size) {
            EXPECT_EQ(wire::detail::crc32c(bytes.data() + begin, size), oneByOne) << size;
            EXPECT_EQ(wire::detail::crc32cByTable(bytes.data() + begin, size, 0), oneByOne) << size;
            oneByOne = wire::detail::crc32c(bytes.data() + begin + size, 1, oneByOne);
        }
    }
}

TEST(WireEnvelope, KeepsEveryField) {
    const Bytes bytes = encoded();
    Envelope read;
    ASSERT_EQ(wire::decodeEnvelope(bytes.data(), bytes.size(), read), EnvelopeError::none);
    const Envelope written = sample();
    EXPECT_EQ(read.schemaHash, written.schemaHash);
    EXPECT_EQ(read.type, written.type);
    EXPECT_EQ(read.priority, written.priority);
    EXPECT_EQ(read.origin, written.origin);
    EXPECT_EQ(read.incarnation, written.incarnation);
    EXPECT_EQ(read.sequence, written.sequence);
    EXPECT_EQ(read.time, written.time);
    EXPECT_EQ(read.traceId, written.traceId);
    EXPECT_EQ(read.length, 7U);
}

TEST(WireEnvelope, IsLittleEndianOnEveryMachine) {
    const Bytes bytes = encoded();
    EXPECT_EQ(Bytes(bytes.begin(), bytes.begin() + 24),
              (Bytes{'S', 'L', 'U', 'W', 1,    0,    2,    0,    8, 7, 6, 5,
                     4,   3,   2,   1,   0xA4, 0xA3, 0xA2, 0xA1, 7, 0, 0, 0}));
}

TEST(WireEnvelope, RefusesEveryTruncation) {
    const Bytes bytes = encoded();
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        const Bytes cut(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
        EXPECT_EQ(decoded(cut),
                  size < wire::envelopeSize ? EnvelopeError::tooShort : EnvelopeError::wrongLength)
            << size;
    }
}

TEST(WireEnvelope, RefusesEveryFlippedBit) {
    for (std::size_t bit = 0; bit < encoded().size() * 8; ++bit) {
        Bytes bytes = encoded();
        bytes[bit / 8] = static_cast<unsigned char>(bytes[bit / 8] ^ (1U << (bit % 8)));
        EXPECT_NE(decoded(bytes), EnvelopeError::none) << bit;
    }
}

TEST(WireEnvelope, SaysWhyItRefuses) {
    const auto changed = [](std::size_t offset, unsigned char value) {
        Bytes bytes = encoded();
        bytes[offset] = value;
        return decoded(bytes);
    };
    EXPECT_EQ(changed(0, 'X'), EnvelopeError::wrongMagic);
    EXPECT_EQ(changed(4, 2), EnvelopeError::wrongVersion);
    EXPECT_EQ(changed(6, 3), EnvelopeError::wrongPriority);
    EXPECT_EQ(changed(23, 0xFF), EnvelopeError::wrongLength);
    EXPECT_EQ(changed(64, 'P'), EnvelopeError::wrongChecksum);
    EXPECT_STREQ(toString(EnvelopeError::wrongChecksum), "the checksum does not match the bytes");
}

TEST(WireEnvelope, LeavesTheResultAloneWhenItRefuses) {
    Bytes bytes = encoded();
    bytes.back() = '!';
    Envelope read;
    read.sequence = 42;
    ASSERT_EQ(wire::decodeEnvelope(bytes.data(), bytes.size(), read), EnvelopeError::wrongChecksum);
    EXPECT_EQ(read.sequence, 42U);
    EXPECT_EQ(read.type, 0U);
}

}  // namespace
}  // namespace sluice
