#pragma once

/// \file
/// The one clock of all measurements, in nanoseconds.

#include <chrono>
#include <cstdint>

namespace sluice::bench {

using Nanoseconds = std::int64_t;

inline Nanoseconds now() noexcept {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

}  // namespace sluice::bench
