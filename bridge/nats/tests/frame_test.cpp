#include <sluice/bridge/nats/frame.hpp>

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace sluice::nats {
namespace {

constexpr char body[] = "12345";

std::vector<unsigned char> encoded() {
    Frame frame;
    frame.schema = 0x1122334455667788;
    frame.origin = 7;
    frame.sequence = 1ULL << 63;
    frame.trace = 9;
    frame.priority = Priority::high;
    frame.length = sizeof body;
    std::vector<unsigned char> bytes(frameSize + sizeof body);
    std::memcpy(bytes.data() + frameSize, body, sizeof body);
    encodeFrame(frame, bytes.data());
    return bytes;
}

TEST(FrameTest, TheChecksumIsCrc32c) {
    EXPECT_EQ(crc32c(reinterpret_cast<const unsigned char*>("123456789"), 9), 0xE3069283U);
}

TEST(FrameTest, AFrameComesBackAsItWas) {
    const auto bytes = encoded();
    EXPECT_EQ(bytes[0], 'S');
    EXPECT_EQ(bytes[8], 0x88);  // little-endian
    Frame frame;
    ASSERT_EQ(decodeFrame(bytes.data(), bytes.size(), frame), FrameError::none);
    EXPECT_EQ(frame.schema, 0x1122334455667788U);
    EXPECT_EQ(frame.origin, 7U);
    EXPECT_EQ(frame.sequence, 1ULL << 63);
    EXPECT_EQ(frame.trace, 9U);
    EXPECT_EQ(frame.priority, Priority::high);
    EXPECT_EQ(frame.hops, 1U);
    EXPECT_EQ(frame.length, sizeof body);
}

TEST(FrameTest, EachCutIsRefused) {
    const auto bytes = encoded();
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        const std::vector<unsigned char> cut(bytes.data(), bytes.data() + size);
        Frame frame;
        EXPECT_EQ(decodeFrame(cut.data(), size, frame),
                  size < frameSize ? FrameError::tooShort : FrameError::length);
    }
}

TEST(FrameTest, EachFlippedBitIsRefused) {
    for (std::size_t bit = 0; bit < encoded().size() * 8; ++bit) {
        auto bytes = encoded();
        bytes[bit / 8] = static_cast<unsigned char>(bytes[bit / 8] ^ (1U << (bit % 8)));
        Frame frame;
        EXPECT_NE(decodeFrame(bytes.data(), bytes.size(), frame), FrameError::none) << bit;
    }
}

TEST(FrameTest, EachRefusalHasItsReason) {
    const auto refusalOf = [](std::size_t at, unsigned char value) {
        auto bytes = encoded();
        bytes[at] = value;
        Frame frame;
        return decodeFrame(bytes.data(), bytes.size(), frame);
    };
    EXPECT_EQ(refusalOf(0, 'X'), FrameError::magic);
    EXPECT_EQ(refusalOf(4, frameVersion + 1), FrameError::version);
    EXPECT_EQ(refusalOf(5, 3), FrameError::priority);
    EXPECT_EQ(refusalOf(40, 0), FrameError::length);
    EXPECT_EQ(refusalOf(frameSize, 'X'), FrameError::checksum);
    EXPECT_STREQ(toString(FrameError::checksum), "wrong checksum");
}

}  // namespace
}  // namespace sluice::nats
