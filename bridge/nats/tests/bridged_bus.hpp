#pragma once

#include <sluice/bridge/nats/nats_bridge.hpp>

#include <array>
#include <cstddef>

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

}  // namespace sluice::test
