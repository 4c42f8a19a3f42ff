#pragma once

#include "options.hpp"
#include "report.hpp"
#include "samples.hpp"
#include "transport.hpp"

#include <sluice/base/expected.hpp>
#include <sluice/inspect/inspector.hpp>

#include <memory>
#include <string>
#include <string_view>

namespace hostwatch {

/// Writes one line for each event of a run into a file. The events of all threads stand in the
/// order in which they happened. A log that is not open does nothing.
///
/// Any thread may call any member except the destructor. After the destructor everything is in the
/// file.
class EventLog {
public:
    EventLog() noexcept;
    EventLog(EventLog&&) noexcept;
    ~EventLog();

    /// The error is one line for the user.
    static sluice::Expected<EventLog, std::string> open(const std::string& file);

    void started(const Options& options);
    void alarm(Source source, const Alarm& alarm);
    void pressure(sluice::Pressure before, sluice::Pressure now);
    void cannotRead(std::string_view problem);
    void ended(const Outcome& outcome);

    /// Watches the log's back end, if the log is open.
    sluice::Inspector::Watch watch(sluice::Inspector& inspector) const;

private:
    struct Writer;
    explicit EventLog(std::unique_ptr<Writer> writer) noexcept;

    std::unique_ptr<Writer> writer_;
};

}  // namespace hostwatch
