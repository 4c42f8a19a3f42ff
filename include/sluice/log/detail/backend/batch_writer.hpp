#pragma once

#include <sluice/base/counter.hpp>
#include <sluice/base/spin_lock.hpp>
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
#include <mutex>
#include <new>
#include <utility>

namespace sluice::log::detail {

/// Converts stamps to printed times, for records without a time.
class StampTimes {
public:
    using time_point = spdlog::log_clock::time_point;
    using SteadyTime = std::chrono::steady_clock::time_point;

    /// Takes simultaneous readings of the stamp clock, a steady clock and spdlog's clock. Call it
    /// in each batch, because spdlog's clock may be set.
    void adjust(Stamp stamp, SteadyTime steady, time_point wall) noexcept {
        if (isSet_ && stamp > first_.stamp && steady > first_.steady) {
            ticksLength_ = Ticks(steady - first_.steady).count() / double(stamp - first_.stamp);
        } else if (!isSet_ || stamp < now_.stamp) {
            // The first call, or the stamp clock has restarted.
            first_ = Moment{stamp, steady, wall};
            isSet_ = true;
        }
        now_ = Moment{stamp, steady, wall};
    }

    /// Returns spdlog's time for a stamp. A stamp later than the last adjust() is from before a
    /// restart of the stamp clock, and has the time of adjust().
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

    using Ticks = std::chrono::duration<double, time_point::period>;

    bool isSet_ = false;
    Moment first_;            ///< the first adjust() since the stamp clock started
    Moment now_;              ///< the last adjust()
    double ticksLength_ = 0;  ///< printed ticks per stamp tick
};

/// The mutex of the batches. Its holder writes nearly always, so other threads have to ask for it.
class BatchLock {
public:
    using Guard = std::unique_lock<std::mutex>;

    Guard lock() { return Guard(mutex_); }
    Guard tryLock() { return Guard(mutex_, std::try_to_lock); }

    // Relaxed, all: a hint.
    void ask() noexcept { asking_.fetch_add(1, std::memory_order_relaxed); }
    void stopAsking() noexcept { asking_.fetch_sub(1, std::memory_order_relaxed); }
    bool isWanted() const noexcept { return asking_.load(std::memory_order_relaxed) != 0; }

    /// The holder unlocks until no thread asks. Naps, because a real-time thread that only yields
    /// would keep the processor.
    void letOthersIn(Guard& guard) noexcept {
        guard.unlock();
        for (Backoff backoff(std::chrono::microseconds(50)); isWanted();) {
            backoff.wait();
        }
        guard.lock();
    }

    void resetInChild() noexcept { asking_.store(0, std::memory_order_relaxed); }

private:
    std::mutex mutex_;
    std::atomic<unsigned> asking_{0};
};

/// Writes records to the sinks and runs actions, in stamp order: polls the lanes, writes everything
/// before the watermark, then carries out flushes and reports drops.
///
/// Thread safety: one thread at a time, except for the members under "Any thread".
/// Errors: a logger's error handler receives the errors of its sinks.
class BatchWriter {
public:
    using Records = Frontend::Records;
    using TimePoint = std::chrono::steady_clock::time_point;
    using Guard = BatchLock::Guard;

    /// When batch sinks write: after each batch, or if `write_interval` has passed.
    enum class Writing : unsigned char { always, whenDue };

    /// The action that flushes the sinks of all loggers, after all earlier records.
    class FlushSinks final : public OrderedAction {
    public:
        explicit FlushSinks(BatchWriter& writer) noexcept : writer_(writer) {}

        /// The result of flushSinks(); false if the back end ends first. Call it once.
        std::future<bool> result() { return result_.get_future(); }

        void run() noexcept override { result_.set_value(writer_.flushSinks()); }
        void abandon() noexcept override { result_.set_value(false); }

    private:
        BatchWriter& writer_;
        std::promise<bool> result_;
    };

    BatchWriter(BatchLock& lock, Records& queue, LoggerList& loggers, ActionList& actions,
                const backend_options& options)
        : lock_(lock),
          queue_(queue),
          loggers_(loggers),
          actions_(actions),
          sinks_(loggers, isAbandoned_),
          noticeInterval_(options.notice_interval),
          writeInterval_(std::min(options.write_interval, longestInterval)) {
        readClocks(std::chrono::steady_clock::now());
    }
    BatchWriter(const BatchWriter&) = delete;
    BatchWriter& operator=(const BatchWriter&) = delete;

    /// Writes the records and runs the actions before the watermark, which it returns. Returns 0
    /// after bad_alloc; each record that left its lane is written even then.
    Stamp writeBatch(Guard& guard, Writing writing) noexcept {
        try {
            return tryWriteBatch(guard, writing);
        } catch (const std::bad_alloc&) {
            return 0;
        }
    }

    /// Flushes the sinks and passes the lock to the threads that wait for it, if any.
    void letOthersIn(Guard& guard) noexcept {
        if (__builtin_expect(lock_.isWanted(), 0)) {
            flushAll();
            lock_.letOthersIn(guard);
        }
    }

    /// Whether the sinks are flushed since their last record.
    bool isClean() const noexcept { return isClean_; }

    /// The time at which the last batch began.
    TimePoint begun() const noexcept { return begun_; }

    /// Reports dropped records and flushes the sinks, after the last batch.
    void finish() noexcept {
        if (!isAbandoned()) {
            reportDrops();
            isFlushed_ = flushSinks();
        }
    }

    bool isFlushed() const noexcept { return isFlushed_; }

    /// Flushes all sinks. Returns false if that fails, or if since the last call a flush failed or
    /// a sink lost a record.
    bool flushSinks() noexcept {
        const std::uint64_t before = std::exchange(reportedLost_, lost());
        flushAll();
        return sinks_.takeIsFlushed() && reportedLost_ == before;
    }

    /// Ends a logger, after its last record is written. Later flushes do not reach its sinks.
    void retire(LoggerState& logger) noexcept {
        reportDrops(logger);
        const bool isWanted = logger.flushWanted.load(std::memory_order_relaxed) != 0;
        sinks_.flush(logger, [&](const SinkEntry& entry) {
            return isWanted || logger.flushTaken != 0 ||
                   (entry.sink.use_count() > 1 && loggers_.usersOf(entry.sink) == 1);
        });
    }

    /// Forgets drops and flushes in a forked child, because the parent handles them.
    void resetInChild() noexcept {
        noticeAfter_ = 0;
        sinks_.takeNeedsFlush();
        // Relaxed, both: there is one thread.
        written_.store(0, std::memory_order_relaxed);
        lost_.store(0, std::memory_order_relaxed);
        reportedLost_ = 0;
        loggers_.forEach([](LoggerState& logger) {
            logger.reportedMissing = missingOf(logger);
            logger.flushTaken = 0;
            logger.flushWanted.store(0, std::memory_order_relaxed);  // relaxed: there is one thread
        });
    }

    // ---- Any thread

    /// Requests a flush of this logger's sinks after all records with smaller stamps. Allocates
    /// nothing, because a logger merges its requests.
    void wantFlush(LoggerState& logger, Stamp stamp) noexcept {
        storeMax(logger.flushWanted, stamp);
        flushesWanted_.fetch_add(1, std::memory_order_release);
    }

    /// Ends a running batch early; later ones write no records. Relaxed: a hint.
    void abandon() noexcept { isAbandoned_.store(true, std::memory_order_relaxed); }
    bool isAbandoned() const noexcept { return isAbandoned_.load(std::memory_order_relaxed); }

    /// The number of records that all sinks accepted, and of those that a sink refused.
    /// Relaxed: informational.
    std::uint64_t written() const noexcept { return written_.load(std::memory_order_relaxed); }
    std::uint64_t lost() const noexcept { return lost_.load(std::memory_order_relaxed); }

    std::uint64_t seen() const noexcept { return written() + lost(); }

private:
    // The most records between two steps that free their room, check for abandon() and let others
    // in. A chunk is shorter if the sinks are slow.
    static constexpr std::size_t longestChunk = 1024;
    static constexpr std::size_t shortestChunk = 16;
    static constexpr std::chrono::nanoseconds chunkTime = std::chrono::milliseconds(5);

    /// Keeps sums of a time and an interval from overflowing.
    static constexpr std::chrono::nanoseconds longestInterval = std::chrono::hours(24);

    void readClocks(TimePoint now) noexcept {
        times_.adjust(queue_.now(), now, spdlog::log_clock::now());
    }

    Stamp tryWriteBatch(Guard& guard, Writing writing) {
        begun_ = std::chrono::steady_clock::now();
        const std::uint64_t before = seen();
        const Stamp limit = queue_.poll();
        reached_ = limit;
        readClocks(begun_);
        write(guard, limit);
        if (__builtin_expect(limit == endOfTime, 0)) {
            // The clock has restarted. Later batches run the actions, which may be newer than the
            // poll.
            actions_.restamp([this]() noexcept { return queue_.now(); });
        } else {
            actions_.takeBefore(limit, [&](OrderedAction& action) { carryOut(action); });
        }
        if (sinks_.hasBatch() &&
            (writing == Writing::always || begun_ >= writeDue_ || sinks_.hasMuch())) {
            endBatch();
        }
        carryOutFlushes(limit);
        flushIfIdle(seen() == before);
        checkForDrops(limit);
        return limit;
    }

    void write(Guard& guard, Stamp limit) {
        TimePoint before = begun_;
        for (std::size_t count = 1; count != 0 && !isAbandoned();) {
            count = queue_.emitBefore(
                limit, chunk_,
                [this](const Records::Record& record) {
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
            isClean_ = isClean_ && count == 0;
            if (count == chunk_) {
                const TimePoint now = std::chrono::steady_clock::now();
                chunk_ = now - before > chunkTime ? std::max(chunk_ / 2, shortestChunk)
                                                  : std::min(chunk_ * 2, longestChunk);
                before = now;
            }
            letOthersIn(guard);
        }
    }

    void flushAll() noexcept {
        endBatch();
        if (!loggers_.flush()) {
            sinks_.noteUnflushed();
        }
        isClean_ = true;
    }

    void carryOut(OrderedAction& action) {
        endBatch();
        action.run();
        endBatch();  // a later action may end a logger and its sinks
    }

    void endBatch() noexcept {
        writeDue_ = sinks_.hasBatch() ? begun_ + writeInterval_ : writeDue_;
        sinks_.endBatch();
    }

    // ---- Flushes

    /// Flushes the sinks after a second without records.
    void flushIfIdle(bool isIdle) noexcept {
        if (!isIdle) {
            idleFlushDue_ = begun_ + std::chrono::seconds(1);
        } else if (begun_ >= idleFlushDue_ && sinks_.takeNeedsFlush()) {
            static_cast<void>(loggers_.flush());
        }
    }

    /// Carries out the requests with stamps up to `limit`.
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

    /// Returns false if the logger's request must wait. A request that was taken keeps its stamp,
    /// so later requests cannot delay it.
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
            sinks_.flush(logger, [](const SinkEntry& /*entry*/) { return true; });
        }
    }

    // ---- Drop notices, the lines "N records dropped"

    /// If records were dropped and the interval has passed, schedules notices for the present
    /// stamp, so that they follow all earlier records.
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

    /// Writes a notice through this logger, if it has dropped records.
    void reportDrops(LoggerState& logger) noexcept {
        const std::uint64_t missing = unreported(logger);
        if (noticeInterval_ == no_limit || missing == 0) {
            return;
        }
        logger.reportedMissing = missingOf(logger);
        sinks_.reportDrops(logger, missing, times_.at(reached_));
    }

    /// The number of missing records without a notice.
    static std::uint64_t unreported(const LoggerState& logger) noexcept {
        return missingOf(logger) - logger.reportedMissing;
    }

    // Relaxed: informational.
    static std::uint64_t missingOf(const LoggerState& logger) noexcept {
        return logger.missing.load(std::memory_order_relaxed);
    }

    BatchLock& lock_;
    Records& queue_;
    LoggerList& loggers_;
    ActionList& actions_;
    std::atomic<bool> isAbandoned_{false};
    SinkWriter sinks_;
    StampTimes times_;
    TimePoint begun_{};
    Stamp reached_ = 0;                  ///< the last watermark
    std::size_t chunk_ = shortestChunk;  ///< records of the next chunk
    bool isClean_ = true;                ///< see isClean()

    std::atomic<std::uint64_t> written_{0};
    std::atomic<std::uint64_t> lost_{0};
    std::uint64_t reportedLost_ = 0;  ///< lost() at the last flushSinks()
    bool isFlushed_ = true;           ///< finish() has flushed all sinks without an error

    std::atomic<std::uint64_t> flushesWanted_{0};  ///< number of wantFlush() calls
    std::uint64_t flushesDone_ = 0;                ///< flushesWanted_ when no request was left

    const std::chrono::nanoseconds noticeInterval_;
    TimePoint noticeDue_{};  ///< the earliest time of the next check
    Stamp noticeAfter_ = 0;  ///< notices follow this stamp; 0: none is due

    const std::chrono::nanoseconds writeInterval_;
    TimePoint writeDue_{};  ///< the next write of the batch sinks
    TimePoint idleFlushDue_{};
};

}  // namespace sluice::log::detail
