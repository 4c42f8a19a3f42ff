#pragma once

#include <chrono>
#include <optional>

namespace sluice::detail {

/// Counts the restarts that the traits of an active object still allow. Only the object's thread
/// uses it.
template <class Traits>
class RestartBudget {
    using Clock = typename Traits::Platform::Clock;
    static_assert(Traits::restartBackOff >= std::chrono::nanoseconds::zero() &&
                      Traits::maxRestartBackOff >= Traits::restartBackOff,
                  "restartBackOff must be at least 0 and at most maxRestartBackOff");

public:
    /// Counts one restart. Returns the time to wait before it. Empty if the limit of restarts is
    /// reached.
    std::optional<std::chrono::nanoseconds> take(typename Clock::time_point now) {
        if (used_ == 0 || now - begin_ >= Traits::restartPeriod) {
            begin_ = now;
            used_ = 0;
            backOff_ = Traits::restartBackOff;
        }
        if (used_ >= Traits::restartLimit) {
            return std::nullopt;
        }
        ++used_;
        const auto wait = backOff_;
        // Compares with the half, because doubling a very long duration would overflow.
        backOff_ = wait > Traits::maxRestartBackOff / 2 ? Traits::maxRestartBackOff : wait * 2;
        return wait;
    }

private:
    typename Clock::time_point begin_{};  ///< time of the first restart in the present period
    unsigned used_ = 0;                   ///< restarts in the present period
    std::chrono::nanoseconds backOff_{};  ///< the wait before the next restart
};

}  // namespace sluice::detail
