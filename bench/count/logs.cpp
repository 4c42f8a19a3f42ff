/// \file
/// Our log. The back end has no thread: the counting thread writes the records.

#include "log_rows.hpp"
#include "rows.hpp"

#include <sluice/log/backend.hpp>
#include <sluice/log/deferred.hpp>
#include <sluice/log/file_sink.hpp>
#include <sluice/log/logger.hpp>

#include <memory>

namespace sluice::count {

namespace {

/// Which thread formats the message.
enum class Formats { caller, backEnd };

template <Formats By>
class Log {
public:
    Log() { logger_.set_pattern(pattern); }

    void call(std::uint64_t number) {
        if constexpr (By == Formats::caller) {
            logger_.info("Hello logger: msg number {}", number);
        } else {
            SLUICE_LOG_INFO(logger_, "Hello logger: msg number {}", number);
        }
    }

    void write() { backend_->poll(); }

    std::size_t waiting() const { return backend_->queue_size(); }

private:
    static log::backend_options options() {
        log::backend_options options;
        options.manual = true;
        return options;
    }

    std::shared_ptr<log::backend> backend_ = std::make_shared<log::backend>(options());
    log::async_logger logger_{"count", std::make_shared<log::file_sink_mt>(nowhere, true),
                              backend_};
};

template <Formats By>
[[gnu::noinline]] void logRound(Log<By>& log) {
    forEachMessage([&](const Message& message) { log.call(message.first()); });
}

template <Formats By>
void countCall(const Counting& counting) {
    Log<By> log;
    counting.each(
        [&] {
            log.write();
            expect(log.waiting() == 0, "the back end left records");
        },
        [&] { logRound(log); });
}

template <Formats By>
void countBackEnd(const Counting& counting) {
    Log<By> log;
    counting.whole(
        [&] {
            logRound(log);
            expect(log.waiting() == roundSize, "the log lost records");
        },
        [&] { log.write(); });
    expect(log.waiting() == 0, "the back end left records");
}

}  // namespace

void addLogs(Rows& rows) {
    rows.push_back({"log/call/spdlog", ours, &countCall<Formats::caller>});
    rows.push_back({"log/call/deferred", ours, &countCall<Formats::backEnd>});
    rows.push_back({"log/back-end/spdlog", ours, &countBackEnd<Formats::caller>});
    rows.push_back({"log/back-end/deferred", ours, &countBackEnd<Formats::backEnd>});
}

}  // namespace sluice::count
