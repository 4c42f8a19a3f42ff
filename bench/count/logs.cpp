/// \file
/// Our log. The back end's thread waits in its start hook; the counting thread writes the records
/// as a thread does that is about to fork.

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
    Log()
        : backend_(std::make_shared<log::backend>(options())),
          logger_("count", std::make_shared<log::file_sink_mt>(nowhere, true), backend_) {
        logger_.set_pattern(pattern);
        brake_.awaitWaiter();
    }
    Log(const Log&) = delete;
    Log& operator=(const Log&) = delete;
    ~Log() { brake_.release(); }

    void call(std::uint64_t number) {
        if constexpr (By == Formats::caller) {
            logger_.info("Hello logger: msg number {}", number);
        } else {
            SLUICE_LOG_INFO(logger_, "Hello logger: msg number {}", number);
        }
    }

    static void write() {
        log::detail::BackendRegistry::instance().forEach([](log::detail::RegistryMember& member) {
            expect(member.hold(), "a sink is at work");
        });
    }
    static void unlock() {
        log::detail::BackendRegistry::instance().forEach([](log::detail::RegistryMember& member) {
            member.lockLists();
            member.afterFork(false);
        });
    }

    std::size_t waiting() const { return backend_->queue_size(); }

private:
    log::backend_options options() {
        log::backend_options options;
        options.on_thread_start = [this] { brake_.wait(); };
        return options;
    }

    Brake brake_;
    std::shared_ptr<log::backend> backend_;
    log::async_logger logger_;
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
            log.unlock();
            expect(log.waiting() == 0, "the back end left records");
        },
        [&] { logRound(log); });
}

template <Formats By>
void countBackEnd(const Counting& counting) {
    Log<By> log;
    bool isLocked = false;
    const auto unlock = [&] {
        if (std::exchange(isLocked, false)) {
            log.unlock();
        }
    };
    counting.whole(
        [&] {
            unlock();
            logRound(log);
            expect(log.waiting() == roundSize, "the log lost records");
        },
        [&] {
            log.write();
            isLocked = true;
        });
    unlock();
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
