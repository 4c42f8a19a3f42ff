#pragma once

#include <sluice/log/backend_options.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace sluice::log::detail {

/// Decides how long the worker rests between two harvests, as `pacing_policy` says.
///
/// `park`: after a harvest the worker sleeps until a logging thread wakes it. The thread that wakes
/// it pays a system call. Later log calls pay none until the worker sleeps again. A lone record is
/// written as soon as the system lets the worker run.
///
/// While records flow, `park` naps instead. Waking the worker for each record would cost more than
/// the record. And each look at a lane takes the cache line from the thread that is writing to it.
/// So after each harvest the worker naps, and the next harvest is larger. After a harvest of
/// `large` records it does not nap. Records flow if, compared with one record in each `flowGap`,
/// `flowStart` more records have come. A record then waits for at most one nap and the time that
/// the system adds to a nap, on Linux 50 microseconds.
///
/// `nap`: no thread wakes the worker. Its naps grow to half a millisecond while there are no
/// records. `spin`: the worker does not rest.
///
/// Tests: tests/unit/log/idle_pacing_test.cpp, tests/unit/log/pacing_policy_test.cpp.
class IdlePacing {
public:
    using TimePoint = std::chrono::steady_clock::time_point;
    using Rest = std::chrono::nanoseconds;

    /// The worker does not rest.
    static constexpr Rest none{0};
    /// The worker sleeps until it is woken.
    static constexpr Rest untilWoken = Rest::max();

    /// Records that come closer together than this, on average, flow.
    static constexpr Rest flowGap = std::chrono::microseconds(50);
    /// Records flow if this many more have come than one in each flowGap.
    static constexpr std::uint64_t flowStart = 32;
    /// After a harvest of this many records the worker does not rest.
    static constexpr std::uint64_t large = 512;
    static constexpr Rest shortestNap = std::chrono::microseconds(15);
    static constexpr Rest longestNap = 32 * shortestNap;

    explicit IdlePacing(pacing_policy policy) noexcept : policy_(policy) {}

    /// Returns the rest after a harvest that delivered this many records. `now` is the start of
    /// that harvest.
    Rest after(std::uint64_t delivered, TimePoint now) noexcept {
        switch (policy_) {
        case pacing_policy::spin:
            return none;
        case pacing_policy::nap:
            return restToNap(delivered);
        default:
            return restToPark(delivered, now);
        }
    }

private:
    Rest restToNap(std::uint64_t delivered) noexcept {
        nap_ = delivered == 0 ? std::min(2 * nap_, longestNap) : shortestNap;
        return delivered < large ? nap_ : none;
    }

    Rest restToPark(std::uint64_t delivered, TimePoint now) noexcept {
        const auto counted = static_cast<Rest::rep>(std::min(delivered, 2 * flowStart));
        flowUntil_ = std::min(std::max(flowUntil_, now) + counted * flowGap,
                              now + Rest::rep{2 * flowStart} * flowGap);
        if (delivered == 0) {
            return untilWoken;
        }
        if (delivered >= large) {
            return none;
        }
        return flowUntil_ - now > Rest::rep{flowStart} * flowGap ? shortestNap : untilWoken;
    }

    const pacing_policy policy_;
    Rest nap_ = shortestNap;
    /// Each record adds `flowGap` to this time. It is never before the present. So its distance
    /// from the present tells how many records have come in excess of one in each `flowGap`.
    TimePoint flowUntil_{};
};

}  // namespace sluice::log::detail
