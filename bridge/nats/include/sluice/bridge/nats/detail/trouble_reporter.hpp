#pragma once

#include <sluice/base/spin_lock.hpp>
#include <sluice/bridge/nats/options.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace sluice::nats::detail {

/// Tells the observer about trouble of a link or a route. The observer gets the same line once in
/// ten minutes, however often its cause occurs. If there are more than 32 lines, the oldest one is
/// forgotten, and told again.
///
/// Threads: any thread may call it. It does not allocate, because the program may have no memory
/// left. If a thread of low priority is preempted in it, it does not delay a thread of high
/// priority.
class TroubleReporter {
public:
    using Parts = std::initializer_list<std::string_view>;

    /// The observer may be null. Each line begins with `prefix`.
    explicit TroubleReporter(BridgeObserver* observer, std::string prefix = {})
        : observer_(observer), prefix_(std::move(prefix)) {}

    /// Tells the observer one line that consists of these parts, except if it was told this line in
    /// the last ten minutes. It cuts the line after 511 bytes. Lines that differ only in `detail`
    /// are the same line.
    void tell(Parts parts, Parts detail = {}) noexcept;

private:
    using Clock = std::chrono::steady_clock;
    struct Line {
        std::size_t hash;
        Clock::time_point forgotten;  ///< from then on the line is new again
    };

    bool isNew(Parts parts) noexcept;

    BridgeObserver* const observer_;
    const std::string prefix_;
    SpinLock mutex_;                ///< guards the following; nothing foreign runs under it
    std::array<Line, 32> lines_{};  ///< the lines that the observer was told
};

}  // namespace sluice::nats::detail
