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

/// The same as a type, for rounds that a test gives another time.
struct SteadyClock {
    static Nanoseconds now() noexcept { return bench::now(); }
};

}  // namespace sluice::bench
