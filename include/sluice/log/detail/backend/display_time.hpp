#pragma once

#include <sluice/log/detail/format/record_head.hpp>
#include <sluice/log/detail/lanes/stamp_clock.hpp>

#include <algorithm>
#include <chrono>

namespace sluice::log::detail {

/// Computes the printed times. They never decrease from line to line.
///
/// Stamps order the records. spdlog reads its own time of a record a little earlier than the stamp.
/// The distance varies, for example if the thread is preempted in between. So spdlog's times may
/// decrease in the order of the stamps. A record whose time is before that of the last line shows
/// the time of the last line. This also holds in two other cases: the record has waited for room,
/// or spdlog's clock was set back. Until the clock has caught up, all lines show the last time from
/// before.
///
/// Two times are printed unchanged: a time that the caller gave, and the time of a line of a
/// backtrace.
///
/// Threads: only the harvesting thread calls the members.
///
/// Tests: tests/unit/log/display_time_test.cpp.
class DisplayTime {
public:
    using time_point = spdlog::log_clock::time_point;
    using SteadyTime = std::chrono::steady_clock::time_point;

    /// Notes the readings of three clocks at one moment: the clock of the stamps, a steady clock,
    /// and spdlog's clock. Called once in each harvest, because spdlog's clock may be set.
    void adjust(Stamp stamp, SteadyTime steady, time_point wall) noexcept {
        if (isSet_ && stamp > first_.stamp && steady > first_.steady) {
            ticksLength_ = inTicks(steady - first_.steady) / double(stamp - first_.stamp);
        } else if (!isSet_ || stamp < now_.stamp) {
            // This is the first moment, or the clock of the stamps has started again.
            first_ = Moment{stamp, steady, wall};
            isSet_ = true;
        }
        now_ = Moment{stamp, steady, wall};
    }

    /// Returns the printed time of a record with this stamp.
    time_point show(const RecordHead& head, Stamp stamp) noexcept {
        if ((head.flags & RecordHead::keepsTime) != 0) {
            return head.time;
        }
        const bool hasTime = (head.flags & RecordHead::hasNoTime) == 0;
        shown_ = std::max(shown_, hasTime ? head.time : at(stamp));
        return shown_;
    }

private:
    struct Moment {
        Stamp stamp = 0;
        SteadyTime steady{};
        time_point wall{};
    };

    template <class Duration>
    static double inTicks(Duration duration) noexcept {
        return std::chrono::duration<double, time_point::period>(duration).count();
    }

    /// Returns the time of spdlog's clock when the stamp was taken. A stamp that is later than the
    /// last adjustment was taken before the clock of the stamps started again. It gets the time of
    /// the adjustment.
    time_point at(Stamp stamp) const noexcept {
        const double ticks = double(now_.stamp - std::min(stamp, now_.stamp));
        return now_.wall - time_point::duration(static_cast<time_point::rep>(ticks * ticksLength_));
    }

    bool isSet_ = false;      ///< whether adjust() was called
    Moment first_;            ///< the first adjust() since the clock of the stamps started
    Moment now_;              ///< the moment of the last adjust()
    double ticksLength_ = 0;  ///< length of one tick of the stamps, in ticks of the printed times
    time_point shown_{};      ///< the last printed time
};

}  // namespace sluice::log::detail
