#pragma once

#include <sluice/log/detail/backend/logger_state.hpp>

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <new>
#include <vector>

namespace sluice::log::detail {

/// The loggers of one back end. Any thread may add; who harvests alone removes, or whoever holds
/// the last reference to a back end that has ended.
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

    /// Calls `visit(logger)` for each, under no lock. By who harvests.
    template <class Visit>
    void forEach(Visit&& visit) {
        std::size_t index = 0;
        while (LoggerState* const logger = at(index)) {
            visit(*logger);
            ++index;
        }
    }

    /// Flushes each sink once, in the name of one of its loggers. By who harvests. False when a
    /// sink threw, which its logger is told, or when there was no memory.
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

    /// Around fork(), so that the child finds the list whole.
    void lock() noexcept { mutex_.lock(); }
    void unlock() noexcept { mutex_.unlock(); }

private:
    /// Null behind the last one. Others are only added meanwhile, at the end.
    LoggerState* at(std::size_t index) noexcept {
        const std::lock_guard<std::mutex> lock(mutex_);
        return index < loggers_.size() ? loggers_[index] : nullptr;
    }

    std::mutex mutex_;
    std::vector<LoggerState*> loggers_;
};

}  // namespace sluice::log::detail
