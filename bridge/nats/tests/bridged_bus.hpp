#pragma once

#include <sluice/bridge/nats/nats_bridge.hpp>

#include <array>
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace sluice::test {

struct Position {
    int robot = 0;
    double x = 0;
};
constexpr auto describe(wire::Type<Position>) {
    return wire::fields(wire::field("robot", &Position::robot), wire::field("x", &Position::x));
}
struct Picture {
    std::array<unsigned char, 2000> pixels{};
};

struct BridgedTraits : FullBusTraits {
    static constexpr bool origins = true;
    static constexpr std::size_t depth = 64;
};
using TestBus = Bus<Messages<Position, Picture>, BridgedTraits>;
using TestBridge = nats::NatsBridge<TestBus>;

/// Calls the function and returns the text of its exception.
template <class Function, class = std::enable_if_t<std::is_invocable_v<Function&>>>
std::string failureOf(Function&& function) {
    try {
        function();
    } catch (const std::runtime_error& error) {
        return error.what();
    }
    return "no failure";
}

/// The same for the constructor of a bridge with these options.
inline std::string failureOf(const nats::NatsOptions& options) {
    return failureOf([&] {
        const auto bus = std::make_unique<TestBus>();
        const TestBridge bridge(*bus, options);
    });
}

}  // namespace sluice::test
