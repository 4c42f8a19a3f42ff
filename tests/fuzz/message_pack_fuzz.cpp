// Random bytes for wire::decode(). Each message that it accepts must come back the same after
// encode().
#include <sluice/fixed/fixed_string.hpp>
#include <sluice/fixed/fixed_vector.hpp>
#include <sluice/wire/describe.hpp>
#include <sluice/wire/message_pack.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

namespace {

using namespace sluice;

struct Node {
    std::int32_t number = 0;
    double weight = 0;
    std::vector<Node> children;
    /// Two arrays, so that each map lies at an even depth. Otherwise an empty map of the deepest
    /// level is accepted, and its fields are too deep when they are written.
    std::vector<std::array<std::array<Node, 1>, 1>> boxes;
};

/// A field of each kind that a message can have.
struct Everything {
    bool flag = false;
    std::int64_t wide = 0;
    std::uint8_t narrow = 0;
    float real = 0;
    std::string text;
    FixedString<8> shortText;
    std::vector<Node> nodes;
    FixedVector<std::int16_t, 4> few;
    std::array<std::uint8_t, 3> bytes{};
    std::optional<std::int32_t> perhaps;
};

constexpr auto describe(wire::Type<Everything>) {
    using wire::field;
    return wire::fields(field("flag", &Everything::flag), field("wide", &Everything::wide),
                        field("narrow", &Everything::narrow), field("real", &Everything::real),
                        field("text", &Everything::text), field("short", &Everything::shortText),
                        field("nodes", &Everything::nodes), field("few", &Everything::few),
                        field("bytes", &Everything::bytes), field("perhaps", &Everything::perhaps));
}

std::vector<unsigned char> encoded(const Everything& message, std::size_t room) {
    std::vector<unsigned char> bytes(room);
    wire::Buffer buffer(bytes.data(), bytes.size());
    if (!wire::encode(message, buffer)) {
        std::abort();
    }
    bytes.resize(buffer.size());
    return bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* bytes, std::size_t size) {
    Everything message;
    if (wire::decode(bytes, size, message) != wire::DecodeError::none) {
        return 0;
    }
    // A value takes 9 bytes at most, and each element has taken one.
    const std::size_t room = 64 * size + 400;
    const auto first = encoded(message, room);
    Everything again;
    if (wire::decode(first.data(), first.size(), again) != wire::DecodeError::none ||
        encoded(again, room) != first) {
        std::abort();
    }
    return 0;
}
