/// \file
/// spdlog, compiled once as Debian has it and once more with other headers where those are given,
/// under another name. The build names it: SLUICE_SPDLOG_ADD, the function's name, and
/// SLUICE_SPDLOG_ID.

#include "adapters/arrival_sink.hpp"
#include "adapters/log_subjects.hpp"

#include <spdlog/async_logger.h>
#include <spdlog/details/thread_pool.h>
#include <spdlog/logger.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/version.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

namespace sluice::bench {

namespace {

/// Tells when a flush has reached the sinks. It takes no records.
class FlushMark final : public spdlog::sinks::sink {
public:
    FlushMark() { set_level(spdlog::level::off); }

    void log(const spdlog::details::log_msg&) override {}
    void flush() override {
        const std::lock_guard lock(mutex_);
        ++flushes_;
        reached_.notify_all();
    }
    void set_pattern(const std::string&) override {}
    void set_formatter(std::unique_ptr<spdlog::formatter>) override {}

    void waitForNext(spdlog::logger& logger) {
        std::unique_lock lock(mutex_);
        const std::uint64_t before = flushes_;
        lock.unlock();
        logger.flush();
        lock.lock();
        reached_.wait(lock, [&] { return flushes_ != before; });
    }

private:
    std::mutex mutex_;
    std::condition_variable reached_;
    std::uint64_t flushes_ = 0;
};

class SyncLog {
public:
    static constexpr bool inTimeOrder = false;

    SyncLog(const std::string& path, std::size_t)
        : logger_("bench", std::make_shared<spdlog::sinks::basic_file_sink_mt>(path, true)) {
        logger_.set_pattern(logPattern);
    }

    void log(std::uint64_t number) { logger_.info("Hello logger: msg number {}", number); }
    void drain() { logger_.flush(); }

private:
    spdlog::logger logger_;
};

class AsyncLog {
public:
    static constexpr bool inTimeOrder = false;

    AsyncLog(const std::string& path, std::size_t slots)
        : AsyncLog(slots, {std::make_shared<spdlog::sinks::basic_file_sink_mt>(path, true)}) {}
    AsyncLog(std::size_t slots, std::vector<spdlog::sink_ptr> sinks)
        : pool_(std::make_shared<spdlog::details::thread_pool>(slots, 1)),
          mark_(std::make_shared<FlushMark>()) {
        sinks.push_back(mark_);
        logger_ =
            std::make_shared<spdlog::async_logger>("bench", std::begin(sinks), std::end(sinks),
                                                   pool_, spdlog::async_overflow_policy::block);
        logger_->set_pattern(logPattern);
    }

    void log(std::uint64_t number) { logger_->info("Hello logger: msg number {}", number); }
    void drain() { mark_->waitForNext(*logger_); }

private:
    // A message in the pool owns its logger, which must not be the last owner of the pool.
    std::shared_ptr<spdlog::details::thread_pool> pool_;
    std::shared_ptr<FlushMark> mark_;
    std::shared_ptr<spdlog::async_logger> logger_;
};

/// Notes when its sinks get a record.
class SparseLog : public AsyncLog {
    using Arrivals = ArrivalSink<spdlog::sinks::sink>;

public:
    SparseLog(const std::string& path, std::size_t slots)
        : SparseLog(path, slots, std::make_shared<Arrivals>()) {}

    const std::vector<Nanoseconds>& arrivals() const { return arrivals_->times(); }

private:
    SparseLog(const std::string& path, std::size_t slots, const std::shared_ptr<Arrivals>& arrivals)
        : AsyncLog(slots,
                   {std::make_shared<spdlog::sinks::basic_file_sink_mt>(path, true), arrivals}),
          arrivals_(arrivals) {}

    std::shared_ptr<Arrivals> arrivals_;
};

}  // namespace

void SLUICE_SPDLOG_ADD(LogSubjects& subjects) {
    Subject info;
    info.library = "spdlog";
#if defined(SPDLOG_COMPILED_LIB)
    info.prebuilt = true;
#endif
    info.version = std::to_string(SPDLOG_VER_MAJOR) + "." + std::to_string(SPDLOG_VER_MINOR) + "." +
                   std::to_string(SPDLOG_VER_PATCH);
    info.id = std::string(SLUICE_SPDLOG_ID) + "/sync";
    info.use = "logger with a basic_file_sink_mt";
    addLog<SyncLog>(subjects, info);
    info.id = std::string(SLUICE_SPDLOG_ID) + "/async";
    info.use = "async_logger with a basic_file_sink_mt, one thread, policy block";
    info.features.bound = "8192 records";
    info.features.blocking = true;
    addLog<AsyncLog>(subjects, info);
    addSparse<SparseLog>(subjects);
}

}  // namespace sluice::bench
