#pragma once

/// \file
/// DisplayTime: the times that are printed, which do not step back from line to line.
///
/// Records are ordered by their stamps. spdlog's own time of a record is read a little earlier, and
/// how much earlier depends on what happens to the thread in between; so in the order of the stamps
/// these times would step back now and then. A record that was held up, by a full lane or by the
/// scheduler, shows the time of the line before it, if that is later than its own.
///
/// Printed as it is: a time that is the caller's own, or that of a line of a backtrace. If spdlog's
/// clock is set back, the printed times follow it.
///
/// One thread at a time: the back end's.
///
/// Tests: tests/unit/log/display_time_test.cpp.

#include <sluice/log/detail/record_head.hpp>
#include <sluice/log/detail/stamp_clock.hpp>

#include <chrono>
#include <cstdint>

namespace sluice::log::detail {

class DisplayTime {
public:
    using time_point = spdlog::log_clock::time_point;
    using SteadyTime = std::chrono::steady_clock::time_point;

    /// Three clocks at one moment: that of the stamps, a steady one and that of the printed times.
    /// To be called once a harvest, since spdlog's clock may be set.
    void adjust(Key key, SteadyTime steady, time_point wall) noexcept {
        if (isSet_ && key > first_.key && steady > first_.steady) {
            ticksLength_ = inTicks(steady - first_.steady) / double(key - first_.key);
        } else if (!isSet_) {
            first_ = Moment{key, steady, wall};
            isSet_ = true;
        }
        now_ = Moment{key, steady, wall};
        if (shown_ > wall + latest) {
            shown_ = time_point{};  // the clock was set back
        }
    }

    /// What is printed for a record with this stamp, which may have waited for room.
    time_point show(const RecordHead& head, Key key, bool hasWaited) noexcept {
        const bool hasTime = (head.flags & RecordHead::hasNoTime) == 0;
        const time_point time = hasTime ? head.time : at(key);
        if (hasTime && isOwn(head, key, hasWaited)) {
            return time;
        }
        if (time > shown_) {
            shown_ = time;
        }
        return shown_;
    }

private:
    /// No time that was read in the log call is so much older than the stamp, unless the call
    /// waited for room: that would be a thread that did not run for so long.
    static constexpr std::chrono::seconds oldest{1};
    /// Nor so much later than the clock.
    static constexpr std::chrono::milliseconds latest{10};

    /// Whether the time is not that of the call.
    bool isOwn(const RecordHead& head, Key key, bool hasWaited) const noexcept {
        return (head.flags & RecordHead::keepsTime) != 0 || head.time > now_.wall + latest ||
               (!hasWaited && head.time + oldest < at(key));
    }

    struct Moment {
        Key key = 0;
        SteadyTime steady{};
        time_point wall{};
    };

    template <class Duration>
    static double inTicks(Duration duration) noexcept {
        return std::chrono::duration<double, time_point::period>(duration).count();
    }

    /// The time of spdlog's clock when the stamp was taken.
    time_point at(Key key) const noexcept {
        const double ticks = key >= now_.key ? double(key - now_.key) : -double(now_.key - key);
        return now_.wall + time_point::duration(static_cast<time_point::rep>(ticks * ticksLength_));
    }

    bool isSet_ = false;
    Moment first_;
    Moment now_;
    double ticksLength_ = 0;  // of a stamp, in ticks of the printed times
    time_point shown_{};
};

}  // namespace sluice::log::detail
