#pragma once

#include <sluice/log/detail/control_list.hpp>
#include <sluice/log/detail/logger_state.hpp>
#include <sluice/log/detail/record_writer.hpp>

#include <algorithm>
#include <memory>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

namespace sluice::log::detail {

/// The loggers of one back end.
///
/// Any thread may add. What add() returns is the logger's end, to be sent as a control when the
/// logger goes: the state is deleted with it, when the back end has come to it and every record
/// before it is written. If the back end has ended before, whoever holds it deletes it.
class LoggerList {
public:
    LoggerList() = default;
    LoggerList(const LoggerList&) = delete;
    LoggerList& operator=(const LoggerList&) = delete;

    std::unique_ptr<Control> add(std::unique_ptr<LoggerState> logger) {
        auto end = std::make_unique<LoggerEnd>(*this, std::move(logger));
        const std::lock_guard<std::mutex> lock(mutex_);
        loggers_.push_back(&end->logger());
        end->isListed = true;
        return end;
    }

    /// Calls `visit(logger)` for each. To be called by who harvests, which alone ends loggers; under
    /// no lock.
    template <class Visit>
    void forEach(Visit&& visit) {
        std::vector<LoggerState*> loggers;
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            loggers = loggers_;
        }
        std::for_each(loggers.begin(), loggers.end(), [&](LoggerState* logger) { visit(*logger); });
    }

    /// Flushes each sink once, in the name of one of its loggers. By who harvests. False when there
    /// was no memory for it; errors of sinks go to the loggers.
    [[nodiscard]] bool flush() noexcept {
        try {
            std::vector<const spdlog::sinks::sink*> flushed;
            forEach([&](LoggerState& logger) {
                for (const SinkEntry& entry : logger.sinks) {
                    const auto* const sink = entry.sink.get();
                    if (std::find(flushed.begin(), flushed.end(), sink) == flushed.end()) {
                        flushed.push_back(sink);
                        guarded(*logger.errors, {}, [&] { entry.sink->flush(); });
                    }
                }
            });
            return true;
        } catch (const std::bad_alloc&) {
            return false;
        }
    }

    /// Around fork(), so that the child finds the list whole.
    void lock() noexcept { mutex_.lock(); }
    void unlock() noexcept { mutex_.unlock(); }

private:
    class LoggerEnd : public Control {
    public:
        LoggerEnd(LoggerList& list, std::unique_ptr<LoggerState> logger)
            : list_(list), logger_(std::move(logger)) {}
        ~LoggerEnd() override {
            if (isListed) {
                list_.remove(logger_.get());
            }
        }
        LoggerState& logger() noexcept { return *logger_; }
        void run() noexcept override {}

        bool isListed = false;

    private:
        LoggerList& list_;
        std::unique_ptr<LoggerState> logger_;
    };

    void remove(const LoggerState* logger) noexcept {
        const std::lock_guard<std::mutex> lock(mutex_);
        loggers_.erase(std::find(loggers_.begin(), loggers_.end(), logger));
    }

    std::mutex mutex_;
    std::vector<LoggerState*> loggers_;
};

}  // namespace sluice::log::detail
