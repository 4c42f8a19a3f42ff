#pragma once

#include <sluice/log/file_rotation.hpp>

#include <spdlog/common.h>
#include <spdlog/details/os.h>

#include <cstddef>
#include <ctime>
#include <utility>

namespace sluice::log::detail {

/// Decides when a file_sink begins a new file. Threads: one thread at a time.
///
/// Tests: tests/unit/log/file_rotation_test.cpp.
class RotationPlan {
public:
    using Time = spdlog::log_clock::time_point;

    RotationPlan() = default;
    RotationPlan(file_rotation rotation, Time lastWritten) : rotation_(std::move(rotation)) {
        if (rotation_.daily) {
            nextDay_ = dayAfter(lastWritten);
        }
    }

    /// Whether a record of this time belongs to the next file. The present file has `bytes` bytes.
    bool isDue(std::size_t bytes, Time time) const noexcept {
        return (rotation_.max_bytes != 0 && bytes >= rotation_.max_bytes + failedAt_) ||
               time >= nextDay_;
    }

    /// Whether a line is too long for the present file. With the line, the file grows from `before`
    /// to `after` bytes.
    bool isTooLarge(std::size_t before, std::size_t after) const noexcept {
        return rotation_.max_bytes != 0 && before > failedAt_ &&
               after > rotation_.max_bytes + failedAt_;
    }

    /// Called when a new file was begun.
    void done(Time time) {
        failedAt_ = 0;
        skipDays(time);
    }

    /// Called when no new file could be begun. The next attempt is made after max_bytes more, or on
    /// the next day.
    void failed(std::size_t bytes, Time time) {
        failedAt_ = bytes;
        skipDays(time);
    }

    /// Calls the hook of the user.
    void tell(const spdlog::filename_t& rotated) const {
        if (rotation_.after_rotation) {
            rotation_.after_rotation(rotated);
        }
    }

private:
    void skipDays(Time time) {
        if (time >= nextDay_) {
            nextDay_ = dayAfter(time);
        }
    }

    Time dayAfter(Time time) const {
        std::tm day = spdlog::details::os::localtime(spdlog::log_clock::to_time_t(time));
        day.tm_hour = rotation_.hour;
        day.tm_min = rotation_.minute;
        day.tm_sec = 0;
        day.tm_isdst = -1;
        Time next = spdlog::log_clock::from_time_t(std::mktime(&day));
        if (next <= time) {
            ++day.tm_mday;
            day.tm_hour = rotation_.hour;
            day.tm_isdst = -1;
            next = spdlog::log_clock::from_time_t(std::mktime(&day));
        }
        return next;
    }

    file_rotation rotation_;
    Time nextDay_ = Time::max();
    std::size_t failedAt_ = 0;  ///< bytes of the file at the last failed attempt; 0: none failed
};

}  // namespace sluice::log::detail
