// The code of docs/migrating-from-spdlog-async.md: a program of which the include alone changes.

#include <sluice/log/spdlog_async.hpp>  // was: <spdlog/async.h>

#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/spdlog.h>

#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include <unistd.h>

int main() {
    const std::string file = "/tmp/sluice_migrating_names_" + std::to_string(getpid());
    spdlog::init_thread_pool(8192, 1);
    auto sink = std::make_shared<spdlog::sinks::basic_file_sink_mt>(file);
    auto log =
        std::make_shared<spdlog::async_logger>("core", std::move(sink), spdlog::thread_pool());
    log->set_pattern("%v");
    log->info("unchanged");
    log.reset();
    spdlog::shutdown();
    const bool isWritten = std::filesystem::file_size(file) == 10;
    std::filesystem::remove(file);
    return isWritten ? 0 : 1;
}
