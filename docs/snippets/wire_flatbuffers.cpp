// The codec of docs/guide/wire.md for a table of FlatBuffers. Without FlatBuffers the program does
// nothing.
#include <sluice/wire.hpp>

#if __has_include(<flatbuffers/flatbuffers.h>)
#include <flatbuffers/flatbuffers.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace {

struct Order;

/// The parts of the code that `flatc --cpp --gen-object-api` writes for a table with one field.
struct OrderT : flatbuffers::NativeTable {
    std::int32_t robot = 0;
};
struct Order : private flatbuffers::Table {
    bool Verify(flatbuffers::Verifier& verifier) const {
        return VerifyTableStart(verifier) && VerifyField<std::int32_t>(verifier, 4, 4) &&
               verifier.EndTable();
    }
    void UnPackTo(OrderT* order) const { order->robot = GetField<std::int32_t>(4, 0); }
    static flatbuffers::Offset<Order> Pack(flatbuffers::FlatBufferBuilder& builder,
                                           const OrderT* order) {
        const auto start = builder.StartTable();
        builder.AddElement<std::int32_t>(4, order->robot, 0);
        return flatbuffers::Offset<Order>(builder.EndTable(start));
    }
};

}  // namespace

template <>
struct sluice::wire::Codec<OrderT> {
    static bool encode(const OrderT& order, Buffer& buffer) {
        flatbuffers::FlatBufferBuilder builder;
        builder.Finish(Order::Pack(builder, &order));
        return buffer.append(builder.GetBufferPointer(), builder.GetSize());
    }
    static DecodeError decode(const unsigned char* bytes, std::size_t size, OrderT& order) {
        const std::vector<unsigned char> aligned(bytes, bytes + size);
        if (!flatbuffers::Verifier(aligned.data(), size).VerifyBuffer<Order>(nullptr)) {
            return DecodeError::foreignForm;
        }
        flatbuffers::GetRoot<Order>(aligned.data())->UnPackTo(&order);
        return DecodeError::none;
    }
    static std::uint64_t schemaHash() { return 1; }  // another number for each table
};

int main() {
    using sluice::wire::DecodeError;
    using Codec = sluice::wire::Codec<OrderT>;
    std::array<unsigned char, 64> storage{};
    sluice::wire::Buffer buffer(storage.data(), storage.size());
    OrderT order;
    order.robot = 7;
    OrderT copy;
    return Codec::encode(order, buffer) &&
                   Codec::decode(buffer.data(), buffer.size(), copy) == DecodeError::none &&
                   copy.robot == 7 &&
                   Codec::decode(buffer.data(), 3, copy) == DecodeError::foreignForm
               ? 0
               : 1;
}
#else
int main() {
}
#endif
