// The code of docs/how-to/keep-slow-sinks-apart.md. A slow sink stands still until the end, and the
// lines of the other sinks are written.

#include <sluice/log.hpp>

#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/sink.h>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace {

using namespace std::chrono_literals;

const std::string folder = (std::filesystem::temp_directory_path() / "sluice_slow_sinks").string();

/// Stands for a server that does not answer until open() is called.
class ServerSink final : public spdlog::sinks::base_sink<std::mutex> {
public:
    void open() {
        const std::lock_guard<std::mutex> lock(gate_);
        isOpen_ = true;
        opened_.notify_all();
    }
    std::size_t received() {
        const std::lock_guard<std::mutex> lock(mutex_);
        return received_;
    }

protected:
    void sink_it_(const spdlog::details::log_msg& /*message*/) override {
        std::unique_lock<std::mutex> lock(gate_);
        opened_.wait(lock, [this] { return isOpen_; });
        ++received_;
    }
    void flush_() override {}

private:
    std::mutex gate_;
    std::condition_variable opened_;
    bool isOpen_ = false;
    std::size_t received_ = 0;
};

bool hasLine(const std::string& file, const std::string& text) {
    std::ifstream lines(file);
    for (std::string line; std::getline(lines, line);) {
        if (line.find(text) != std::string::npos) {
            return true;
        }
    }
    return false;
}

bool twoLoggers() {
    const auto server = std::make_shared<ServerSink>();
    const std::string file = folder + "/orders.log";

    sluice::log::backend_options options;
    options.thread_name = "log-server";
    const auto forServer = std::make_shared<sluice::log::backend>(options);
    options.thread_name = "log-file";
    const auto forFile = std::make_shared<sluice::log::backend>(options);

    const auto audit = std::make_shared<sluice::log::async_logger>("audit", server, forServer,
                                                                   sluice::Overflow::dropOldest);
    const auto orders = std::make_shared<sluice::log::async_logger>(
        "orders", std::make_shared<sluice::log::file_sink_mt>(file), forFile);

    audit->info("waits for the server");
    orders->info("order 17 done");
    const bool isWritten = forFile->flush_wait(10s);  // does not wait for the server

    const bool isFound = hasLine(file, "order 17 done");
    server->open();
    return isWritten && isFound && forServer->flush_wait(10s) && server->received() == 1;
}

/// Passes each line to a logger of another back end. It never waits: without room the line is lost.
class ForwardingSink final : public spdlog::sinks::sink {
public:
    explicit ForwardingSink(std::shared_ptr<spdlog::logger> to) : to_(std::move(to)) {}

    void log(const spdlog::details::log_msg& message) override {
        to_->log(message.time, message.source, message.level, message.payload);
    }
    void flush() override { to_->flush(); }
    void set_pattern(const std::string& pattern) override { to_->set_pattern(pattern); }
    void set_formatter(std::unique_ptr<spdlog::formatter> formatter) override {
        to_->set_formatter(std::move(formatter));
    }

private:
    const std::shared_ptr<spdlog::logger> to_;
};

bool oneLogger() {
    const auto server = std::make_shared<ServerSink>();
    const std::string file = folder + "/both.log";

    sluice::log::backend_options options;
    options.queue_size = 100'000;  // the forwarding thread has one lane for all lines
    const auto forServer = std::make_shared<sluice::log::backend>(options);
    const auto remote = std::make_shared<sluice::log::async_logger>("remote", server, forServer,
                                                                    sluice::Overflow::dropOldest);

    const spdlog::sink_ptr toFile = std::make_shared<sluice::log::file_sink_mt>(file);
    const spdlog::sink_ptr toServer = std::make_shared<ForwardingSink>(remote);
    const auto by = std::make_shared<sluice::log::backend>();
    sluice::log::async_logger log("core", {toFile, toServer}, by);

    log.info("for both");
    const bool isWritten = by->flush_wait(10s);  // the file has the line, the server may not

    const bool isFound = hasLine(file, "for both");
    server->open();
    return isWritten && isFound && forServer->flush_wait(10s) && server->received() == 1;
}

}  // namespace

int main() {
    const bool areGood[] = {twoLoggers(), oneLogger()};
    std::filesystem::remove_all(folder);
    return areGood[0] && areGood[1] ? 0 : 1;
}
