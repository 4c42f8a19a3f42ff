#pragma once

#include <sluice/base/counter.hpp>
#include <sluice/base/spin_lock.hpp>
#include <sluice/log/backend_options.hpp>
#include <sluice/log/detail/backend/frontend.hpp>
#include <sluice/log/detail/backend/logger_state.hpp>
#include <sluice/log/detail/format/record_head.hpp>
#include <sluice/log/detail/lanes/stamp_clock.hpp>
#include <sluice/log/fields.hpp>

#include <algorithm>
#include <atomic>
#include <bitset>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <future>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <utility>
#include <vector>

namespace sluice::log::detail {

/// Passes records to sinks in runs. Used by one thread at a time.
///
/// A run has up to 256 successive records with the same sinks. A batch_sink receives a run in one
/// call; any other sink receives one call per record. A record that requests a flush ends its run.
///
/// Errors: exceptions of sinks and formatters go to the logger's error channel. A record counts as
/// lost once, even if several sinks refuse the record.
class SinkWriter {
public:
    static constexpr std::size_t longestRun = 256;

    /// No sink is called after `isAbandoned` is set.
    SinkWriter(LoggerList& loggers, const std::atomic<bool>& isAbandoned)
        : loggers_(loggers), isAbandoned_(isAbandoned) {
        run_.reserve(longestRun);
        printed_.reserve(longestRun);
        used_.reserve(16);
    }

    /// Adds a record to the current run. `payload` must stay valid until the run ends.
    void add(const RecordHead& head, const std::byte* payload, std::size_t size,
             spdlog::log_clock::time_point time) noexcept {
        LoggerState& logger = *head.logger;
        if (logger_ != nullptr && logger_ != &logger && !logger_->hasSameSinks(logger)) {
            endRun();
        }
        logger_ = &logger;
        spdlog::details::log_msg message;
        message.logger_name = logger.name;
        message.level = static_cast<spdlog::level::level_enum>(head.level);
        message.time = time;
        message.thread_id = head.thread;
        const bool isPrintable = head.site == nullptr ? read(head, payload, size, message)
                                                      : print(head, payload, size, message);
        if (isPrintable) {
            run_.push_back(message);  // does not allocate, because run_ has reserved space
        } else {
            ++lost_;
        }
        if ((head.flags & (RecordHead::flushes | RecordHead::hasFields)) != 0) {
            finish(head, payload, isPrintable);
        } else if (run_.size() == longestRun) {
            endRun();
        }
    }

    void reportDrops(LoggerState& logger, std::uint64_t dropped,
                     spdlog::log_clock::time_point time) noexcept {
        endRun();
        const std::uint64_t lost = lost_;
        guarded(*logger.errors, {}, [&] {
            const std::string text = droppedText(dropped);
            logger_ = &logger;
            run_.emplace_back(time, spdlog::source_loc{}, logger.name, spdlog::level::warn, text);
            endRun();
        });
        lost_ = lost;  // a notice that a sink refuses is not a lost record
    }

    /// Returns the number of records lost in ended runs since the last takeLost().
    std::uint64_t takeLost() noexcept { return std::exchange(lost_, 0); }

    void endRun() noexcept {
        if (logger_ != nullptr && !run_.empty()) {
            setPrintedTexts();
            const CurrentFields scope(fields_.data(), fields_.size());
            for (const SinkEntry& entry : logger_->sinks) {
                entry.batch != nullptr ? logBatch(*entry.batch) : logEach(*entry.sink);
            }
            lost_ += isLost_.count();
            isLost_.reset();
        }
        logger_ = nullptr;
        run_.clear();
        printed_.clear();
        fields_.clear();
        text_.clear();
        if (text_.capacity() > keptText) {
            text_ = spdlog::memory_buf_t();
        }
    }

    /// Returns true if batch sinks have received records since the last endBatch().
    bool hasBatch() const noexcept { return !used_.empty(); }

    bool hasMuch() const noexcept {
        return std::any_of(used_.begin(), used_.end(),
                           [](const Used& used) { return used.sink->has_much(); });
    }

    /// Ends the current run, and makes the batch sinks write their buffered records.
    void endBatch() noexcept {
        endRun();
        for (const Used& used : used_) {
            guarded(*used.errors, {}, [&] { used.sink->end_batch(); });
        }
        used_.clear();
    }

    template <class Wanted>
    void flush(const LoggerState& logger, Wanted&& isWanted) noexcept {
        for (const SinkEntry& entry : logger.sinks) {
            if (isWanted(entry) && !guarded(*logger.errors, {}, [&] { entry.sink->flush(); })) {
                noteUnflushed();
            }
        }
    }

    /// Returns and resets whether a sink other than a batch_sink has received records.
    bool takeNeedsFlush() noexcept { return std::exchange(needsFlush_, false); }

    /// Returns true if no flush has failed since the last takeIsFlushed().
    bool takeIsFlushed() noexcept { return std::exchange(isFlushed_, true); }
    void noteUnflushed() noexcept { isFlushed_ = false; }

private:
    using Message = spdlog::details::log_msg;

    /// After a run, text_ is freed if its capacity in bytes is above this limit.
    static constexpr std::size_t keptText = std::size_t{1} << 20U;

    struct Used {
        batch_sink* sink;
        std::shared_ptr<ErrorChannel> errors;
    };

    /// The printed text of run_[message]. `begin` is an offset, because the memory of text_ moves.
    struct Printed {
        std::size_t message;
        std::size_t begin;
        std::size_t size;
        bool hasFields;
    };

    static bool read(const RecordHead& head, const std::byte* payload, std::size_t size,
                     Message& message) noexcept {
        constexpr unsigned both = RecordHead::hasSource | RecordHead::hasFields;
        if ((head.flags & both) != 0) {
            const std::size_t skipped = readSource(head, payload, message);
            payload += skipped;
            size -= skipped;
        }
        message.payload = {reinterpret_cast<const char*>(payload), size};
        return true;
    }

    /// Reads the source location, if any. Returns the number of payload bytes before the text.
    [[gnu::noinline]] static std::size_t
    readSource(const RecordHead& head, const std::byte* payload, Message& message) noexcept {
        std::size_t skipped = sizeOfFields(head, payload);
        if ((head.flags & RecordHead::hasSource) != 0) {
            std::memcpy(&message.source, payload + skipped, sizeof message.source);
            skipped += sizeof message.source;
        }
        return skipped;
    }

    bool print(const RecordHead& head, const std::byte* arguments, std::size_t size,
               Message& message) noexcept {
        const DeferredSite& site = *head.site;
        const std::size_t skipped = sizeOfFields(head, arguments);
        message.source = site.source;
        const std::size_t begin = text_.size();
        bool isPrinted = false;
        guarded(*head.logger->errors, site.source, [&] {
            site.print(site, arguments + skipped, size - skipped, text_);
            printed_.push_back(Printed{run_.size(), begin, text_.size() - begin, false});
            isPrinted = true;
        });
        if (!isPrinted) {
            text_.resize(begin);  // shrinking cannot throw
        }
        return isPrinted;
    }

    static std::size_t sizeOfFields(const RecordHead& head, const std::byte* payload) noexcept {
        if (SLUICE_LIKELY((head.flags & RecordHead::hasFields) == 0)) {
            return 0;
        }
        FieldWriter::Prefix prefix;
        std::memcpy(&prefix, payload, sizeof prefix);
        return sizeof prefix + prefix.context + prefix.fields;
    }

    [[gnu::noinline]] void finish(const RecordHead& head, const std::byte* fields,
                                  bool isInRun) noexcept {
        if ((head.flags & RecordHead::hasFields) != 0 && isInRun) {
            addFields(head, fields);
        }
        const bool isFlushed = (head.flags & RecordHead::flushes) != 0;
        if (isFlushed || run_.size() == longestRun) {
            endRun();
        }
        if (isFlushed) {
            flush(*head.logger, [](const SinkEntry& /*entry*/) { return true; });
        }
    }

    /// Appends a record's fields to the newest message's text, and keeps the fields in fields_ for
    /// formatters. If memory is exhausted, the message lacks its fields.
    [[gnu::cold, gnu::noinline]] void addFields(const RecordHead& head,
                                                const std::byte* from) noexcept {
        FieldWriter::Prefix prefix;
        std::memcpy(&prefix, from, sizeof prefix);
        const FieldBytes context{from + sizeof prefix, prefix.context};
        const FieldBytes fields{context.bytes + context.size, prefix.fields};
        if (context.size + fields.size == 0) {
            return;
        }
        const Message& message = run_.back();
        const std::size_t end = text_.size();
        const bool isAdded = guarded(*head.logger->errors, message.source, [&] {
            fields_.reserve(longestRun);
            if (head.site == nullptr) {
                const auto text = message.payload;
                text_.append(text.data(), text.data() + text.size());
            }
            printFields(context, text_);
            printFields(fields, text_);
        });
        if (!isAdded) {
            text_.resize(end);  // shrinking cannot throw
            return;
        }
        if (head.site == nullptr) {
            printed_.push_back(Printed{run_.size() - 1, end, message.payload.size(), false});
        }
        Printed& printed = printed_.back();
        fields_.push_back({{}, printed.size, context, fields});
        printed.hasFields = true;
        printed.size = text_.size() - printed.begin;
    }

    void setPrintedTexts() noexcept {
        std::size_t next = 0;
        for (const Printed& printed : printed_) {
            const spdlog::string_view_t text(text_.data() + printed.begin, printed.size);
            run_[printed.message].payload = text;
            if (SLUICE_UNLIKELY(printed.hasFields)) {
                fields_[next++].payload = text;
            }
        }
    }

    void logBatch(batch_sink& sink) noexcept {
        const auto isIt = [&](const Used& used) { return used.sink == &sink; };
        if (std::none_of(used_.begin(), used_.end(), isIt)) {
            guarded(*logger_->errors, {}, [&] { used_.push_back(Used{&sink, logger_->errors}); });
        }
        for (std::size_t begin = 0; begin < run_.size();) {
            std::size_t taken = 0;
            const auto rest = [&] {
                sink.log_batch(run_.data() + begin, run_.size() - begin, taken);
            };
            if (callSink(begin, taken, rest)) {
                return;
            }
            begin += taken + 1;
        }
    }

    void logEach(spdlog::sinks::sink& sink) noexcept {
        needsFlush_ = true;
        for (std::size_t i = 0; i < run_.size(); ++i) {
            const std::size_t taken = 0;
            if (sink.should_log(run_[i].level)) {
                callSink(i, taken, [&] { sink.log(run_[i]); });
            }
        }
    }

    /// Calls a sink for the records from index `begin` on. If it throws after `taken` records, the
    /// next record's logger reports the error. After abandon(), only counts record `begin` as lost.
    template <class Call>
    bool callSink(std::size_t begin, const std::size_t& taken, Call&& call) noexcept {
        if (isAbandoned_.load(std::memory_order_relaxed)) {  // hint
            isLost_.set(begin);
            return false;
        }
        try {
            call();
            return true;
        } catch (...) {
            const std::size_t lost = std::min(begin + taken, run_.size() - 1);
            const LoggerState* const owner = loggers_.find(run_[lost].logger_name.data());
            const ErrorChannel& errors = owner != nullptr ? *owner->errors : *logger_->errors;
            isLost_.set(lost);
            guarded(errors, run_[lost].source, [] { throw; });
            return false;
        }
    }

    LoggerList& loggers_;
    const std::atomic<bool>& isAbandoned_;
    LoggerState* logger_ = nullptr;  ///< the logger of the run's last record; null: empty run
    std::vector<Message> run_;
    std::bitset<longestRun> isLost_;     ///< records of the run that a sink refused
    std::uint64_t lost_ = 0;             ///< see takeLost()
    std::vector<Printed> printed_;       ///< the run's records whose text is in text_
    std::vector<MessageFields> fields_;  ///< fields of the records in printed_
    spdlog::memory_buf_t text_;
    bool isFlushed_ = true;    ///< see takeIsFlushed()
    bool needsFlush_ = false;  ///< see takeNeedsFlush()
    std::vector<Used> used_;
};

/// Converts stamps to system times, and keeps the printed times of successive records in order.
class StampTimes {
public:
    using time_point = spdlog::log_clock::time_point;
    using SteadyTime = std::chrono::steady_clock::time_point;

    /// Takes simultaneous readings of the stamp clock, a steady clock and spdlog's clock. Call
    /// adjust() in each batch, because the system's clock may be set to another time.
    void adjust(Stamp stamp, SteadyTime steady, time_point wall) noexcept {
        now_ = Moment{stamp, steady, wall};
        last_ = std::min(last_, wall);
        if (first_.stamp == 0) {
            first_ = now_;
        } else if (stamp > first_.stamp && steady > first_.steady) {
            ticksLength_ = Ticks(steady - first_.steady).count() / double(stamp - first_.stamp);
        }
    }

    /// Returns the time of a stamp, but at most `wall` of the last adjust(). Only a stamp from
    /// before a restart of the stamp clock can be later than the last adjust().
    time_point at(Stamp stamp) const noexcept {
        const double ticks = double(now_.stamp - std::min(stamp, now_.stamp));
        return now_.wall - time_point::duration(static_cast<time_point::rep>(ticks * ticksLength_));
    }

    /// Returns the time to print for the next record. If `time` precedes the previous line's time
    /// by less than longestDelay, returns the previous line's time.
    time_point inOrder(time_point time) noexcept {
        if (time < last_ && time > last_ - longestDelay) {
            return last_;
        }
        if (time <= now_.wall) {
            last_ = std::max(last_, time);
        }
        return time;
    }

private:
    struct Moment {
        Stamp stamp = 0;
        SteadyTime steady{};
        time_point wall{};
    };

    using Ticks = std::chrono::duration<double, time_point::period>;

    Moment first_;            ///< readings of the first adjust()
    Moment now_;              ///< readings of the last adjust()
    time_point last_;         ///< the latest printed time, but at most now_.wall
    double ticksLength_ = 0;  ///< ticks of time_point per stamp tick
};

/// Guards batches. The worker usually holds the BatchLock, so another thread must ask() for it.
class BatchLock {
public:
    using Guard = std::unique_lock<std::mutex>;

    Guard lock() { return Guard(mutex_); }
    Guard tryLock() { return Guard(mutex_, std::try_to_lock); }

    void ask() noexcept { asking_.fetch_add(1, std::memory_order_relaxed); }                 // hint
    void stopAsking() noexcept { asking_.fetch_sub(1, std::memory_order_relaxed); }          // hint
    bool isWanted() const noexcept { return asking_.load(std::memory_order_relaxed) != 0; }  // hint

    /// Unlocks, waits until no other thread asks for the lock, and locks again. The waiting thread
    /// naps, because a real-time thread that only yields would keep the processor.
    void letOthersIn(Guard& guard) const noexcept {
        guard.unlock();
        for (Backoff backoff(std::chrono::microseconds(50)); isWanted();) {
            backoff.wait();
        }
        guard.lock();
    }

    void resetInChild() noexcept { asking_.store(0, std::memory_order_relaxed); }  // not shared yet

private:
    std::mutex mutex_;
    std::atomic<unsigned> asking_{0};
};

/// Writes records to the sinks and runs actions, in stamp order. A batch polls the lanes, writes
/// all records before the watermark, carries out flush requests, and reports dropped records.
///
/// Thread safety: one thread at a time, except for the members under "Any thread". Errors: a sink's
/// exceptions go to the error handler of the record's logger.
class BatchWriter {
public:
    using Records = Frontend::Records;
    using TimePoint = std::chrono::steady_clock::time_point;
    using Guard = BatchLock::Guard;

    /// When batch sinks write: after each batch, or at most once per `write_interval`.
    enum class Writing : unsigned char { always, whenDue };

    /// The action that flushes the sinks of all loggers, after all earlier records.
    class FlushSinks final : public OrderedAction {
    public:
        explicit FlushSinks(BatchWriter& writer) noexcept : writer_(writer) {}

        /// The result of flushSinks(), or false if run() is never called. Call result() once.
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
          options_(options),
          hasNotices_(options.notice_interval != no_limit),
          noticeInterval_(hasNotices_ ? std::min(options.notice_interval, longestInterval)
                                      : std::chrono::seconds(1)),
          writeInterval_(std::min(options.write_interval, longestInterval)) {
        readClocks(std::chrono::steady_clock::now());
    }

    /// Polls the lanes, writes all records and runs all actions with stamps below the watermark,
    /// and returns the watermark. Returns 0 if the time `end` is reached or memory is exhausted;
    /// even then, each record that was taken from a lane is written.
    Stamp writeBatch(Guard& guard, Writing writing, TimePoint end) noexcept try {
        begun_ = std::chrono::steady_clock::now();
        const std::uint64_t before = seen();
        const Stamp limit = queue_.poll();
        reached_ = limit;
        readClocks(begun_);
        if (SLUICE_UNLIKELY(limit == endOfTime)) {
            // The clock restarted. Runs no action, because `limit` does not exclude new actions.
            actions_.restamp([this]() noexcept { return queue_.now(); });
        } else {
            for (Stamp next = actions_.first(); next < limit; next = actions_.first()) {
                if (!write(guard, next, end)) {
                    return 0;
                }
                actions_.takeBefore(next + 1, [&](OrderedAction& action) {
                    endBatch();
                    action.run();
                    endBatch();  // the next action may destroy a logger and its sinks
                });
            }
        }
        if (!write(guard, limit, end)) {
            return 0;
        }
        if (sinks_.hasBatch() &&
            (writing == Writing::always || begun_ >= writeDue_ || sinks_.hasMuch())) {
            endBatch();
        }
        carryOutFlushes(limit);
        flushIfIdle(seen() == before);
        checkForDrops(limit);
        return limit;
    } catch (const std::bad_alloc&) {
        return 0;
    }

    /// If other threads ask for the batch lock, flushes the sinks and lets those threads lock it.
    void letOthersIn(Guard& guard) noexcept {
        if (SLUICE_UNLIKELY(lock_.isWanted())) {
            flushAll();
            lock_.letOthersIn(guard);
        }
    }

    /// Returns true if no record or notice was written after the last flush of all sinks.
    bool isClean() const noexcept { return isClean_; }

    TimePoint begun() const noexcept { return begun_; }

    /// After the last batch, reports dropped records and flushes the sinks.
    void finish() noexcept {
        if (!isAbandoned()) {
            reportDrops();
            isFlushed_ = flushSinks();
        }
    }

    bool isFlushed() const noexcept { return isFlushed_; }

    /// Flushes the sinks. Returns false if a flush failed or a record was lost since the last call.
    bool flushSinks() noexcept {
        const std::uint64_t before = std::exchange(reportedLost_, lost());
        flushAll();
        return sinks_.takeIsFlushed() && reportedLost_ == before;
    }

    /// Reports an ended logger's drops. Flushes its sinks if a flush is pending, and otherwise the
    /// sinks that are still in use, but not by any other logger.
    void retire(LoggerState& logger) noexcept {
        reportDrops(logger);
        const bool isWanted =
            logger.flushWanted.load(std::memory_order_relaxed) != 0;  // value only
        sinks_.flush(logger, [&](const SinkEntry& entry) {
            return isWanted || logger.flushTaken != 0 ||
                   (entry.sink.use_count() > 1 && !loggers_.findUser(*entry.sink, &logger).first);
        });
    }

    /// In a forked child, discards drops and flush requests, which the parent handles.
    void resetInChild() noexcept {
        noticeAfter_ = 0;
        sinks_.takeNeedsFlush();
        written_.store(0, std::memory_order_relaxed);  // not shared yet
        lost_.store(0, std::memory_order_relaxed);     // not shared yet
        reportedLost_ = 0;
        loggers_.forEach([](LoggerState& logger) {
            for (LoggerState::Missing& missing : logger.missing) {
                missing.reported += missing.unreported();
            }
            logger.flushTaken = 0;
            logger.flushWanted.store(0, std::memory_order_relaxed);  // not shared yet
        });
    }

    // ---- Any thread

    /// Requests a flush of the logger's sinks after all records with stamps below `stamp`. Several
    /// requests become one flush, so wantFlush() never allocates.
    void wantFlush(LoggerState& logger, Stamp stamp) noexcept {
        storeMax(logger.flushWanted, stamp);
        flushesWanted_.fetch_add(1, std::memory_order_release);  // E1 flush
    }

    /// Ends a running batch early; later batches write no records. Relaxed: hint.
    void abandon() noexcept { isAbandoned_.store(true, std::memory_order_relaxed); }
    bool isAbandoned() const noexcept { return isAbandoned_.load(std::memory_order_relaxed); }

    /// written() counts records that all sinks accepted, lost() all others. Relaxed: value only.
    std::uint64_t written() const noexcept { return written_.load(std::memory_order_relaxed); }
    std::uint64_t lost() const noexcept { return lost_.load(std::memory_order_relaxed); }

    std::uint64_t seen() const noexcept { return written() + lost(); }

private:
    // Happens-before edge: E1 flush: wantFlush -> carryOutFlushes.

    // After each chunk of records, a batch frees memory, checks for abandon() and lets waiting
    // threads write. Chunks are shorter for slow sinks.
    static constexpr std::size_t longestChunk = 1024;
    static constexpr std::size_t shortestChunk = 1;
    static constexpr std::chrono::nanoseconds chunkTime = std::chrono::milliseconds(5);

    /// Longer intervals are reduced to longestInterval, so that time + interval does not overflow.
    static constexpr std::chrono::nanoseconds longestInterval = std::chrono::hours(24);

    void readClocks(TimePoint now) noexcept {
        times_.adjust(queue_.now(), now, spdlog::log_clock::now());
    }

    /// Writes the records with stamps below `limit`. Returns false if the time `end` passes first.
    bool write(Guard& guard, Stamp limit, TimePoint end) {
        TimePoint before = begun_;
        for (std::size_t count = 1; count != 0 && !isAbandoned();) {
            if (end != TimePoint::max() && std::chrono::steady_clock::now() >= end) {
                return false;
            }
            count = queue_.emitBefore(
                limit, chunk_,
                [this](const Records::Record& record) {
                    const auto flags = record.head.flags;
                    const auto time = (flags & RecordHead::hasNoTime) != 0 ? times_.at(record.stamp)
                                                                           : record.head.time;
                    sinks_.add(record.head, record.payload, record.size,
                               (flags & RecordHead::ownTime) != 0 ? time : times_.inOrder(time));
                },
                [this] { sinks_.endRun(); });
            const std::uint64_t newlyLost = sinks_.takeLost();
            lost_.store(lost() + newlyLost, std::memory_order_relaxed);                // value only
            written_.store(written() + count - newlyLost, std::memory_order_relaxed);  // value only
            isClean_ = isClean_ && count == 0;
            if (count == chunk_) {
                const TimePoint now = std::chrono::steady_clock::now();
                chunk_ = now - before > chunkTime ? std::max(chunk_ / 2, shortestChunk)
                                                  : std::min(chunk_ * 2, longestChunk);
                before = now;
            }
            letOthersIn(guard);
        }
        return true;
    }

    void flushAll() noexcept {
        endBatch();
        if (!loggers_.flush()) {
            sinks_.noteUnflushed();
        }
        isClean_ = true;
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

    void carryOutFlushes(Stamp limit) noexcept {
        const std::uint64_t wanted = flushesWanted_.load(std::memory_order_acquire);  // E1 flush
        if (wanted == flushesDone_) {
            return;
        }
        bool isDone = true;
        loggers_.forEach(
            [&](LoggerState& logger) { isDone = flushIfWanted(logger, limit) && isDone; });
        flushesDone_ = isDone ? wanted : flushesDone_;
    }

    /// Returns false if a requested flush must wait for earlier records. The request in flushTaken
    /// keeps its stamp, so that later requests cannot delay the flush.
    bool flushIfWanted(LoggerState& logger, Stamp limit) noexcept {
        for (;;) {
            if (logger.flushTaken == 0) {
                logger.flushTaken =
                    logger.flushWanted.exchange(0, std::memory_order_relaxed);  // E1
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

    // ---- Drop notices: the lines "N records dropped" and on_drop

    /// Checks for dropped records once per noticeInterval_. A later batch writes the notices, after
    /// all records that were posted before the check.
    void checkForDrops(Stamp limit) noexcept {
        if (noticeAfter_ != 0) {
            if (limit > noticeAfter_) {
                noticeAfter_ = 0;
                reportDrops();
            }
        } else if (begun_ >= noticeDue_) {
            noticeDue_ = begun_ + noticeInterval_;
            bool isMissing = false;
            loggers_.forEach([&](const LoggerState& logger) {
                for (const LoggerState::Missing& missing : logger.missing) {
                    isMissing = isMissing || missing.unreported() != 0;
                }
            });
            if (isMissing) {
                noticeAfter_ = queue_.now();
                queue_.wake();
            }
        }
    }

    void reportDrops() noexcept {
        loggers_.forEach([this](LoggerState& logger) { reportDrops(logger); });
    }

    void reportDrops(LoggerState& logger) noexcept {
        std::uint64_t sum = 0;
        for (std::size_t level = 0; level != logger.missing.size(); ++level) {
            LoggerState::Missing& missing = logger.missing[level];
            const std::uint64_t count = missing.unreported();
            missing.reported += count;
            sum += count;
            if (count != 0 && options_.on_drop) {
                guarded(*logger.errors, {}, [&] {
                    options_.on_drop(
                        {logger.name, static_cast<spdlog::level::level_enum>(level), count});
                });
            }
        }
        if (sum != 0 && hasNotices_) {
            isClean_ = false;
            spdlog::log_clock::time_point time = times_.inOrder(times_.at(reached_));
            if (options_.clock) {
                guarded(*logger.errors, {}, [&] { time = options_.clock(); });
            }
            sinks_.reportDrops(logger, sum, time);
        }
    }

    BatchLock& lock_;
    Records& queue_;
    LoggerList& loggers_;
    ActionList& actions_;
    std::atomic<bool> isAbandoned_{false};
    SinkWriter sinks_;
    StampTimes times_;
    TimePoint begun_{};
    Stamp reached_ = 0;                  ///< watermark of the last batch
    std::size_t chunk_ = shortestChunk;  ///< most records in the next chunk
    bool isClean_ = true;                ///< see isClean()

    std::atomic<std::uint64_t> written_{0};
    std::atomic<std::uint64_t> lost_{0};
    std::uint64_t reportedLost_ = 0;  ///< lost() at the last flushSinks()
    bool isFlushed_ = true;           ///< result of flushSinks() in finish()

    std::atomic<std::uint64_t> flushesWanted_{0};  ///< number of wantFlush() calls
    std::uint64_t flushesDone_ = 0;                ///< wantFlush() calls whose flushes are all done

    const backend_options& options_;
    const bool hasNotices_;  ///< true: drops are reported in the log
    const std::chrono::nanoseconds noticeInterval_;
    TimePoint noticeDue_{};  ///< earliest time of the next check for dropped records
    Stamp noticeAfter_ = 0;  ///< notices are written after this stamp; 0: no pending notice

    const std::chrono::nanoseconds writeInterval_;
    TimePoint writeDue_{};  ///< earliest time at which batch sinks write again
    TimePoint idleFlushDue_{};
};

}  // namespace sluice::log::detail
