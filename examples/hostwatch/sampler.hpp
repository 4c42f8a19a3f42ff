#pragma once

#include "accounts.hpp"
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

/// One producer: a thread that reads its file at its own rate and publishes what it measures.
///
/// A reading that fails is counted, and tried again at the next turn. With `flood` it publishes its
/// newest measurements over and over between two readings, as fast as it can.
class Sampler {
public:
    /// Starts the thread. `account` and `stop` must outlive this object.
    Sampler(Source source, const std::string& procDirectory, bool flood,
            Transport::Publisher publisher, Account& account, StopSignal& stop);

    /// Waits for the thread, which ends soon after `stop` was requested.
    ~Sampler();

    Sampler(const Sampler&) = delete;
    Sampler& operator=(const Sampler&) = delete;

private:
    void run();
    void takeReading();
    void publishNewest();

    const Clock::duration period_;
    const bool flood_;
    ProcFile file_;
    std::unique_ptr<Reader> reader_;
    Transport::Publisher publisher_;
    Account& account_;
    StopSignal& stop_;
    std::vector<Measurement> newest_;  ///< kept between readings, so it stops allocating
    std::thread thread_;               ///< last: it uses all of the above
};

}  // namespace hostwatch
