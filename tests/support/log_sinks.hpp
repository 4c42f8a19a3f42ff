#pragma once

#include <sluice/log/batch_sink.hpp>
#include <sluice/log/pattern_formatter.hpp>

#include <spdlog/details/log_msg_buffer.h>
#include <spdlog/sinks/base_sink.h>

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace sluice::test {

/// A line that a sink received.
struct LoggedLine {
    std::string logger;
    std::string text;
    spdlog::level::level_enum level;
    spdlog::log_clock::time_point time;
    std::size_t thread;
    spdlog::source_loc source;
    std::thread::id calledBy;
};

/// Stores the lines that it receives. Any thread may read them at any time.
class CollectingSink : public spdlog::sinks::base_sink<std::mutex> {
public:
    std::vector<LoggedLine> lines() {
        const std::lock_guard<std::mutex> lock(mutex_);
        return lines_;
    }
    /// The texts without anything else.
    std::vector<std::string> texts() {
        std::vector<std::string> result;
        for (const LoggedLine& line : lines()) {
            result.push_back(line.text);
        }
        return result;
    }
    /// The lines as the pattern formats them, without their line ends.
    std::vector<std::string> formatted() {
        const std::lock_guard<std::mutex> lock(mutex_);
        return formatted_;
    }
    bool hasFormatterOfSluice() {
        const std::lock_guard<std::mutex> lock(mutex_);
        return dynamic_cast<const log::pattern_formatter*>(formatter_.get()) != nullptr;
    }
    std::size_t flushes() {
        const std::lock_guard<std::mutex> lock(mutex_);
        return flushes_;
    }
    /// The number of lines at each flush.
    std::vector<std::size_t> linesAtFlush() {
        const std::lock_guard<std::mutex> lock(mutex_);
        return linesAtFlush_;
    }

    /// Called for each line, under the sink's lock. Set it before the first record.
    std::function<void(const spdlog::details::log_msg&)> onLine;
    std::function<void()> onFlush;

protected:
    void sink_it_(const spdlog::details::log_msg& message) override {
        if (onLine) {
            onLine(message);
        }
        spdlog::memory_buf_t text;
        formatter_->format(message, text);
        formatted_.emplace_back(text.data(), text.size() - 1);
        lines_.push_back({std::string(message.logger_name.data(), message.logger_name.size()),
                          std::string(message.payload.data(), message.payload.size()),
                          message.level, message.time, message.thread_id, message.source,
                          std::this_thread::get_id()});
    }
    void flush_() override {
        if (onFlush) {
            onFlush();
        }
        ++flushes_;
        linesAtFlush_.push_back(lines_.size());
    }

private:
    std::vector<LoggedLine> lines_;
    std::vector<std::string> formatted_;
    std::vector<std::size_t> linesAtFlush_;
    std::size_t flushes_ = 0;
};

/// A place where threads wait until a test lets them go on.
class Gate {
public:
    void pass() {
        std::unique_lock<std::mutex> lock(mutex_);
        ++arrived_;
        changed_.notify_all();
        changed_.wait(lock, [this] { return isOpen_; });
    }
    void open() {
        const std::lock_guard<std::mutex> lock(mutex_);
        isOpen_ = true;
        changed_.notify_all();
    }
    /// The number of threads that wait here.
    std::size_t pending() {
        const std::lock_guard<std::mutex> lock(mutex_);
        return isOpen_ ? 0 : arrived_;
    }
    /// Waits until this many threads have come.
    void awaitArrival(std::size_t count = 1) {
        std::unique_lock<std::mutex> lock(mutex_);
        changed_.wait(lock, [&] { return arrived_ >= count; });
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::size_t arrived_ = 0;
    bool isOpen_ = false;
};

/// Holds the thread that brings the first line until the gate is opened.
class GatedSink : public CollectingSink {
public:
    GatedSink() {
        onLine = [this](const spdlog::details::log_msg&) { gate.pass(); };
    }
    ~GatedSink() override { gate.open(); }
    Gate gate;
};

/// The errors that error handlers received, from any thread.
class Errors {
public:
    spdlog::err_handler handler() {
        return [this](const std::string& text) {
            const std::lock_guard<std::mutex> lock(mutex_);
            texts_.push_back(text);
            threads_.push_back(std::this_thread::get_id());
        };
    }
    std::vector<std::string> texts() {
        const std::lock_guard<std::mutex> lock(mutex_);
        return texts_;
    }
    std::vector<std::thread::id> threads() {
        const std::lock_guard<std::mutex> lock(mutex_);
        return threads_;
    }

private:
    std::mutex mutex_;
    std::vector<std::string> texts_;
    std::vector<std::thread::id> threads_;
};

}  // namespace sluice::test
