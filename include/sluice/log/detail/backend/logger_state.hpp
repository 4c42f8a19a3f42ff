#pragma once

#include <sluice/base/on_exit.hpp>
#include <sluice/base/platform.hpp>
#include <sluice/base/send_result.hpp>
#include <sluice/log/batch_sink.hpp>
#include <sluice/log/detail/lanes/stamp_clock.hpp>

#include <spdlog/logger.h>
#include <spdlog/sinks/sink.h>

#include <algorithm>
#include <array>
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

/// Passes sink errors to a logger's error handler, even after the logger has ended.
///
/// Thread safety: any thread may call any member. The handler may change only while no thread logs.
class ErrorChannel {
public:
    ErrorChannel(std::string name, const spdlog::err_handler* handler)
        : name_(std::move(name)), live_(handler) {}

    /// Copies the logger's handler. Call release() before the logger is destroyed.
    void release() noexcept {
        const std::lock_guard<std::mutex> lock(mutex_);
        try {
            kept_ = *live_;
        } catch (...) {
            // If copying the handler fails, kept_ stays empty and report() uses spdlog's handler.
        }
        live_ = nullptr;
    }

    /// Calls the error handler with no lock held, and catches the handler's exceptions. If no
    /// handler is set, prints to stderr, at most one line a second, like spdlog. Adds the source
    /// location of the log call if `source` has one.
    void report(const char* what, const spdlog::source_loc& source) const noexcept {
        try {
            std::string text = what;
            if (source.filename != nullptr) {
                text.append(" [").append(source.filename).append("(");
                text.append(std::to_string(source.line)).append(")]");
            }
            Reporter reporter(name_);
            reporter.set_error_handler(handler());
            handleOnce([&] { reporter.err_handler_(text); });
        } catch (...) {
            // The error handler has thrown, or there is no memory for `text`.
        }
    }

    /// Calls handle(), unless the calling thread is already in handleOnce(). Without this check, an
    /// error handler that logs to an ended back end would call itself forever.
    template <class Handle>
    static void handleOnce(Handle&& handle) {
        if (!isHandling_) {
            isHandling_ = true;
            const sluice::detail::OnExit reset{[] { isHandling_ = false; }};
            handle();
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

    [[gnu::visibility("default")]] inline static thread_local bool isHandling_ = false;

    const std::string name_;
    mutable std::mutex mutex_;         ///< guards live_ and kept_
    const spdlog::err_handler* live_;  ///< the logger's handler; null after release()
    spdlog::err_handler kept_;         ///< copy of the logger's handler, made by release()
};

/// Calls report(const char*) with the text of the exception that the caller is handling.
template <class Report>
void reportCaught(Report&& report) {
    try {
        throw;
    } catch (const std::exception& error) {
        report(error.what());
    } catch (...) {
        report("unknown exception");
    }
}

/// Runs user code. If action() throws, reports the exception to `errors` and returns false.
template <class Action>
bool guarded(const ErrorChannel& errors, const spdlog::source_loc& source,
             Action&& action) noexcept {
    try {
        action();
        return true;
    } catch (...) {
        reportCaught([&](const char* what) { errors.report(what, source); });
    }
    return false;
}

inline std::string droppedText(std::uint64_t dropped) {
    return std::to_string(dropped) + (dropped == 1 ? " record dropped" : " records dropped");
}

struct SinkEntry {
    explicit SinkEntry(spdlog::sink_ptr taken)
        : sink(std::move(taken)), batch(dynamic_cast<batch_sink*>(sink.get())) {}

    spdlog::sink_ptr sink;
    batch_sink* batch;  ///< null unless the sink is a batch_sink
};

/// The back end's copy of a logger. Records point to the LoggerState of their logger without a
/// reference count, because the back end deletes a LoggerState only after the last record.
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

    /// The count of the records of one level that were evicted, or rejected for lack of space.
    struct Missing {
        std::atomic<std::uint64_t> count{0};
        std::uint64_t reported = 0;  ///< records reported so far; written by the back end

        /// The number of missing records that no notice has reported yet.
        std::uint64_t unreported() const noexcept {
            return count.load(std::memory_order_relaxed) - reported;  // value only
        }
    };
    void countMissing(std::uint8_t level) noexcept {
        missing[level].count.fetch_add(1, std::memory_order_relaxed);  // value only
    }

    // `missing` has its own cache line, because each log call reads the fields above `missing`.
    alignas(cacheLineSize) std::array<Missing, spdlog::level::n_levels> missing;  ///< by level

    /// Requests a flush after all records with smaller stamps; 0: none. Raised by any thread.
    std::atomic<Stamp> flushWanted{0};
    Stamp flushTaken = 0;  ///< stamp of the flush request that the back end has taken, or 0
};

/// The loggers of one back end. Any thread may call add() and findUser(); only the thread that
/// writes a batch may call other members. After the back end's end, any thread may call remove().
class LoggerList {
public:
    LoggerState& add(std::unique_ptr<LoggerState> logger) {
        const std::lock_guard<std::mutex> lock(mutex_);
        return *loggers_.emplace_back(std::move(logger));
    }

    /// Destroys an ended logger. If lanes still hold its records (`hasRecords`), destroys only the
    /// sinks, because a post that evicts such a record reads the logger's policy.
    void remove(const LoggerState& logger, bool hasRecords) noexcept {
        std::unique_ptr<LoggerState> ended;  // destroyed after the lock is released, like `sinks`
        std::vector<SinkEntry> sinks;
        const std::lock_guard<std::mutex> lock(mutex_);
        const auto found = std::find_if(loggers_.begin(), loggers_.end(),
                                        [&](const auto& one) { return one.get() == &logger; });
        if (hasRecords) {
            sinks.swap((*found)->sinks);
        } else {
            ended = std::move(*found);
            loggers_.erase(found);
        }
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

    /// Finds a logger by the address of its name, or returns null.
    LoggerState* find(const char* name) noexcept {
        const std::lock_guard<std::mutex> lock(mutex_);
        const auto found =
            std::find_if(loggers_.begin(), loggers_.end(),
                         [name](const auto& logger) { return logger->name.data() == name; });
        return found == loggers_.end() ? nullptr : found->get();
    }

    /// Returns the sink and the error channel of a logger that has the sink and is not `except`.
    /// Returns null pointers if no such logger exists.
    std::pair<spdlog::sink_ptr, std::shared_ptr<ErrorChannel>>
    findUser(const spdlog::sinks::sink& sink, const LoggerState* except = nullptr) noexcept {
        const std::lock_guard<std::mutex> lock(mutex_);
        for (const std::unique_ptr<LoggerState>& logger : loggers_) {
            for (const SinkEntry& entry : logger->sinks) {
                if (entry.sink.get() == &sink && logger.get() != except) {
                    return {entry.sink, logger->errors};
                }
            }
        }
        return {};
    }

    /// Flushes each sink once. Returns false if a sink threw or memory is exhausted. If several
    /// loggers share the sink that threw, the exception goes to one of these loggers.
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

    // fork() locks the list, so that the child receives a complete list.
    void lock() noexcept { mutex_.lock(); }
    void unlock() noexcept { mutex_.unlock(); }

private:
    /// Returns null past the last logger. Indexes stay valid: other threads only append loggers.
    LoggerState* at(std::size_t index) noexcept {
        const std::lock_guard<std::mutex> lock(mutex_);
        return index < loggers_.size() ? loggers_[index].get() : nullptr;
    }

    std::mutex mutex_;  ///< guards loggers_
    std::vector<std::unique_ptr<LoggerState>> loggers_;
};

}  // namespace sluice::log::detail
