#pragma once

/// \file
/// quill. It supports one choice of front-end options in a program. A source that makes another
/// choice defines `quill` as another namespace before it includes this file: that gives it a copy
/// of the library. Each copy has one back end, which is started and stopped in each round.

#include <quill/Backend.h>
#include <quill/Frontend.h>
#include <quill/LogMacros.h>
#include <quill/Logger.h>
#include <quill/sinks/FileSink.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace sluice::bench {

/// `Options` are those of the front end; `BackEnd` returns those of the back end.
template <class Options, quill::BackendOptions (*BackEnd)()>
class QuillLog {
    using Frontend = quill::FrontendImpl<Options>;

public:
    static constexpr bool inTimeOrder = false;

    QuillLog(const std::string& path, std::size_t) {
        quill::BackendOptions options = BackEnd();
        options.error_notifier = [](const std::string&) {};  // it tells of every growth of a queue
        quill::Backend::start(options);
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

    static std::string version() {
        return std::to_string(quill::VersionMajor) + "." + std::to_string(quill::VersionMinor) +
               "." + std::to_string(quill::VersionPatch);
    }

private:
    quill::LoggerImpl<Options>* logger_;
};

/// The options of a back end as quill has them. A template, so that copies of the library have
/// functions of different names.
template <class BackendOptions>
BackendOptions asDelivered() {
    return {};
}

}  // namespace sluice::bench
