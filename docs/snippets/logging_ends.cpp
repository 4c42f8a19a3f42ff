// The code of docs/how-to/end-a-program-that-logs.md. Each end of a program runs in a child
// process; the parent then looks for the last line in the child's file.

#include <sluice/log.hpp>

#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/spdlog.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using namespace std::chrono_literals;

std::shared_ptr<spdlog::logger> makeLog(const std::string& file) {
    auto log = spdlog::basic_logger_mt<sluice::log::async_factory>("app", file);
    log->flush_on(spdlog::level::err);
    return log;
}

int onReturn(const std::string& file) {
    const auto log = makeLog(file);
    log->critical("the last line");
    return 0;
}

int onExit(const std::string& file) {
    const auto log = makeLog(file);
    log->critical("the last line");
    std::exit(0);  // NOLINT(concurrency-mt-unsafe): no other thread calls it
}

int onAbort(const std::string& file) {
    sluice::log::install_crash_handler(2s);
    const auto log = makeLog(file);
    log->critical("the last line");
    std::abort();
}

int onException(const std::string& file) {
    sluice::log::install_crash_handler(2s);
    const auto log = makeLog(file);
    log->critical("the last line");
    std::thread([] { throw std::runtime_error("nothing catches it"); }).join();
    return 0;
}

int onSigterm(const std::string& file) {
    sluice::log::install_crash_handler(2s, {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTERM});
    const auto log = makeLog(file);
    log->critical("the last line");
    std::raise(SIGTERM);
    return 0;
}

int onQuickExit(const std::string& file) {
    std::at_quick_exit([] { sluice::log::flush_wait(2s); });
    const auto log = makeLog(file);
    log->critical("the last line");
    std::quick_exit(0);
}

int onUnderscoreExit(const std::string& file) {
    const auto log = makeLog(file);
    log->critical("the last line");
    sluice::log::flush_wait(2s);
    ::_exit(0);
}

int onSigkill(const std::string& file) {
    sluice::log::backend_options options;
    options.flush_on_waits = true;
    sluice::log::init(options);
    const auto log = makeLog(file);  // with flush_on(spdlog::level::err)
    log->critical("the last line");  // returns when the line is in the file
    ::raise(SIGKILL);
    return 0;
}

bool keepsTheLastLine(int (*end)(const std::string&), const std::string& file) {
    const ::pid_t child = ::fork();
    if (child == 0) {
        const ::rlimit noCore{0, 0};
        ::setrlimit(RLIMIT_CORE, &noCore);
        std::exit(end(file));  // NOLINT(concurrency-mt-unsafe): no other thread calls it
    }
    int status = 0;
    if (child < 0 || ::waitpid(child, &status, 0) != child) {
        return false;
    }
    std::ifstream stream(file);
    const std::string text{std::istreambuf_iterator<char>(stream), {}};
    return text.find("the last line") != std::string::npos;
}

}  // namespace

int main() {
    char name[] = "/tmp/sluice_logging_ends_XXXXXX";
    const std::string folder = ::mkdtemp(name);
    int (*const ends[])(const std::string&) = {onReturn,         onExit,    onAbort,
                                               onException,      onSigterm, onQuickExit,
                                               onUnderscoreExit, onSigkill};
    int failed = 0;
    int number = 0;
    for (const auto end : ends) {
        if (!keepsTheLastLine(end, folder + "/" + std::to_string(number++))) {
            std::printf("end %d lost its last line\n", number);
            ++failed;
        }
    }
    std::filesystem::remove_all(folder);
    return failed;
}
