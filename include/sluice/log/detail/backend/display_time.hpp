#pragma once

#include <sluice/log/detail/format/record_head.hpp>
#include <sluice/log/detail/lanes/stamp_clock.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace sluice::log::detail {

/// The times that are printed, which do not step back from line to line.
///
/// Records are ordered by their stamps. spdlog's own time of a record is read a little earlier, and
/// how much earlier depends on what happens to the thread in between; so in the order of the stamps
/// these times would step back now and then. A record with a time earlier than that of the line
/// before it shows the time of the line before it. So it is for a record that was held up, by a
/// full lane or by the scheduler. So it is, too, after spdlog's clock was set back: until the clock
/// has caught up, all lines show the last time from before.
///
/// Printed as it is: a time that is marked as the caller's own, or as that of a backtrace's line.
///
/// One thread at a time: the back end's.
///
/// Tests: tests/unit/log/display_time_test.cpp.
class DisplayTime {
public:
    using time_point = spdlog::log_clock::time_point;
    using SteadyTime = std::chrono::steady_clock::time_point;

    /// Three clocks at one moment: that of the stamps, a steady one and that of the printed times.
    /// To be called once a harvest, since spdlog's clock may be set.
    void adjust(Key key, SteadyTime steady, time_point wall) noexcept {
        if (isSet_ && key > first_.key && steady > first_.steady) {
            ticksLength_ = inTicks(steady - first_.steady) / double(key - first_.key);
        } else if (!isSet_ || key < now_.key) {
            first_ = Moment{key, steady, wall};  // the first one, or the stamps have begun again
            isSet_ = true;
        }
        now_ = Moment{key, steady, wall};
    }

    /// What is printed for a record with this stamp.
    time_point show(const RecordHead& head, Key key) noexcept {
        if ((head.flags & RecordHead::keepsTime) != 0) {
            return head.time;
        }
        const bool hasTime = (head.flags & RecordHead::hasNoTime) == 0;
        shown_ = std::max(shown_, hasTime ? head.time : at(key));
        return shown_;
    }

private:
    struct Moment {
        Key key = 0;
        SteadyTime steady{};
        time_point wall{};
    };

    template <class Duration>
    static double inTicks(Duration duration) noexcept {
        return std::chrono::duration<double, time_point::period>(duration).count();
    }

    /// The time of spdlog's clock when the stamp was taken. A stamp that is later than the last
    /// adjustment was taken before the stamps began again.
    time_point at(Key key) const noexcept {
        const double ticks = double(now_.key - std::min(key, now_.key));
        return now_.wall - time_point::duration(static_cast<time_point::rep>(ticks * ticksLength_));
    }

    bool isSet_ = false;
    Moment first_;
    Moment now_;
    double ticksLength_ = 0;  // of a stamp, in ticks of the printed times
    time_point shown_{};
};

}  // namespace sluice::log::detail
