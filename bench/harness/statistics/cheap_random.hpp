#pragma once

/// \file
/// Random numbers for rounds.

#include <cstddef>
#include <cstdint>

namespace sluice::bench {

/// Cheap random numbers, the same for all subjects.
class CheapRandom {
public:
    std::size_t below(std::size_t limit) noexcept {
        state_ = state_ * 6364136223846793005u + 1442695040888963407u;
        return std::size_t((state_ >> 32U) * limit >> 32U);
    }

private:
    std::uint64_t state_ = 1;
};

}  // namespace sluice::bench
