#pragma once

#include "accounts.hpp"
#include "event_log.hpp"
#include "load.hpp"
#include "proc_file.hpp"
#include "readers.hpp"
#include "samples.hpp"
#include "stop_signal.hpp"
#include "transport.hpp"

#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace hostwatch {

/// One producer: a thread that reads its file at its own rate and publishes the samples, their
/// aggregate, and an alarm when the aggregate crosses a limit.
///
/// A reading that fails is counted, and tried again at the next turn. With `flood` it publishes its
/// newest samples over and over between two readings, as fast as it can.
template <class Sample>
class Sampler {
public:
    /// Starts the thread. All but the folder must outlive this object.
    Sampler(const std::string& procDirectory, bool flood, Transport& transport, Account& account,
            AlarmReturns& returns, StopSignal& stop, EventLog& events);

    /// Waits for the thread, which ends soon after `stop` was requested.
    ~Sampler();

    Sampler(const Sampler&) = delete;
    Sampler& operator=(const Sampler&) = delete;

private:
    static constexpr Source source = sourceOf<Sample>;

    void run();
    void takeReading();
    void publishSamples();
    void publishSummary();

    const bool flood_;
    ProcFile file_;
    std::unique_ptr<Reader<Sample>> reader_;
    Publisher publisher_;
    Account& account_;
    StopSignal& stop_;
    EventLog& events_;
    AlarmWatch<Sample> alarm_;
    std::vector<Sample> newest_;  ///< kept between readings, so it stops allocating
    std::thread thread_;          ///< last: it uses all of the above
};

}  // namespace hostwatch
