/// \file
/// spdlog's asynchronous logger. Its thread waits in the pool's start hook. Its work on a
/// record cannot be called from outside, so the back end's part is not counted.

#include "log_rows.hpp"
#include "rows.hpp"

#include <spdlog/async_logger.h>
#include <spdlog/details/thread_pool.h>
#include <spdlog/sinks/basic_file_sink.h>

#include <memory>

namespace sluice::count {

namespace {

/// With slots for all records of a call of countCall(): nothing takes them out before its end.
class AsyncLog {
public:
    AsyncLog()
        : pool_(std::make_shared<spdlog::details::thread_pool>(8 * slots, 1,
                                                               [this] { brake_.wait(); })),
          logger_(std::make_shared<spdlog::async_logger>(
              "count", std::make_shared<spdlog::sinks::basic_file_sink_mt>(nowhere, true), pool_,
              spdlog::async_overflow_policy::block)) {
        logger_->set_pattern(pattern);
        brake_.awaitWaiter();
    }
    AsyncLog(const AsyncLog&) = delete;
    AsyncLog& operator=(const AsyncLog&) = delete;
    ~AsyncLog() { brake_.release(); }

    void call(std::uint64_t number) { logger_->info("Hello logger: msg number {}", number); }

private:
    Brake brake_;
    // A message in the pool owns its logger, which must not be the last owner of the pool.
    std::shared_ptr<spdlog::details::thread_pool> pool_;
    std::shared_ptr<spdlog::async_logger> logger_;
};

void countCall(const Counting& counting) {
    AsyncLog log;
    counting.each([] {},
                  [&] { forEachMessage([&](const Message& each) { log.call(each.first()); }); });
}

}  // namespace

void addSpdlog(Rows& rows) {
    rows.push_back({"log/call/spdlog", "spdlog/async", &countCall});
}

}  // namespace sluice::count
