#pragma once

#include "accounts.hpp"
#include "display.hpp"
#include "event_log.hpp"
#include "figures.hpp"
#include "options.hpp"
#include "report.hpp"
#include "sampler.hpp"
#include "stop_signal.hpp"
#include "transport.hpp"

#include <atomic>
#include <cstddef>

namespace hostwatch {

/// The whole program except its edges: four samplers publish, this thread consumes and shows. In a
/// flood there is a drill too.
class Monitor {
public:
    /// `interrupted` ends the run early; a signal handler may set it. Both it and `events` must
    /// outlive this object.
    Monitor(const Options& options, const std::atomic<bool>& interrupted, EventLog& events);

    /// Runs until the time is over or `interrupted`, then until everything published is handled.
    void run(Display& display);

    /// Final once `run` has returned.
    Outcome outcome() const;

    const Transport& transport() const noexcept { return transport_; }
    /// Begins to record the last messages, for a trace.
    const sluice::FlightRecorder& record() {
        recorder_.start(transport_, "bus");
        return recorder_;
    }

private:
    template <class Sample>
    Sampler<Sample> startSampler();
    void watch(Display& display, Clock::time_point begin);
    void show(Display& display, Clock::time_point begin);
    void consumeUntil(Clock::time_point deadline);
    std::size_t consume();
    void notePressure();

    /// Relaxed: no thread reads other data because of the flag.
    bool isInterrupted() const noexcept { return interrupted_.load(std::memory_order_relaxed); }

    const Options options_;
    const std::atomic<bool>& interrupted_;
    EventLog& events_;
    sluice::FlightRecorder recorder_;
    Transport transport_;
    Accounts accounts_;
    Tally drillAttempts_{};
    AlarmReturns returns_;
    Deliveries deliveries_;
    Figures figures_;
    sluice::Pressure pressure_ = sluice::Pressure::normal;  ///< as last noted
    StopSignal stop_;
};

}  // namespace hostwatch
