/// \file
/// quill. It has one back end for the whole program, which is started and stopped in each round.

#include "adapters/log_subjects.hpp"

#if defined(SLUICE_PEER_QUILL)
#include <quill/Backend.h>
#include <quill/Frontend.h>
#include <quill/LogMacros.h>
#include <quill/Logger.h>
#include <quill/sinks/FileSink.h>
#endif

namespace sluice::bench {

namespace {

#if defined(SLUICE_PEER_QUILL)

class QuillLog {
public:
    static constexpr bool inTimeOrder = false;

    QuillLog(const std::string& path, std::size_t) {
        quill::BackendOptions options;
        options.error_notifier = [](const std::string&) {};  // it tells of every growth of a queue
        quill::Backend::start(options);
        quill::FileSinkConfig config;
        config.set_open_mode('w');
        logger_ = quill::Frontend::create_or_get_logger(
            path, quill::Frontend::create_or_get_sink<quill::FileSink>(path, config),
            quill::PatternFormatterOptions{"[%(time)] [bench] [%(log_level)] %(message)",
                                           "%Y-%m-%d %H:%M:%S.%Qus", quill::Timezone::LocalTime});
    }
    QuillLog(const QuillLog&) = delete;
    QuillLog& operator=(const QuillLog&) = delete;
    ~QuillLog() {
        quill::Frontend::remove_logger_blocking(logger_);
        quill::Backend::stop();
    }

    void log(std::uint64_t number) {
        QUILL_LOG_INFO(logger_, "Hello logger: msg number {}", number);
    }
    void drain() { logger_->flush_log(); }

private:
    quill::Logger* logger_;
};

#endif

}  // namespace

void addQuill(LogSubjects& subjects) {
    Subject info;
    info.id = "quill";
    info.library = "quill";
    info.use = "LOG_INFO, default options";
    info.features.bound = "unbounded";
    info.features.blocking = true;
#if defined(SLUICE_PEER_QUILL)
    info.version = std::to_string(quill::VersionMajor) + "." + std::to_string(quill::VersionMinor) +
                   "." + std::to_string(quill::VersionPatch);
    addLog<QuillLog>(subjects, info);
#else
    info.absentBecause = notCompiledIn("SLUICE_PEER_QUILL_INCLUDE");
    subjects.push_back({info, {}});
#endif
}

}  // namespace sluice::bench
