#pragma once

#include <sluice/log/backend_options.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace sluice::log::detail {

/// Decides how long the worker rests between two harvests, as `pacing_policy` says.
///
/// `park`: after a harvest the worker sleeps until a logging thread wakes it. Waking costs the
/// logging thread a system call, once until the worker sleeps again. So a lone record is written as
/// soon as the system lets the worker run.
///
/// While records flow, waking the worker for each record would cost more than the record. Each look
/// at a lane also takes over the cache line that its thread is writing. So the worker naps after
/// each harvest, except after a large one, and the next harvest is larger. Records flow if
/// `flowStart` more of them have come than one in each `flowGap`. A record then waits for at most a
/// nap, and for the time that the system adds to a nap, on Linux 50 microseconds.
///
/// `nap`: no thread ever wakes the worker. Its naps grow to half a millisecond while there are no
/// records. `spin`: the worker does not rest.
///
/// Tests: tests/unit/log/idle_pacing_test.cpp, tests/unit/log/pacing_policy_test.cpp.
class IdlePacing {
public:
    using TimePoint = std::chrono::steady_clock::time_point;
    using Rest = std::chrono::nanoseconds;

    /// The next harvest follows at once.
    static constexpr Rest none{0};
    /// The worker sleeps until it is woken.
    static constexpr Rest untilWoken = Rest::max();

    static constexpr Rest flowGap = std::chrono::microseconds(50);
    static constexpr std::uint64_t flowStart = 32;
    static constexpr std::uint64_t large = 512;
    static constexpr Rest shortestNap = std::chrono::microseconds(15);
    static constexpr Rest longestNap = 32 * shortestNap;

    explicit IdlePacing(pacing_policy policy) noexcept : policy_(policy) {}

    /// The rest after a harvest that delivered so many records.
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
    /// Each record adds `flowGap` to it. It is never before the present. So its distance from the
    /// present says by how much records come closer together than `flowGap`.
    TimePoint flowUntil_{};
};

}  // namespace sluice::log::detail
