#include "support/allocation_count.hpp"

#include <sluice/wire/envelope.hpp>
#include <sluice/wire/message_pack.hpp>

#include "support/testing.hpp"

namespace sluice::test {
namespace {

struct Fixed {
    FixedString<30> name;
    FixedVector<int, 8> numbers;
    double ratio = 0;
};

struct Growing {
    std::string text;
    std::vector<int> numbers;
};

TEST(WireAllocationTest, EncodingNeverAllocates) {
    const Growing message{std::string(100, 'x'), {1, 2, 3}};
    std::array<unsigned char, 300> storage{};
    const AllocationCount count;
    wire::Buffer buffer(storage.data() + wire::envelopeSize, storage.size() - wire::envelopeSize);
    EXPECT_TRUE(wire::encode(message, buffer));
    const std::size_t size = buffer.size();
    wire::encodeEnvelope(wire::Envelope(), storage.data(), static_cast<std::uint32_t>(size));
    wire::Envelope envelope;
    EXPECT_EQ(wire::decodeEnvelope(storage.data(), wire::envelopeSize + size, envelope),
              wire::EnvelopeError::none);
    EXPECT_EQ(count.allocations(), 0U);
}

TEST(WireAllocationTest, DecodingIntoFixedContainersNeverAllocates) {
    Fixed message;
    message.name = "name";
    message.numbers = {1, 2, 3};
    std::array<unsigned char, 300> storage{};
    const AllocationCount count;
    wire::Buffer buffer(storage.data(), storage.size());
    EXPECT_TRUE(wire::encode(message, buffer));
    Fixed read;
    EXPECT_EQ(wire::decode(buffer.data(), buffer.size(), read), wire::DecodeError::none);
    EXPECT_EQ(read.numbers.size(), 3U);
    EXPECT_EQ(count.allocations(), 0U);
}

TEST(WireAllocationTest, AFalseLengthAllocatesNothing) {
    const std::array<unsigned char, 8> numbers{0x81, 0xA1, '1', 0xDD, 255, 255, 255, 255};
    const std::array<unsigned char, 8> text{0x81, 0xA1, '0', 0xDB, 255, 255, 255, 255};
    Growing read;
    const AllocationCount count;
    EXPECT_EQ(wire::decode(numbers.data(), numbers.size(), read), wire::DecodeError::truncated);
    EXPECT_EQ(wire::decode(text.data(), text.size(), read), wire::DecodeError::truncated);
    EXPECT_EQ(count.allocations(), 0U);
}

}  // namespace
}  // namespace sluice::test
