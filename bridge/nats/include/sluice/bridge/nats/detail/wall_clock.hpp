#pragma once

#include <chrono>
#include <cstdint>

namespace sluice::nats::detail {

/// The present time in nanoseconds since 1970-01-01 UTC.
inline std::int64_t wallClock() noexcept {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

}  // namespace sluice::nats::detail
