#pragma once

#include "samples.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace hostwatch {

/// Last, smallest, mean and largest value of a figure over the last ten seconds, in fixed memory.
///
/// The window is cut into slots of a quarter of a second and moves by whole slots, so it covers
/// 9.75 to 10 seconds. The mean is that of the values, each counting once, however long it stood.
/// One thread.
class RollingFigure {
public:
    static constexpr std::size_t slotCount = 40;
    static constexpr std::chrono::milliseconds slotLength{250};

    struct Summary {
        double last;
        double min;
        double mean;
        double max;
    };

    /// Takes in a value; one that is older than the window is ignored.
    void add(double value, Clock::time_point at) noexcept {
        const std::int64_t number = slotNumber(at);
        Slot& slot = slots_[static_cast<std::size_t>(number) % slotCount];
        if (number < slot.number) {
            return;
        }
        if (number > slot.number) {
            slot = Slot{number, 0, 0, value, value};
        }
        ++slot.count;
        slot.sum += value;
        slot.min = std::min(slot.min, value);
        slot.max = std::max(slot.max, value);
        last_ = value;
    }

    /// The figures at `now`; nothing when no value lies in the window.
    std::optional<Summary> summary(Clock::time_point now) const noexcept {
        const std::int64_t oldest = slotNumber(now) - static_cast<std::int64_t>(slotCount) + 1;
        Slot all;
        for (const Slot& slot : slots_) {
            if (slot.count != 0 && slot.number >= oldest) {
                all.min = all.count == 0 ? slot.min : std::min(all.min, slot.min);
                all.max = all.count == 0 ? slot.max : std::max(all.max, slot.max);
                all.count += slot.count;
                all.sum += slot.sum;
            }
        }
        if (all.count == 0) {
            return std::nullopt;
        }
        return Summary{last_, all.min, all.sum / static_cast<double>(all.count), all.max};
    }

    /// The newest value in the window, 0 when there is none.
    double lastOrZero(Clock::time_point now) const noexcept {
        const auto figures = summary(now);
        return figures ? figures->last : 0;
    }

    /// The largest value in the window, 0 when there is none.
    double maxOrZero(Clock::time_point now) const noexcept {
        const auto figures = summary(now);
        return figures ? figures->max : 0;
    }

private:
    struct Slot {
        std::int64_t number = -1;  ///< which quarter of a second since the clock's zero
        std::uint64_t count = 0;
        double sum = 0;
        double min = 0;
        double max = 0;
    };

    static std::int64_t slotNumber(Clock::time_point at) noexcept {
        return at.time_since_epoch() / slotLength;
    }

    std::array<Slot, slotCount> slots_{};
    double last_ = 0;
};

}  // namespace hostwatch
