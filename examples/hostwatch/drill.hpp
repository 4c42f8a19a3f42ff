#pragma once

#include "stop_signal.hpp"
#include "transport.hpp"

#include <thread>

namespace hostwatch {

/// A thread that publishes an alarm at a steady pace, to show how alarms fare in a flood.
class Drill {
public:
    /// Starts the thread. All four must outlive this object.
    Drill(Transport& transport, Tally& attempts, AlarmReturns& returns, StopSignal& stop)
        : publisher_(transport, drillSender, attempts, returns),
          stop_(stop),
          thread_([this] { run(); }) {}

    /// Waits for the thread, which ends soon after `stop` was requested.
    ~Drill() { thread_.join(); }

    Drill(const Drill&) = delete;
    Drill& operator=(const Drill&) = delete;

private:
    void run() {
        constexpr auto period = std::chrono::milliseconds(10);
        while (!stop_.requested()) {
            (void)publisher_.publish(Alarm{});
            stop_.waitUntil(Clock::now() + period);
        }
    }

    Publisher publisher_;
    StopSignal& stop_;
    std::thread thread_;  ///< last: it uses all of the above
};

}  // namespace hostwatch
