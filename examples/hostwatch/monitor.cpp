#include "monitor.hpp"

#include "sampler.hpp"

#include <algorithm>
#include <memory>
#include <vector>

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

Monitor::Monitor(const Options& options, const std::atomic<bool>& interrupted)
    : options_(options), interrupted_(interrupted) {
}

void Monitor::run(Display& display) {
    const Clock::time_point begin = Clock::now();
    std::vector<std::unique_ptr<Sampler>> samplers;
    for (const Source source : allSources) {
        samplers.push_back(std::make_unique<Sampler>(source, options_.procDirectory, options_.flood,
                                                     transport_.publisher(),
                                                     accounts_[indexOf(source)], stop_));
    }
    watch(display, begin);
    stop_.request();
    samplers.clear();  // joins them: from here on nobody publishes
    transport_.close();
    drain();
    show(display, begin);
}

Outcome Monitor::outcome() const {
    return {accounts_, transport_.queued(), figures_.samplesLeftOut()};
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
    display.show({figures_, accounts_, now, now - begin, options_.seconds, options_.flood});
}

void Monitor::consumeUntil(Clock::time_point deadline) {
    for (Clock::time_point now = Clock::now(); now < deadline && !isInterrupted();
         now = Clock::now()) {
        transport_.consume([this](const Message& message) { handle(message); }, batch,
                           std::min(longestWait, deadline - now));
    }
}

void Monitor::drain() {
    while (transport_.consume([this](const Message& message) { handle(message); }, batch,
                              Clock::duration::zero()) != 0) {
    }
}

void Monitor::handle(const Message& message) {
    Account& account = accounts_[indexOf(message.source())];
    account.delays.record(Clock::now() - message.publishedAt);
    ++account.delivered;
    figures_.add(message);
}

}  // namespace hostwatch
