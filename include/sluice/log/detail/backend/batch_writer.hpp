#pragma once

#include <sluice/base/counter.hpp>
#include <sluice/log/backend_options.hpp>
#include <sluice/log/detail/backend/frontend.hpp>
#include <sluice/log/detail/backend/logger_state.hpp>
#include <sluice/log/detail/backend/sink_writer.hpp>
#include <sluice/log/detail/format/record_head.hpp>
#include <sluice/log/detail/lanes/stamp_clock.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <future>
#include <new>
#include <utility>

namespace sluice::log::detail {

/// Computes the printed time of a record without a time of its own, from its stamp.
class StampTimes {
public:
    using time_point = spdlog::log_clock::time_point;
    using SteadyTime = std::chrono::steady_clock::time_point;

    /// Notes the readings of three clocks at one moment: the clock of the stamps, a steady clock,
    /// and spdlog's clock. Called once in each batch, because spdlog's clock may be set.
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

    /// Returns the time of spdlog's clock when the stamp was taken. A stamp that is later than the
    /// last adjustment was taken before the clock of the stamps started again; it has the time of
    /// the adjustment.
    time_point at(Stamp stamp) const noexcept {
        const double ticks = double(now_.stamp - std::min(stamp, now_.stamp));
        return now_.wall - time_point::duration(static_cast<time_point::rep>(ticks * ticksLength_));
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

    bool isSet_ = false;      ///< whether adjust() was called
    Moment first_;            ///< the first adjust() since the clock of the stamps started
    Moment now_;              ///< the moment of the last adjust()
    double ticksLength_ = 0;  ///< length of one tick of the stamps, in ticks of the printed times
};

/// Writes records into the sinks, and runs actions, in the order of their stamps.
///
///     poll the lanes -> the watermark -> records and actions before it -> flushes -> notices
///
/// Thread safety: one thread at a time writes batches. Any other thread may call only the members
/// under "Any thread". The error handler of a logger receives the errors of its sinks.
class BatchWriter {
public:
    using Records = Frontend::Records;
    using TimePoint = std::chrono::steady_clock::time_point;

    /// When the batch sinks write the text of a batch: in each batch, or when `write_interval` has
    /// passed since the last write.
    enum class Writing : unsigned char { always, whenDue };

    /// The action that flushes the sinks of all loggers, after all earlier records.
    class FlushSinks final : public OrderedAction {
    public:
        explicit FlushSinks(BatchWriter& writer) noexcept : writer_(writer) {}

        /// The future result of flushSinks(), or false if the back end ends first. Call it once.
        std::future<bool> result() { return result_.get_future(); }

        void run() noexcept override { result_.set_value(writer_.flushSinks()); }
        void abandon() noexcept override { result_.set_value(false); }

    private:
        BatchWriter& writer_;
        std::promise<bool> result_;
    };

    BatchWriter(Records& queue, LoggerList& loggers, ActionList& actions,
                const backend_options& options)
        : queue_(queue),
          loggers_(loggers),
          actions_(actions),
          noticeInterval_(options.notice_interval),
          writeInterval_(std::min(options.write_interval, longestInterval)) {
        readClocks(std::chrono::steady_clock::now());
    }
    BatchWriter(const BatchWriter&) = delete;
    BatchWriter& operator=(const BatchWriter&) = delete;

    /// Writes the earlier records and runs the earlier actions. Returns the watermark. If there is
    /// no memory, it returns 0; each record that it took out of a lane is written even then.
    Stamp writeBatch(Writing writing) noexcept {
        try {
            return tryWriteBatch(writing);
        } catch (const std::bad_alloc&) {
            return 0;
        }
    }

    /// Returns the time at which the last batch began.
    TimePoint begun() const noexcept { return begun_; }

    /// Called after the last batch. Reports missing records and flushes the sinks.
    void finish() noexcept {
        if (!isAbandoned()) {
            reportDrops();
            sinks_.endBatch();
            isFlushed_ = flushSinks();
        }
    }

    /// Whether finish() has flushed all sinks without an error.
    bool isFlushed() const noexcept { return isFlushed_; }

    /// Flushes the sinks of all loggers. False if that failed, or if since the last call another
    /// flush failed or a sink lost a record.
    bool flushSinks() noexcept {
        const std::uint64_t before = std::exchange(reportedLost_, lost());
        const bool wasFlushed = sinks_.takeIsFlushed();
        return loggers_.flush() && wasFlushed && reportedLost_ == before;
    }

    /// Called when a logger ends, after its last records are written.
    void retire(LoggerState& logger) noexcept {
        reportDrops(logger);
        flushIfWanted(logger, endOfTime);
        if (lastDropping_ == &logger) {
            lastDropping_ = nullptr;
        }
    }

    /// Called in the child of a fork. The parent reports the earlier drops and carries out the
    /// earlier flushes.
    void resetInChild() noexcept {
        noticeAfter_ = 0;
        lastDropping_ = nullptr;
        reportedDropped_ = 0;
        loggers_.forEach([](LoggerState& logger) {
            logger.told = rejectedOf(logger);
            logger.flushTaken = 0;
            logger.flushWanted.store(0, std::memory_order_relaxed);  // relaxed: there is one thread
        });
    }

    // ---- Any thread

    /// Requests a flush of this logger's sinks after all records with smaller stamps are written.
    /// Each logger stores one stamp, so any number of requests takes no memory.
    void wantFlush(LoggerState& logger, Stamp stamp) noexcept {
        storeMax(logger.flushWanted, stamp);
        flushesWanted_.fetch_add(1, std::memory_order_release);
    }

    /// Makes a running batch end early, and later ones write no records. Relaxed: a hint.
    void abandon() noexcept { isAbandoned_.store(true, std::memory_order_relaxed); }
    bool isAbandoned() const noexcept { return isAbandoned_.load(std::memory_order_relaxed); }

    /// The number of records that all sinks have accepted, and of those that a sink has refused.
    /// Relaxed: no other data depends on a count.
    std::uint64_t written() const noexcept { return written_.load(std::memory_order_relaxed); }
    std::uint64_t lost() const noexcept { return lost_.load(std::memory_order_relaxed); }

    /// The sum of written() and lost().
    std::uint64_t seen() const noexcept { return written() + lost(); }

private:
    /// Records. After this many the batch frees their room, and checks whether it must end early.
    static constexpr std::size_t longestChunk = 1024;

    /// A longer interval could overflow when it is added to a time.
    static constexpr std::chrono::nanoseconds longestInterval = std::chrono::hours(24);

    void readClocks(TimePoint now) noexcept {
        times_.adjust(queue_.now(), now, spdlog::log_clock::now());
    }

    Stamp tryWriteBatch(Writing writing) {
        begun_ = std::chrono::steady_clock::now();
        const ActionList::Mark sent = actions_.newest();
        Stamp limit = queue_.poll();
        // If the stamp of an action is later than the present time, the clock has started again.
        const bool isSentBefore = sent.stamp != 0 && sent.stamp > queue_.now();
        if (__builtin_expect(isSentBefore, 0)) {
            limit = queue_.poll();
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
        if (sinks_.hasBatch() &&
            (writing == Writing::always || begun_ >= writeDue_ || sinks_.hasMuch())) {
            sinks_.endBatch();
            writeDue_ = begun_ + writeInterval_;
        }
        carryOutFlushes(limit);
        checkForDrops(limit);
        return limit;
    }

    /// Writes all visible records with stamps below `limit`.
    void write(Stamp limit) {
        std::size_t count = longestChunk;
        while (count != 0 && !isAbandoned()) {
            count = queue_.emitBefore(
                limit, longestChunk,
                [this](const Records::Record& record) {
                    if (record.head.logger->policy == Overflow::dropOldest) {
                        lastDropping_ = record.head.logger;
                    }
                    sinks_.add(record.head, record.payload, record.size,
                               (record.head.flags & RecordHead::hasNoTime) != 0
                                   ? times_.at(record.stamp)
                                   : record.head.time);
                },
                [this] { sinks_.endRun(); });
            // Relaxed: only this thread writes them.
            const std::uint64_t newlyLost = sinks_.takeLost();
            lost_.store(lost() + newlyLost, std::memory_order_relaxed);
            written_.store(written() + count - newlyLost, std::memory_order_relaxed);
        }
    }

    void carryOut(OrderedAction& action) {
        sinks_.endBatch();
        action.run();
        sinks_.endBatch();  // now, because a later action may end a logger and its sinks
    }

    // ---- Flushes

    /// Carries out the requests with stamps up to `limit`. All records with smaller stamps are
    /// written.
    void carryOutFlushes(Stamp limit) noexcept {
        const std::uint64_t wanted = flushesWanted_.load(std::memory_order_acquire);
        if (wanted == flushesDone_) {
            return;
        }
        bool isDone = true;
        loggers_.forEach(
            [&](LoggerState& logger) { isDone = flushIfWanted(logger, limit) && isDone; });
        flushesDone_ = isDone ? wanted : flushesDone_;
    }

    /// The same for one logger. False if its request has to wait. A request that was taken keeps
    /// its stamp, so later requests cannot delay it.
    bool flushIfWanted(LoggerState& logger, Stamp limit) noexcept {
        for (;;) {
            if (logger.flushTaken == 0) {
                // Relaxed: flushesWanted_ was acquired.
                logger.flushTaken = logger.flushWanted.exchange(0, std::memory_order_relaxed);
            }
            if (logger.flushTaken == 0) {
                return true;
            }
            if (logger.flushTaken > limit) {
                return false;
            }
            logger.flushTaken = 0;
            sinks_.flush(logger);
        }
    }

    // ---- The lines "N records dropped"

    /// If records are missing and the interval has passed, notes the present stamp. When the
    /// watermark has passed that stamp, the earlier records are written, and the lines follow them.
    void checkForDrops(Stamp limit) noexcept {
        if (noticeAfter_ != 0) {
            if (limit > noticeAfter_) {
                noticeAfter_ = 0;
                reportDrops();
            }
        } else if (begun_ >= noticeDue_) {
            noticeDue_ = begun_ + std::min(noticeInterval_, longestInterval);
            std::uint64_t missing = 0;
            loggers_.forEach([&](const LoggerState& logger) { missing += unreported(logger); });
            if (missing != 0) {
                noticeAfter_ = queue_.now();
                queue_.wake();
            }
        }
    }

    void reportDrops() noexcept {
        loggers_.forEach([this](LoggerState& logger) { reportDrops(logger); });
    }

    /// Writes a line through this logger, if records of it are missing.
    void reportDrops(LoggerState& logger) noexcept {
        const std::uint64_t missing = unreported(logger);
        if (noticeInterval_ == no_limit || missing == 0) {
            return;
        }
        logger.told = rejectedOf(logger);
        if (&logger == lastDropping_) {
            reportedDropped_ = queue_.statistics().dropped;
        }
        sinks_.tell(logger, missing, times_.at(reached_));
    }

    /// Returns the number of missing records that no line has reported. The lanes do not know the
    /// loggers of dropped records, so all of them count for one logger: of those with
    /// Overflow::dropOldest, the one that wrote last.
    std::uint64_t unreported(const LoggerState& logger) const noexcept {
        return rejectedOf(logger) - logger.told +
               (&logger == lastDropping_ ? queue_.statistics().dropped - reportedDropped_ : 0);
    }

    // Relaxed: no other data depends on a count.
    static std::uint64_t rejectedOf(const LoggerState& logger) noexcept {
        return logger.rejected.load(std::memory_order_relaxed);
    }

    Records& queue_;
    LoggerList& loggers_;
    ActionList& actions_;
    SinkWriter sinks_;
    StampTimes times_;
    TimePoint begun_{};  ///< see begun()
    Stamp reached_ = 0;  ///< the last watermark

    std::atomic<bool> isAbandoned_{false};
    std::atomic<std::uint64_t> written_{0};
    std::atomic<std::uint64_t> lost_{0};
    std::uint64_t reportedLost_ = 0;  ///< lost() at the last flushSinks()
    bool isFlushed_ = true;           ///< see isFlushed()

    std::atomic<std::uint64_t> flushesWanted_{0};  ///< number of wantFlush() calls
    std::uint64_t flushesDone_ = 0;  ///< value of flushesWanted_ when no request was left

    const std::chrono::nanoseconds noticeInterval_;
    TimePoint noticeDue_{};                      ///< the earliest time of the next check
    Stamp noticeAfter_ = 0;                      ///< the lines follow this stamp; 0: none is due
    const LoggerState* lastDropping_ = nullptr;  ///< the last writer with dropOldest, or null
    std::uint64_t reportedDropped_ = 0;          ///< dropped records that a line has reported

    const std::chrono::nanoseconds writeInterval_;
    TimePoint writeDue_{};  ///< the batch sinks do not write before this time
};

}  // namespace sluice::log::detail
