#include "event_log.hpp"

#if defined(HOSTWATCH_HAS_SPDLOG)

#include <sluice/log/backend.hpp>
#include <sluice/log/deferred.hpp>
#include <sluice/log/file_sink.hpp>
#include <sluice/log/logger.hpp>

#include <exception>

namespace hostwatch {

/// The calls copy their arguments; the back end's thread formats and writes them.
struct EventLog::Writer {
    explicit Writer(const std::string& file)
        : logger("hostwatch", std::make_shared<sluice::log::file_sink_mt>(file, true), backend) {
        logger.set_pattern("%Y-%m-%d %H:%M:%S.%F %-8l %6t  %v");
    }

    std::shared_ptr<sluice::log::backend> backend = std::make_shared<sluice::log::backend>();
    sluice::log::async_logger logger;
};

sluice::Expected<EventLog, std::string> EventLog::open(const std::string& file) {
    try {
        return EventLog(std::make_unique<Writer>(file));
    } catch (const std::exception& error) {
        return sluice::Unexpected<std::string>("--log " + file + ": " + error.what());
    }
}

void EventLog::started(const Options& options) {
    if (writer_) {
        SLUICE_LOG_INFO(writer_->logger, "started for {} s{}, reads {}", options.seconds,
                        options.flood ? ", with a flood" : "", options.procDirectory);
    }
}

void EventLog::alarm(Source source, const Alarm& alarm) {
    if (!writer_) {
        return;
    }
    const std::string_view name = sourceNames[indexOf(source)];
    if (alarm.isOn) {
        SLUICE_LOG_WARN(writer_->logger, "alarm on: {}{}{}", name, alarm.device.empty() ? "" : " ",
                        alarm.device.view());
    } else {
        SLUICE_LOG_INFO(writer_->logger, "alarm off: {}", name);
    }
}

void EventLog::pressure(sluice::Pressure before, sluice::Pressure now) {
    if (writer_) {
        SLUICE_LOG_INFO(writer_->logger, "pressure {}, was {}", sluice::toString(now),
                        sluice::toString(before));
    }
}

void EventLog::cannotRead(std::string_view problem) {
    if (writer_) {
        SLUICE_LOG_ERROR(writer_->logger, "{}", problem);
    }
}

void EventLog::ended(const Outcome& outcome) {
    if (!writer_) {
        return;
    }
    for (const Priority priority : allPriorities) {
        const sluice::MessageCounts counts = outcome.statistics.ofPriority(priority);
        SLUICE_LOG_INFO(writer_->logger, "{}: attempted {}, accepted {}, rejected {}, delivered {}",
                        sluice::toString(priority), counts.attempted(), counts.published,
                        counts.rejected(), counts.delivered);
    }
    if (accountsAddUp(outcome)) {
        SLUICE_LOG_INFO(writer_->logger, "ended, the accounts add up");
    } else {
        SLUICE_LOG_CRITICAL(writer_->logger, "ended, THE ACCOUNTS DO NOT ADD UP");
    }
}

sluice::Inspector::Watch EventLog::watch(sluice::Inspector& inspector) const {
    return writer_ ? inspector.watch("log", *writer_->backend) : sluice::Inspector::Watch();
}

#else

namespace hostwatch {

struct EventLog::Writer {};

sluice::Expected<EventLog, std::string> EventLog::open(const std::string&) {
    return sluice::Unexpected<std::string>("--log: this build has no log, for want of spdlog");
}

void EventLog::started(const Options&) {
}
void EventLog::alarm(Source, const Alarm&) {
}
void EventLog::pressure(sluice::Pressure, sluice::Pressure) {
}
void EventLog::cannotRead(std::string_view) {
}
void EventLog::ended(const Outcome&) {
}
sluice::Inspector::Watch EventLog::watch(sluice::Inspector&) const {
    return {};
}

#endif

EventLog::EventLog() noexcept = default;
EventLog::EventLog(EventLog&&) noexcept = default;
EventLog::~EventLog() = default;
EventLog::EventLog(std::unique_ptr<Writer> writer) noexcept : writer_(std::move(writer)) {
}

}  // namespace hostwatch
