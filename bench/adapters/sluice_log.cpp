/// \file
/// Our own log.

#include "adapters/log_subjects.hpp"

#include <sluice/log/file_sink.hpp>

#include <spdlog/logger.h>

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

}  // namespace

void addSluiceLogs(LogSubjects& subjects) {
    Subject info;
    info.ours = true;
    info.library = "sluice";
    info.id = "sluice/sync";
    info.use = "spdlog::logger with a file_sink_mt";
    addLog<SyncLog>(subjects, info);
}

}  // namespace sluice::bench
