#pragma once

#include <sluice/log/detail/backend/logger_state.hpp>

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <new>
#include <vector>

namespace sluice::log::detail {

/// The loggers of one back end. Any thread may add one. The harvesting thread removes one; after
/// the back end's end, the thread with its last reference does.
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

    /// Calls `visit(logger)` for each logger, without the lock. The harvesting thread calls it.
    template <class Visit>
    void forEach(Visit&& visit) {
        std::size_t index = 0;
        while (LoggerState* const logger = at(index)) {
            visit(*logger);
            ++index;
        }
    }

    /// Flushes each sink once. The harvesting thread calls it. False if a sink threw or if there
    /// was no memory. One of the loggers of the sink gets the exception.
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

    /// Around fork(), so that the child gets a complete list.
    void lock() noexcept { mutex_.lock(); }
    void unlock() noexcept { mutex_.unlock(); }

private:
    /// Null for an index behind the end. Other threads only add, at the end.
    LoggerState* at(std::size_t index) noexcept {
        const std::lock_guard<std::mutex> lock(mutex_);
        return index < loggers_.size() ? loggers_[index] : nullptr;
    }

    std::mutex mutex_;  ///< guards the following
    std::vector<LoggerState*> loggers_;
};

}  // namespace sluice::log::detail
