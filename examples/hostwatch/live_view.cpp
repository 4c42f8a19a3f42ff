#include "live_view.hpp"

#include <utility>

#if defined(HOSTWATCH_HAS_LIVE)

#include <sluice/inspect/inspector.hpp>
#include <sluice/inspect/threads.hpp>
#include <sluice/live/live_page.hpp>

#include <exception>

namespace hostwatch {

struct LiveView::Parts {
    Parts(Monitor& monitor, const EventLog& events)
        : bus(inspector.watch("bus", monitor.transport())),
          log(events.watch(inspector)),
          threads(inspector.watch("threads", sluice::readThreads)),
          page(inspector, options(monitor.record())) {
        for (const char* const source : {"Cpu", "Memory", "Disk", "Network"}) {
            const std::string name = source;
            inspector.addFlow(name + " sampler", "bus", name + "Sample");
        }
        inspector.addFlow("all samplers", "bus", "Aggregate");
        inspector.addFlow("alarms", "bus", "Alarm");
        inspector.addFlow("bus", "figures");
    }

    sluice::Inspector inspector;
    sluice::Inspector::Watch bus;
    sluice::Inspector::Watch log;
    sluice::Inspector::Watch threads;
    sluice::LivePage page;

private:
    static sluice::LiveOptions options(const sluice::FlightRecorder& recorder) {
        sluice::LiveOptions result;
        result.title = "hostwatch";
        result.recorder = &recorder;
        return result;
    }
};

sluice::Expected<LiveView, std::string> LiveView::open(Monitor& monitor, const EventLog& events) {
    try {
        return LiveView(std::make_unique<Parts>(monitor, events));
    } catch (const std::exception& error) {
        return sluice::Unexpected<std::string>(std::string("--watch: ") + error.what());
    }
}

std::string LiveView::address() const {
    return parts_->page.address();
}

#else

namespace hostwatch {

struct LiveView::Parts {};

sluice::Expected<LiveView, std::string> LiveView::open(Monitor&, const EventLog&) {
    return sluice::Unexpected<std::string>(
        "--watch: this build has no page; build with SLUICE_LIVE=ON");
}

std::string LiveView::address() const {
    return {};
}

#endif

LiveView::LiveView(LiveView&&) noexcept = default;
LiveView::~LiveView() = default;
LiveView::LiveView(std::unique_ptr<Parts> parts) noexcept : parts_(std::move(parts)) {
}

}  // namespace hostwatch
