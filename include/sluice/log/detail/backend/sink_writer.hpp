#pragma once

#include <sluice/log/detail/backend/logger_state.hpp>
#include <sluice/log/detail/format/record_head.hpp>
#include <sluice/log/fields.hpp>

#include <algorithm>
#include <atomic>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace sluice::log::detail {

/// Passes records to sinks in runs; for one thread.
///
/// A run has up to 256 successive records with the same sinks. A batch_sink receives it in
/// one call, other sinks receive each record. A record that flushes ends its run.
///
/// Errors: the logger's error channel receives the exceptions of sinks and formatters. A record
/// that any sink refuses counts as lost once.
class SinkWriter {
public:
    static constexpr std::size_t longestRun = 256;

    /// `isAbandoned`: set by another thread, when no sink shall be called any more.
    SinkWriter(LoggerList& loggers, const std::atomic<bool>& isAbandoned)
        : loggers_(loggers), isAbandoned_(isAbandoned) {
        run_.reserve(longestRun);
        used_.reserve(16);
    }
    SinkWriter(const SinkWriter&) = delete;
    SinkWriter& operator=(const SinkWriter&) = delete;

    /// Adds a record to the run. `payload` must stay valid until the run ends.
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
            run_.push_back(message);  // within the reserved room
        } else {
            ++lost_;
        }
        if ((head.flags & (RecordHead::flushes | RecordHead::hasFields)) != 0) {
            finish(head, payload, isPrintable);
        } else if (run_.size() == longestRun) {
            endRun();
        }
    }

    /// Writes a drop notice through this logger.
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
        lost_ = lost;  // the line itself is not a record
    }

    /// Returns the number of records lost in ended runs since the last call.
    std::uint64_t takeLost() noexcept { return std::exchange(lost_, 0); }

    void endRun() noexcept {
        if (logger_ != nullptr && !run_.empty()) {
            setPrintedTexts();
            callSinks();
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

    /// Whether batch sinks received records since the last endBatch().
    bool hasBatch() const noexcept { return !used_.empty(); }

    /// Whether a batch sink should write now.
    bool hasMuch() const noexcept {
        return std::any_of(used_.begin(), used_.end(),
                           [](const Used& used) { return used.sink->has_much(); });
    }

    /// Ends the run and makes the batch sinks write their text.
    void endBatch() noexcept {
        endRun();
        for (const Used& used : used_) {
            guarded(*used.errors, {}, [&] { used.sink->end_batch(); });
        }
        used_.clear();
    }

    /// Flushes the sinks of a logger for which isWanted(entry).
    template <class Wanted>
    void flush(const LoggerState& logger, Wanted&& isWanted) noexcept {
        for (const SinkEntry& entry : logger.sinks) {
            if (isWanted(entry) && !guarded(*logger.errors, {}, [&] { entry.sink->flush(); })) {
                noteUnflushed();
            }
        }
    }

    /// Whether sinks other than batch sinks received records since the last call. They may keep
    /// text, like a dist_sink with a file_sink.
    bool takeNeedsFlush() noexcept { return std::exchange(needsFlush_, false); }

    /// Whether no flush has failed since the last call.
    bool takeIsFlushed() noexcept { return std::exchange(isFlushed_, true); }
    void noteUnflushed() noexcept { isFlushed_ = false; }

private:
    using Message = spdlog::details::log_msg;

    /// A larger text buffer is freed after the run.
    static constexpr std::size_t keptText = std::size_t{1} << 20U;

    /// A batch sink that received records since the last end_batch().
    struct Used {
        batch_sink* sink;
        std::shared_ptr<ErrorChannel> errors;
    };

    /// The text of run_[message]: `size` bytes at offset `begin` of text_, which may move.
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
        message.payload = view(payload, size);
        return true;
    }

    /// Reads the parts before the text of a record and returns their size.
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
            reservePrinted();
            site.print(site, arguments + skipped, size - skipped, text_);
            printed_.push_back(Printed{run_.size(), begin, text_.size() - begin, false});
            isPrinted = true;
        });
        if (!isPrinted) {
            text_.resize(begin);  // it shrinks, so it cannot throw
        }
        return isPrinted;
    }

    void reservePrinted() {
        if (__builtin_expect(printed_.capacity() < longestRun, 0)) {
            makePrinted();
        }
    }
    [[gnu::cold, gnu::noinline]] void makePrinted() { printed_.reserve(longestRun); }

    /// The size of the fields at the beginning of the payload, with their prefix.
    static std::size_t sizeOfFields(const RecordHead& head, const std::byte* payload) noexcept {
        return __builtin_expect((head.flags & RecordHead::hasFields) != 0, 0)
                   ? sizeOfFields(payload)
                   : 0;
    }
    [[gnu::cold, gnu::noinline]] static std::size_t sizeOfFields(const std::byte* from) noexcept {
        FieldWriter::Prefix prefix;
        std::memcpy(&prefix, from, sizeof prefix);
        return sizeof prefix + prefix.context + prefix.fields;
    }

    /// The last step for a record with fields or a flush.
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

    /// Prints the fields behind the newest message's text, and keeps them for formatters. After
    /// bad_alloc the message lacks its fields.
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
            reservePrinted();
            if (head.site == nullptr) {
                const auto text = message.payload;
                text_.append(text.data(), text.data() + text.size());
            }
            printFields(context, text_);
            printFields(fields, text_);
        });
        if (!isAdded) {
            text_.resize(end);  // it shrinks, so it cannot throw
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

    static spdlog::string_view_t view(const std::byte* text, std::size_t size) noexcept {
        return {reinterpret_cast<const char*>(text), size};
    }

    void setPrintedTexts() noexcept {
        std::size_t next = 0;
        for (const Printed& printed : printed_) {
            const spdlog::string_view_t text(text_.data() + printed.begin, printed.size);
            run_[printed.message].payload = text;
            if (__builtin_expect(printed.hasFields, 0)) {
                fields_[next++].payload = text;
            }
        }
    }

    void callSinks() noexcept {
        const CurrentFields scope(fields_.data(), fields_.size());
        for (const SinkEntry& entry : logger_->sinks) {
            entry.batch != nullptr ? logBatch(*entry.batch) : logEach(*entry.sink);
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

    /// Calls a sink for the records from `begin`. If it throws at the record `taken` behind it, the
    /// logger of that record receives the exception. After abandon() each record is lost.
    template <class Call>
    bool callSink(std::size_t begin, const std::size_t& taken, Call&& call) noexcept {
        if (isAbandoned_.load(std::memory_order_relaxed)) {  // relaxed: a hint
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
    std::vector<Printed> printed_;       ///< records of the run with text in text_
    std::vector<MessageFields> fields_;  ///< fields of the records in printed_
    spdlog::memory_buf_t text_;
    bool isFlushed_ = true;    ///< see takeIsFlushed()
    bool needsFlush_ = false;  ///< see takeNeedsFlush()
    std::vector<Used> used_;
};

}  // namespace sluice::log::detail
