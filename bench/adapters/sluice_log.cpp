/// \file
/// Our own log.

#include "adapters/arrival_sink.hpp"
#include "adapters/log_subjects.hpp"

#include <sluice/log/backend.hpp>
#include <sluice/log/deferred.hpp>
#include <sluice/log/file_sink.hpp>
#include <sluice/log/logger.hpp>

#include <spdlog/logger.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/sink.h>

#include <memory>
#include <vector>

namespace sluice::bench {

namespace {

/// The sink and its formatter alone, without a back end.
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

/// The thread that formats the message.
enum class Formats { caller, backEnd };

template <class Sink, Formats Who>
class AsyncLog {
public:
    static constexpr bool inTimeOrder = true;

    AsyncLog(const std::string& path, std::size_t slots)
        : AsyncLog(slots, {std::make_shared<Sink>(path, true)}) {}
    AsyncLog(std::size_t slots, spdlog::sinks_init_list sinks)
        : backend_(std::make_shared<log::backend>(optionsOf(slots))),
          logger_("bench", sinks, backend_) {
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

/// Notes when its sinks get a record.
template <class Sink, Formats Who>
class SparseLog : public AsyncLog<Sink, Who> {
    using Arrivals = ArrivalSink<spdlog::sinks::sink>;

public:
    SparseLog(const std::string& path, std::size_t slots)
        : SparseLog(path, slots, std::make_shared<Arrivals>()) {}

    const std::vector<Nanoseconds>& arrivals() const { return arrivals_->times(); }

private:
    SparseLog(const std::string& path, std::size_t slots, const std::shared_ptr<Arrivals>& arrivals)
        : AsyncLog<Sink, Who>(slots, {std::make_shared<Sink>(path, true), arrivals}),
          arrivals_(arrivals) {}

    std::shared_ptr<Arrivals> arrivals_;
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
    addSparse<SparseLog<log::file_sink_mt, Formats::caller>>(subjects);
    info.id = "sluice/deferred";
    info.use = "SLUICE_LOG_INFO, async_logger with a file_sink_mt, policy block";
    addLog<AsyncLog<log::file_sink_mt, Formats::backEnd>>(subjects, info);
    addSparse<SparseLog<log::file_sink_mt, Formats::backEnd>>(subjects);
    info.id = "sluice/spdlog-calls:basic_file_sink";
    info.use = "async_logger with spdlog's basic_file_sink_mt, policy block";
    addLog<AsyncLog<spdlog::sinks::basic_file_sink_mt, Formats::caller>>(subjects, info);
    addSparse<SparseLog<spdlog::sinks::basic_file_sink_mt, Formats::caller>>(subjects);
    info.features = {};
    info.id = "sluice/sync";
    info.use = "spdlog::logger with a file_sink_mt";
    addLog<SyncLog>(subjects, info);
}

}  // namespace sluice::bench
