#pragma once

#include <sluice/base/cache_line.hpp>
#include <sluice/base/overflow.hpp>
#include <sluice/log/batch_sink.hpp>
#include <sluice/log/detail/lanes/stamp_clock.hpp>

#include <spdlog/logger.h>
#include <spdlog/sinks/sink.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <utility>
#include <vector>

namespace sluice::log::detail {

/// Returns the text of an error in spdlog's words: the error, then the source location of the log
/// call if it is known.
inline std::string describe(const char* what, const spdlog::source_loc& source) {
    std::string text = what;
    if (source.filename != nullptr) {
        text.append(" [").append(source.filename).append("(");
        text.append(std::to_string(source.line)).append(")]");
    }
    return text;
}

/// Passes the errors of sinks to the error handler of a logger. The logger and the back end share
/// it, because the back end may report an error after the logger has ended: release() then keeps a
/// copy of the handler.
///
/// Thread safety: any thread may call any member. As in spdlog, the program sets a handler only
/// while no thread logs.
class ErrorChannel {
public:
    /// Each report before release() reads `handler`.
    ErrorChannel(std::string name, const spdlog::err_handler* handler)
        : name_(std::move(name)), live_(handler) {}
    ErrorChannel(const ErrorChannel&) = delete;
    ErrorChannel& operator=(const ErrorChannel&) = delete;

    /// Called when the owner of the handler ends. Copies the handler.
    void release() noexcept {
        const std::lock_guard<std::mutex> lock(mutex_);
        try {
            kept_ = *live_;
        } catch (...) {
            // If the handler cannot be copied, later reports use spdlog's own.
        }
        live_ = nullptr;
    }

    /// Calls the handler, with no lock held, and catches its exceptions. Without a handler it
    /// prints a line to stderr, as spdlog does: at most one line a second.
    void report(const std::string& text) const noexcept {
        try {
            Reporter reporter(name_);
            reporter.set_error_handler(handler());
            reporter.err_handler_(text);
        } catch (...) {
            // The handler itself has failed, so nothing can report it.
        }
    }

    void report(const char* what, const spdlog::source_loc& source) const noexcept {
        try {
            report(describe(what, source));
        } catch (...) {
            // There is no memory for the text of the error.
        }
    }

private:
    struct Reporter : spdlog::logger {
        using spdlog::logger::err_handler_;
        using spdlog::logger::logger;
    };

    spdlog::err_handler handler() const {
        const std::lock_guard<std::mutex> lock(mutex_);
        return live_ != nullptr ? *live_ : kept_;
    }

    const std::string name_;
    mutable std::mutex mutex_;         ///< guards the following
    const spdlog::err_handler* live_;  ///< the logger's handler; null after release()
    spdlog::err_handler kept_;         ///< the copy that release() made
};

/// Runs an action that calls code of the user. If the action throws, reports the exception and
/// returns false.
template <class Action>
bool guarded(const ErrorChannel& errors, const spdlog::source_loc& source,
             Action&& action) noexcept {
    try {
        action();
        return true;
    } catch (const std::exception& error) {
        errors.report(error.what(), source);
    } catch (...) {
        errors.report("unknown exception in a sink", source);
    }
    return false;
}

/// Returns the text of the line about missing records.
inline std::string droppedText(std::uint64_t dropped) {
    return std::to_string(dropped) + (dropped == 1 ? " record dropped" : " records dropped");
}

/// A sink, and the same sink as a batch_sink. Null if it is not one.
struct SinkEntry {
    explicit SinkEntry(spdlog::sink_ptr taken)
        : sink(std::move(taken)), batch(dynamic_cast<batch_sink*>(sink.get())) {}

    spdlog::sink_ptr sink;
    batch_sink* batch;
};

/// A logger as the back end knows it. The records in the lanes point to it. The back end deletes it
/// after it has written each record with a stamp before the end of the logger, so records need no
/// reference counts. Name, sinks, policy and error channel never change.
class LoggerState {
public:
    LoggerState(std::string loggerName, const std::vector<spdlog::sink_ptr>& sinkList,
                Overflow itsPolicy, std::shared_ptr<ErrorChannel> channel)
        : name(std::move(loggerName)), policy(itsPolicy), errors(std::move(channel)) {
        sinks.reserve(sinkList.size());
        for (const spdlog::sink_ptr& sink : sinkList) {
            sinks.emplace_back(sink);
        }
    }

    bool hasSameSinks(const LoggerState& other) const noexcept {
        return std::equal(sinks.begin(), sinks.end(), other.sinks.begin(), other.sinks.end(),
                          [](const SinkEntry& a, const SinkEntry& b) { return a.sink == b.sink; });
    }

    const std::string name;
    const Overflow policy;
    std::vector<SinkEntry> sinks;
    const std::shared_ptr<ErrorChannel> errors;

    /// Records of this logger that found no room. Any thread adds, relaxed: no other data depends
    /// on a count. It has a cache line of its own, because each log call reads the fields above.
    alignas(cacheLineSize) std::atomic<std::uint64_t> rejected{0};
    /// The number of rejected records that a line in the log has reported. Written by the back end.
    std::uint64_t told = 0;

    /// The stamp of the requested flush: it follows all records with smaller stamps. 0: no request.
    /// Any thread raises it, and the back end sets it to 0.
    std::atomic<Stamp> flushWanted{0};
    /// The stamp of the flush that the back end has taken and not carried out yet. 0: none. Written
    /// by the back end.
    Stamp flushTaken = 0;
};

/// The loggers of one back end. Any thread may call add(), the batching thread the other members.
/// After the end of the back end, the thread that releases it last may call remove().
class LoggerList {
public:
    LoggerList() = default;
    LoggerList(const LoggerList&) = delete;
    LoggerList& operator=(const LoggerList&) = delete;

    void add(LoggerState& logger) {
        const std::lock_guard<std::mutex> lock(mutex_);
        loggers_.push_back(&logger);
    }

    void remove(const LoggerState& logger) noexcept {
        const std::lock_guard<std::mutex> lock(mutex_);
        loggers_.erase(std::find(loggers_.begin(), loggers_.end(), &logger));
    }

    /// Calls visit(logger) for each logger, with no lock held.
    template <class Visit>
    void forEach(Visit&& visit) {
        std::size_t index = 0;
        while (LoggerState* const logger = at(index)) {
            visit(*logger);
            ++index;
        }
    }

    /// Flushes each sink once. False if a sink threw or if there was no memory. If several loggers
    /// share the sink, one of them receives the exception.
    [[nodiscard]] bool flush() noexcept {
        try {
            bool isFlushed = true;
            std::vector<const spdlog::sinks::sink*> flushed;
            forEach([&](LoggerState& logger) {
                for (const SinkEntry& entry : logger.sinks) {
                    const auto* const sink = entry.sink.get();
                    if (std::find(flushed.begin(), flushed.end(), sink) == flushed.end()) {
                        flushed.push_back(sink);
                        isFlushed =
                            guarded(*logger.errors, {}, [&] { entry.sink->flush(); }) && isFlushed;
                    }
                }
            });
            return isFlushed;
        } catch (const std::bad_alloc&) {
            return false;
        }
    }

    /// Called around fork(), so that the child receives a complete list.
    void lock() noexcept { mutex_.lock(); }
    void unlock() noexcept { mutex_.unlock(); }

private:
    /// Returns null for an index behind the end. Other threads only add loggers, at the end, so an
    /// index stays valid.
    LoggerState* at(std::size_t index) noexcept {
        const std::lock_guard<std::mutex> lock(mutex_);
        return index < loggers_.size() ? loggers_[index] : nullptr;
    }

    std::mutex mutex_;  ///< guards the following
    std::vector<LoggerState*> loggers_;
};

}  // namespace sluice::log::detail
