#pragma once

#include <sluice/log/detail/backend/logger_state.hpp>

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <new>
#include <vector>

namespace sluice::log::detail {

/// The loggers of one back end. Any thread may call add(). The harvesting thread calls the other
/// members. After the end of the back end, the thread that releases it last may call remove().
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

    /// Calls visit(logger) for each logger. It holds no lock during the call.
    template <class Visit>
    void forEach(Visit&& visit) {
        std::size_t index = 0;
        while (LoggerState* const logger = at(index)) {
            visit(*logger);
            ++index;
        }
    }

    /// Flushes each sink once. False if a sink threw or if there was no memory. If several loggers
    /// share the sink, one of them gets the exception.
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

    /// Called around fork(), so that the child gets a complete list.
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
