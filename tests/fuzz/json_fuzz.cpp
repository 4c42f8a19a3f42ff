// Random texts for wire::fromJson(). Each message that it accepts must come back the same after
// toJson().
#include <sluice/fixed/fixed_string.hpp>
#include <sluice/fixed/fixed_vector.hpp>
#include <sluice/wire/describe.hpp>
#include <sluice/wire/json.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
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
    std::uint64_t natural = 0;
    float real = 0;
    std::string text;
    FixedString<8> name;
    std::vector<Node> nodes;
    FixedVector<std::int16_t, 4> few;
    std::array<std::uint8_t, 3> bytes{};
    std::optional<std::int32_t> perhaps;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* bytes, std::size_t size) {
    Everything message;
    const std::string_view text(reinterpret_cast<const char*>(bytes), size);
    if (wire::fromJson(text, message) != wire::DecodeError::none) {
        return 0;
    }
    const std::string first = wire::toJson(message);
    Everything again;
    if (wire::fromJson(first, again) != wire::DecodeError::none || wire::toJson(again) != first) {
        std::abort();
    }
    return 0;
}
