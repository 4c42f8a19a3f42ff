// The code of docs/migrating-from-spdlog-async.md: the same program before and after.

#include <sluice/log/functions.hpp>

#include <spdlog/async.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/spdlog.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include <unistd.h>

namespace {

const std::string file = "/tmp/sluice_migrating_from_spdlog_" + std::to_string(getpid());

void work(spdlog::logger& log) {
    for (int i = 0; i < 1000; ++i) {
        log.info("message {}", i);
    }
}

void before() {
    spdlog::init_thread_pool(8192, 1);
    auto log = spdlog::basic_logger_mt<spdlog::async_factory>("core", file);
    work(*log);
    log.reset();
    spdlog::shutdown();
}

void after() {
    sluice::log::init(8192, 1);
    auto log = spdlog::basic_logger_mt<sluice::log::async_factory>("core", file);
    work(*log);
    log.reset();
    sluice::log::shutdown();
}

std::size_t lines() {
    std::ifstream stream(file);
    std::size_t count = 0;
    for (std::string line; std::getline(stream, line);) {
        ++count;
    }
    return count;
}

}  // namespace

int main() {
    before();
    const bool hasAll = lines() == 1000;
    after();
    const bool hasAgain = lines() == 2000;
    std::filesystem::remove(file);
    return hasAll && hasAgain ? 0 : 1;
}
