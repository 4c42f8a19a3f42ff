#include <sluice/wire/buffer.hpp>
#include <sluice/wire/codec.hpp>

#include "support/testing.hpp"
#include <cstring>

namespace {

using sluice::wire::Buffer;
using sluice::wire::Codec;
using sluice::wire::DecodeError;

struct Plain {
    int number = 0;
};

/// The functions that a message of protobuf has. Its form is eight bytes.
class Order {
public:
    [[nodiscard]] std::size_t ByteSizeLong() const { return 8; }
    bool SerializeToArray(void* bytes, int size) const {
        std::memcpy(bytes, &number, 8);
        return isInitialized && size == 8;
    }
    bool ParseFromArray(const void* bytes, int size) {
        if (size == 8) {
            std::memcpy(&number, bytes, 8);
        }
        return size == 8;
    }
    [[nodiscard]] std::string GetTypeName() const { return "fleet.Order"; }

    std::uint64_t number = 0;
    bool isInitialized = true;  ///< false: a required field is missing
};

struct OtherOrder : Order {
    [[nodiscard]] std::string GetTypeName() const { return "fleet.OtherOrder"; }
};

template <class T>
T copied(const T& message) {
    std::array<unsigned char, 64> storage{};
    Buffer buffer(storage.data(), storage.size());
    EXPECT_TRUE(Codec<T>::encode(message, buffer));
    T read;
    EXPECT_EQ(Codec<T>::decode(buffer.data(), buffer.size(), read), DecodeError::none);
    return read;
}

TEST(WireCodec, TheUsualOneIsMessagePack) {
    EXPECT_EQ(copied(Plain{7}).number, 7);
    EXPECT_EQ(Codec<Plain>::schemaHash(), sluice::wire::schemaHash<Plain>());
}

TEST(WireCodec, AMessageOfProtobufKeepsItsForm) {
    Order order;
    order.number = 0x0123456789ABCDEF;
    EXPECT_EQ(copied(order).number, order.number);
    EXPECT_EQ(Codec<Order>::decode(nullptr, 0, order), DecodeError::foreignForm);
    EXPECT_EQ(Codec<Order>::schemaHash(), Codec<Order>::schemaHash());
    EXPECT_NE(Codec<Order>::schemaHash(), Codec<OtherOrder>::schemaHash());
}

TEST(WireCodec, AMessageOfProtobufThatDoesNotFitLeavesTheBuffer) {
    std::array<unsigned char, 16> storage{};
    Buffer buffer(storage.data(), storage.size());
    Order order;
    EXPECT_TRUE(Codec<Order>::encode(order, buffer));
    order.isInitialized = false;
    EXPECT_FALSE(Codec<Order>::encode(order, buffer));
    EXPECT_EQ(buffer.size(), 8U);
    order.isInitialized = true;
    EXPECT_TRUE(Codec<Order>::encode(order, buffer));
    EXPECT_FALSE(Codec<Order>::encode(order, buffer));
    EXPECT_EQ(buffer.size(), 16U);
}

TEST(WireBuffer, AddsNothingThatDoesNotFit) {
    std::array<unsigned char, 4> storage{};
    Buffer buffer(storage.data(), 3);
    EXPECT_TRUE(buffer.append("ab", 2));
    EXPECT_FALSE(buffer.hasOverflowed());
    EXPECT_FALSE(buffer.append("cd", 2));
    EXPECT_EQ(buffer.size(), 2U);
    EXPECT_TRUE(buffer.append("e", 1));
    EXPECT_FALSE(buffer.append("f", 1));
    EXPECT_EQ(storage, (std::array<unsigned char, 4>{'a', 'b', 'e', 0}));
    buffer.shrink(9);
    EXPECT_EQ(buffer.size(), 3U);
    buffer.shrink(1);
    EXPECT_EQ(buffer.size(), 1U);
    EXPECT_TRUE(buffer.hasOverflowed());
}

}  // namespace
