#pragma once

#include <cstdint>

namespace sluice::test {

/// Repeatable numbers of 32 bits (xorshift). The same seed gives the same numbers everywhere.
class Dice {
public:
    explicit Dice(std::uint32_t seed) noexcept : state_(seed | 1U) {}

    std::uint32_t operator()() noexcept {
        state_ ^= state_ << 13U;
        state_ ^= state_ >> 17U;
        state_ ^= state_ << 5U;
        return state_ >> 4U;
    }

private:
    std::uint32_t state_;
};

}  // namespace sluice::test
