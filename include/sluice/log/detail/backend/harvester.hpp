#pragma once

#include <sluice/log/backend_options.hpp>
#include <sluice/log/detail/backend/action_list.hpp>
#include <sluice/log/detail/backend/display_time.hpp>
#include <sluice/log/detail/backend/drop_notices.hpp>
#include <sluice/log/detail/backend/flush_requests.hpp>
#include <sluice/log/detail/backend/logger_list.hpp>
#include <sluice/log/detail/backend/sink_writer.hpp>
#include <sluice/log/detail/lanes/record_queue.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <future>
#include <memory>
#include <new>
#include <utility>

namespace sluice::log::detail {

/// Writes records into the sinks, and runs actions, in the order of their stamps.
///
///     look at the lanes -> the watermark -> records and actions before it -> flushes -> notices
///
/// Threads: the harvesting thread may call any member. Any other thread may call only the members
/// that say so.
///
/// Errors: the error handler of a logger gets the errors of the logger's sinks.
///
/// Tests: tests/unit/log/backend_test.cpp, tests/stress/log_order_stress_test.cpp.
class Harvester {
public:
    using Records = RecordQueue<RecordHead>;
    using TimePoint = std::chrono::steady_clock::time_point;

    /// When the batch sinks write the text of a harvest: at once, or when `write_interval` has
    /// passed since the last write.
    enum class Writing : unsigned char { atOnce, whenDue };

    /// The action that flushes the sinks of all loggers, after all earlier records.
    class FlushSinks : public OrderedAction {
    public:
        explicit FlushSinks(Harvester& harvester) noexcept : harvester_(harvester) {}

        /// Returns the future result of flushSinks(). It is false if the back end ends first. Call
        /// it once.
        std::future<bool> result() { return result_.get_future(); }

        void run() noexcept override { result_.set_value(harvester_.flushSinks()); }
        void abandon() noexcept override { result_.set_value(false); }

    private:
        Harvester& harvester_;
        std::promise<bool> result_;
    };

    Harvester(Records& queue, LoggerList& loggers, ActionList& actions,
              std::chrono::nanoseconds noticeInterval, std::chrono::nanoseconds writeInterval)
        : queue_(queue),
          loggers_(loggers),
          actions_(actions),
          writeInterval_(std::min(writeInterval, longestWriteInterval)),
          drops_(noticeInterval) {
        readClocks(std::chrono::steady_clock::now());
    }
    Harvester(const Harvester&) = delete;
    Harvester& operator=(const Harvester&) = delete;

    /// Writes the earlier records and runs the earlier actions. Returns the watermark. If there is
    /// no memory, it returns 0; each record that it took out of a lane is written even then.
    Stamp harvest(Writing writing) noexcept {
        try {
            return tryHarvest(writing);
        } catch (const std::bad_alloc&) {
            return 0;
        }
    }

    /// Returns the time at which the last harvest began.
    TimePoint begun() const noexcept { return begun_; }

    /// Called after the last harvest. Reports missing records and flushes the sinks.
    void finish() noexcept {
        if (!isAbandoned()) {
            tellOfAllDrops();
            writer_.endBatch();
            isFlushed_ = flushSinks();
        }
    }

    /// Whether finish() has flushed all sinks without an error.
    bool isFlushed() const noexcept { return isFlushed_; }

    /// Flushes the sinks of all loggers. False if that failed, or if since the last call another
    /// flush failed or a sink lost a record.
    bool flushSinks() noexcept {
        const std::uint64_t toldBefore = std::exchange(toldLost_, lost());
        const bool wasFlushed = writer_.takeIsFlushed();
        return loggers_.flush() && wasFlushed && toldLost_ == toldBefore;
    }

    /// Requests a flush of this logger's sinks after all records with smaller stamps are written.
    /// Any thread may call it.
    void wantFlush(LoggerState& logger, Stamp stamp) noexcept { flushes_.want(logger, stamp); }

    /// Writes a line "N records dropped" if records of this logger are missing.
    void tellOfDrops(LoggerState& logger) noexcept {
        drops_.tell(logger, queue_, writer_, display_, reached_);
    }

    void tellOfAllDrops() noexcept { drops_.tell(loggers_, queue_, writer_, display_, reached_); }

    /// Called when a logger has ended and its last records are written.
    void forget(LoggerState& logger) noexcept {
        FlushRequests::carryOut(logger, writer_, endOfTime);
        drops_.forget(logger);
    }

    /// Called in the child of a fork. The parent reports the earlier drops and carries out the
    /// earlier flushes.
    void forgetAll() noexcept {
        drops_.forgetAll(loggers_);
        loggers_.forEach([](LoggerState& logger) { FlushRequests::forget(logger); });
    }

    /// Makes a running harvest end early, and later ones write no records. Any thread may call it.
    /// Relaxed: a hint.
    void abandon() noexcept { isAbandoned_.store(true, std::memory_order_relaxed); }
    bool isAbandoned() const noexcept { return isAbandoned_.load(std::memory_order_relaxed); }

    /// The number of records that all sinks have accepted, and of those that a sink has refused.
    /// Any thread may call these. Relaxed: no other data depends on a count.
    std::uint64_t written() const noexcept { return written_.load(std::memory_order_relaxed); }
    std::uint64_t lost() const noexcept { return lost_.load(std::memory_order_relaxed); }

    /// The sum of written() and lost().
    std::uint64_t seen() const noexcept { return written() + lost(); }

private:
    /// Records. After this many the harvest gives their room back, and checks whether it must end
    /// early.
    static constexpr std::size_t longestChunk = 1024;

    /// A longer interval could overflow when it is added to a time.
    static constexpr std::chrono::nanoseconds longestWriteInterval = std::chrono::hours(24);

    void readClocks(TimePoint now) noexcept {
        display_.adjust(queue_.now(), now, spdlog::log_clock::now());
    }

    Stamp tryHarvest(Writing writing) {
        begun_ = std::chrono::steady_clock::now();
        const ActionList::Mark sent = actions_.newest();
        Stamp limit = queue_.look();
        // If the stamp of an action is later than the present time, the clock has started again.
        const bool isSentBefore = sent.stamp != 0 && sent.stamp > queue_.now();
        if (__builtin_expect(isSentBefore, 0)) {
            limit = queue_.look();
        }
        reached_ = limit;
        readClocks(begun_);
        if (__builtin_expect(isSentBefore || limit == endOfTime, 0)) {
            write(limit);
            actions_.takeUntil(sent, [&](OrderedAction& action, Stamp) { carryOut(action); });
        } else {
            actions_.takeBefore(limit, [&](OrderedAction& action, Stamp stamp) {
                write(stamp);
                carryOut(action);
            });
        }
        write(limit);
        if (writer_.hasBatch() &&
            (writing == Writing::atOnce || begun_ >= writeDue_ || writer_.hasMuch())) {
            writer_.endBatch();
            writeDue_ = begun_ + writeInterval_;
        }
        flushes_.carryOut(loggers_, writer_, limit);
        lookForDrops();
        return limit;
    }

    void carryOut(OrderedAction& action) {
        writer_.endBatch();
        action.run();
        writer_.endBatch();  // now, because a later action may end a logger and its sinks
    }

    void lookForDrops() noexcept {
        if (!drops_.isDue(begun_, loggers_, queue_)) {
            return;
        }
        // An action writes the lines about missing records, so that they follow the earlier
        // records.
        std::unique_ptr<OrderedAction> notice(new (std::nothrow)
                                                  FunctionAction([this] { tellOfAllDrops(); }));
        if (notice == nullptr ||
            !actions_.push(notice, [this]() noexcept { return queue_.now(); })) {
            drops_.cancel();
            return;
        }
        queue_.wake();
    }

    /// Writes all visible records with stamps below `limit`.
    void write(Stamp limit) {
        std::size_t count = longestChunk;
        while (count != 0 && !isAbandoned()) {
            count = queue_.emitBefore(
                limit, longestChunk,
                [this](const Records::Record& record) {
                    drops_.noteWriter(*record.head.logger);
                    writer_.add(record.head, record.payload, record.size,
                                display_.show(record.head, record.stamp));
                },
                [this] { writer_.endRun(); });
            // Relaxed: only the harvesting thread writes them.
            const std::uint64_t newlyLost = writer_.takeLost();
            lost_.store(lost() + newlyLost, std::memory_order_relaxed);
            written_.store(written() + count - newlyLost, std::memory_order_relaxed);
        }
    }

    Records& queue_;
    LoggerList& loggers_;
    ActionList& actions_;
    FlushRequests flushes_;
    std::atomic<bool> isAbandoned_{false};
    SinkWriter writer_;
    DisplayTime display_;
    std::atomic<std::uint64_t> written_{0};
    std::atomic<std::uint64_t> lost_{0};
    std::uint64_t toldLost_ = 0;  ///< lost() at the last flushSinks()
    bool isFlushed_ = true;       ///< see isFlushed()
    TimePoint begun_{};           ///< see begun()
    const std::chrono::nanoseconds writeInterval_;
    TimePoint writeDue_{};  ///< the batch sinks do not write before this time
    DropNotices drops_;
    Stamp reached_ = 0;  ///< the last watermark
};

}  // namespace sluice::log::detail
