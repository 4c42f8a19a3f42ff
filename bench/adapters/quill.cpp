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

// What spdlog's 8192 slots are: a record with one number takes 40 bytes.
struct Bounded : quill::FrontendOptions {
    static constexpr quill::QueueType queue_type = quill::QueueType::BoundedBlocking;
    static constexpr std::size_t initial_queue_capacity = std::size_t{512} * 1024;
};

template <class Options>
class QuillLog {
    using Frontend = quill::FrontendImpl<Options>;
    using Logger = quill::LoggerImpl<Options>;

public:
    static constexpr bool inTimeOrder = false;

    QuillLog(const std::string& path, std::size_t) {
        quill::Backend::start();
        quill::FileSinkConfig config;
        config.set_open_mode('w');
        logger_ = Frontend::create_or_get_logger(
            path, Frontend::template create_or_get_sink<quill::FileSink>(path, config),
            quill::PatternFormatterOptions{"[%(time)] [bench] [%(log_level)] %(message)",
                                           "%Y-%m-%d %H:%M:%S.%Qus", quill::Timezone::LocalTime});
    }
    QuillLog(const QuillLog&) = delete;
    QuillLog& operator=(const QuillLog&) = delete;
    ~QuillLog() {
        Frontend::remove_logger_blocking(logger_);
        quill::Backend::stop();
    }

    void log(std::uint64_t number) {
        QUILL_LOG_INFO(logger_, "Hello logger: msg number {}", number);
    }
    void drain() { logger_->flush_log(); }

private:
    Logger* logger_;
};

#endif

void addOne(LogSubjects& subjects, const std::string& id, const std::string& use,
            const std::string& bound) {
    Subject info;
    info.id = id;
    info.library = "quill";
    info.use = use;
    info.features.bound = bound;
    info.features.blocking = true;
#if defined(SLUICE_PEER_QUILL)
    info.version = std::to_string(quill::VersionMajor) + "." + std::to_string(quill::VersionMinor) +
                   "." + std::to_string(quill::VersionPatch);
    if (id == "quill") {
        addLog<QuillLog<quill::FrontendOptions>>(subjects, info);
    } else {
        addLog<QuillLog<Bounded>>(subjects, info);
    }
#else
    info.absentBecause = notCompiledIn("SLUICE_PEER_QUILL_INCLUDE");
    subjects.push_back({info, {}});
#endif
}

}  // namespace

void addQuill(LogSubjects& subjects) {
    addOne(subjects, "quill", "LOG_INFO, all options as they are", "unbounded");
    addOne(subjects, "quill:bounded", "LOG_INFO, BoundedBlocking, 512 KiB for each thread",
           "512 KiB");
}

}  // namespace sluice::bench
