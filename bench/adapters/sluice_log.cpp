/// \file
/// Our own log.

#include "adapters/log_subjects.hpp"

#include <sluice/log/backend.hpp>
#include <sluice/log/deferred.hpp>
#include <sluice/log/file_sink.hpp>
#include <sluice/log/logger.hpp>

#include <spdlog/logger.h>
#include <spdlog/sinks/basic_file_sink.h>

#include <memory>

namespace sluice::bench {

namespace {

/// Without a back end: what the sink and its formatter alone make of it.
class SyncLog {
public:
    static constexpr bool inTimeOrder = false;

    SyncLog(const std::string& path, std::size_t)
        : logger_("bench", std::make_shared<log::file_sink_mt>(path, true)) {
        logger_.set_pattern(logPattern);
    }

    void log(std::uint64_t number) { logger_.info("Hello logger: msg number {}", number); }
    void drain() { logger_.flush(); }

private:
    spdlog::logger logger_;
};

log::backend_options optionsOf(std::size_t slots) {
    log::backend_options options;
    options.queue_size = slots;
    return options;
}

/// Who formats the message.
enum class Formats { caller, backEnd };

template <class Sink, Formats Who>
class AsyncLog {
public:
    static constexpr bool inTimeOrder = true;

    AsyncLog(const std::string& path, std::size_t slots)
        : backend_(std::make_shared<log::backend>(optionsOf(slots))),
          logger_("bench", std::make_shared<Sink>(path, true), backend_) {
        logger_.set_pattern(logPattern);
    }

    void log(std::uint64_t number) {
        if constexpr (Who == Formats::caller) {
            logger_.info("Hello logger: msg number {}", number);
        } else {
            SLUICE_LOG_INFO(logger_, "Hello logger: msg number {}", number);
        }
    }
    void drain() { backend_->flush_wait(); }

private:
    std::shared_ptr<log::backend> backend_;
    log::async_logger logger_;
};

}  // namespace

void addSluiceLogs(LogSubjects& subjects) {
    Subject info;
    info.ours = true;
    info.library = "sluice";
    info.features.bound = "8192 records of each thread";
    info.features.blocking = true;
    info.features.statistics = true;
    info.id = "sluice/spdlog-calls";
    info.use = "async_logger with a file_sink_mt, policy block";
    addLog<AsyncLog<log::file_sink_mt, Formats::caller>>(subjects, info);
    info.id = "sluice/deferred";
    info.use = "SLUICE_LOG_INFO, async_logger with a file_sink_mt, policy block";
    addLog<AsyncLog<log::file_sink_mt, Formats::backEnd>>(subjects, info);
    info.id = "sluice/spdlog-calls:basic_file_sink";
    info.use = "async_logger with spdlog's basic_file_sink_mt, policy block";
    addLog<AsyncLog<spdlog::sinks::basic_file_sink_mt, Formats::caller>>(subjects, info);
    info.features = {};
    info.id = "sluice/sync";
    info.use = "spdlog::logger with a file_sink_mt";
    addLog<SyncLog>(subjects, info);
}

}  // namespace sluice::bench
