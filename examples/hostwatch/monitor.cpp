#include "monitor.hpp"

#include "drill.hpp"

#include <algorithm>
#include <optional>
#include <type_traits>
#include <utility>

namespace hostwatch {
namespace {

using namespace std::chrono_literals;

/// Messages between two looks at the clock.
constexpr std::size_t batch = 256;
/// So soon an interruption is noticed.
constexpr Clock::duration longestWait = 100ms;
/// Samples and display keep to the same beats; a little later the messages have arrived.
constexpr Clock::duration showOffset = 30ms;

}  // namespace

Monitor::Monitor(const Options& options, const std::atomic<bool>& interrupted, EventLog& events)
    : options_(options), interrupted_(interrupted), events_(events) {
}

void Monitor::run(Display& display) {
    const Clock::time_point begin = Clock::now();
    events_.started(options_);
    {
        const auto cpu = startSampler<CpuSample>();
        const auto memory = startSampler<MemorySample>();
        const auto disk = startSampler<DiskSample>();
        const auto network = startSampler<NetworkSample>();
        std::optional<Drill> drill;
        if (options_.flood) {
            drill.emplace(transport_, drillAttempts_, returns_, stop_);
        }
        watch(display, begin);
        stop_.request();
    }  // joins them: from here on nobody publishes
    transport_.close();
    while (consume() != 0) {
    }
    show(display, begin);
    events_.ended(outcome());
}

Outcome Monitor::outcome() const {
    Tally attempts = drillAttempts_;
    for (const Account& account : accounts_) {
        addTo(attempts, account.attempts);
    }
    return {transport_.statistics(),  transport_.sizeApprox(), attempts, deliveries_, accounts_,
            figures_.samplesLeftOut()};
}

template <class Sample>
Sampler<Sample> Monitor::startSampler() {
    return Sampler<Sample>(options_.procDirectory, options_.flood, transport_,
                           accounts_[indexOf(sourceOf<Sample>)], returns_, stop_, events_);
}

void Monitor::watch(Display& display, Clock::time_point begin) {
    const Clock::time_point end = begin + std::chrono::seconds(options_.seconds);
    Clock::time_point nextShow = begin + display.period() + showOffset;
    while (nextShow < end && !isInterrupted()) {
        consumeUntil(nextShow);
        show(display, begin);
        nextShow = std::max(nextShow + display.period(), Clock::now());  // late: do not catch up
    }
    consumeUntil(end);
}

void Monitor::show(Display& display, Clock::time_point begin) {
    const Clock::time_point now = Clock::now();
    figures_.forgetSilent(now);
    display.show({figures_, accounts_, transport_.statistics(), deliveries_, now, now - begin,
                  options_.seconds, options_.flood});
}

void Monitor::consumeUntil(Clock::time_point deadline) {
    for (Clock::time_point now = Clock::now(); now < deadline && !isInterrupted();
         now = Clock::now()) {
        if (consume() == 0) {
            (void)transport_.waitFor(std::min(longestWait, deadline - now));
        }
    }
}

std::size_t Monitor::consume() {
    notePressure();
    return transport_.processWith(
        [this](const auto& message, const Header& header) {
            if constexpr (std::is_same_v<std::decay_t<decltype(message)>, Alarm>) {
                deliveries_.record(message, header, returns_.take(header));
            } else {
                deliveries_.record(message, header);
            }
            figures_.add(message, header);
        },
        batch);
}

void Monitor::notePressure() {
    const sluice::Pressure now = transport_.pressure();
    if (now != pressure_) {
        events_.pressure(std::exchange(pressure_, now), now);
    }
}

}  // namespace hostwatch
