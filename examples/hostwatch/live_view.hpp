#pragma once

#include "event_log.hpp"
#include "monitor.hpp"

#include <sluice/base/expected.hpp>

#include <memory>
#include <string>

namespace hostwatch {

/// A page in the browser that shows the bus and the log of a run. Monitor and log must outlive it.
class LiveView {
public:
    LiveView(LiveView&&) noexcept;
    ~LiveView();

    /// The error is one line for the user.
    static sluice::Expected<LiveView, std::string> open(Monitor& monitor, const EventLog& events);

    /// What a browser opens.
    std::string address() const;

private:
    struct Parts;
    explicit LiveView(std::unique_ptr<Parts> parts) noexcept;

    std::unique_ptr<Parts> parts_;
};

}  // namespace hostwatch
