#pragma once

#include <chrono>
#include <cstdint>

namespace sluice::nats::detail {

/// The present time in nanoseconds since 1970-01-01 UTC.
inline std::int64_t wallClock() noexcept {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

/// Converts the time stamps of a bus into nanoseconds since 1970-01-01 UTC. It compares the two
/// clocks at most once a millisecond, because reading a clock costs half as much as everything else
/// that a bridge does for a small message.
///
/// Threads: one thread at a time.
template <class Clock>
class WallTime {
public:
    using Stamp = typename Clock::time_point;

    std::int64_t of(Stamp stamp) noexcept {
        if (!isCompared_ || stamp - stamp_ >= std::chrono::milliseconds(1)) {
            isCompared_ = true;
            stamp_ = Clock::now();
            wall_ = wallClock();
        }
        return wall_ + std::chrono::duration_cast<std::chrono::nanoseconds>(stamp - stamp_).count();
    }

private:
    bool isCompared_ = false;
    Stamp stamp_;            ///< the last comparison: the reading of Clock
    std::int64_t wall_ = 0;  ///< the last comparison: nanoseconds since 1970-01-01 UTC
};

}  // namespace sluice::nats::detail
