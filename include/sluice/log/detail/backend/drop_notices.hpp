#pragma once

#include <sluice/base/overflow.hpp>
#include <sluice/log/backend_options.hpp>
#include <sluice/log/detail/backend/display_time.hpp>
#include <sluice/log/detail/backend/logger_list.hpp>
#include <sluice/log/detail/backend/sink_writer.hpp>
#include <sluice/log/detail/format/record_head.hpp>
#include <sluice/log/detail/lanes/record_queue.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>

namespace sluice::log::detail {

/// Writes the lines "N records dropped" where records are missing.
///
/// Each line reports the dropped records that no earlier line has reported. The harvesting thread
/// calls all members.
///
/// Tests: tests/unit/log/backend_test.cpp.
class DropNotices {
public:
    using Records = RecordQueue<RecordHead>;
    using TimePoint = std::chrono::steady_clock::time_point;

    explicit DropNotices(std::chrono::nanoseconds interval) noexcept : interval_(interval) {}

    /// Whether records are missing and the interval has passed. After true, tell() or cancel() must
    /// follow.
    bool isDue(TimePoint now, LoggerList& loggers, const Records& records) noexcept {
        if (now < next_ || isTelling_) {
            return false;
        }
        next_ = now + std::min(interval_, longestInterval);
        std::uint64_t dropped = 0;
        loggers.forEach([&](const LoggerState& logger) { dropped += untold(logger, records); });
        isTelling_ = dropped != 0;
        return isTelling_;
    }

    /// Called instead of tell() if the notice could not be sent. The notice becomes due again.
    void cancel() noexcept { isTelling_ = false; }

    /// Writes a line for each logger with missing records. `reached` is the last watermark.
    void tell(LoggerList& loggers, const Records& records, SinkWriter& writer, DisplayTime& times,
              Stamp reached) noexcept {
        isTelling_ = false;
        loggers.forEach(
            [&](LoggerState& logger) { tell(logger, records, writer, times, reached); });
    }

    /// Writes a line through this logger, if records of it are missing.
    void tell(LoggerState& logger, const Records& records, SinkWriter& writer, DisplayTime& times,
              Stamp reached) noexcept {
        const std::uint64_t dropped = untold(logger, records);
        if (interval_ == no_limit || dropped == 0) {
            return;
        }
        logger.told = rejectedOf(logger);
        if (&logger == lastDropping_) {
            toldDropped_ = records.statistics().dropped;
        }
        RecordHead head{};
        head.flags = RecordHead::hasNoTime;
        writer.tell(logger, dropped, times.show(head, reached));
    }

    /// Called for each record that is written, with its logger.
    void noteWriter(LoggerState& logger) noexcept {
        if (logger.policy == Overflow::dropOldest) {
            lastDropping_ = &logger;
        }
    }

    /// Called when the logger ends.
    void forget(const LoggerState& logger) noexcept {
        if (lastDropping_ == &logger) {
            lastDropping_ = nullptr;
        }
    }

    /// Called in the child of a fork. The parent reports the records that were dropped before.
    void forgetAll(LoggerList& loggers) noexcept {
        isTelling_ = false;
        lastDropping_ = nullptr;
        toldDropped_ = 0;
        loggers.forEach([](LoggerState& logger) { logger.told = rejectedOf(logger); });
    }

private:
    static constexpr std::chrono::nanoseconds longestInterval = std::chrono::hours(24);

    // Relaxed: no other data depends on a count.
    static std::uint64_t rejectedOf(const LoggerState& logger) noexcept {
        return logger.rejected.load(std::memory_order_relaxed);
    }

    /// Returns the number of dropped records that no line has reported. The lanes do not know the
    /// loggers of overrun records, so all overrun records count for one logger: of those with
    /// Overflow::dropOldest, the one that wrote last.
    std::uint64_t untold(const LoggerState& logger, const Records& records) const noexcept {
        return rejectedOf(logger) - logger.told +
               (&logger == lastDropping_ ? records.statistics().dropped - toldDropped_ : 0);
    }

    const std::chrono::nanoseconds interval_;
    TimePoint next_{};  ///< the earliest time of the next line
    /// The last writer of those with policy overrun_oldest; or null.
    const LoggerState* lastDropping_ = nullptr;
    std::uint64_t toldDropped_ = 0;  ///< overrun records that a line has reported
    bool isTelling_ = false;         ///< a notice was sent and has not run yet
};

}  // namespace sluice::log::detail
