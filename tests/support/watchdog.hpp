#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <functional>
#include <mutex>
#include <thread>

namespace sluice::test {

/// Ends a hanging test with a report.
///
/// If its scope takes longer than `limit`, a thread of its own prints the name of the running test
/// and the output of printState(), and aborts the process. The limit is far beyond any real run: it
/// does not check speed. printState() runs while the threads of the test run, so it reads only
/// atomics and approximate sizes. A death test forks, so no Watchdog exists during one.
class Watchdog {
public:
    using PrintState = std::function<void(std::FILE*)>;

    explicit Watchdog(PrintState printState, std::chrono::seconds limit = defaultLimit);
    ~Watchdog();
    Watchdog(const Watchdog&) = delete;
    Watchdog& operator=(const Watchdog&) = delete;

    /// Far below the time-out of ctest, so that the report comes before it.
    static constexpr std::chrono::seconds defaultLimit{120};

private:
    void watch(std::chrono::seconds limit);

    PrintState printState_;
    std::mutex mutex_;
    std::condition_variable ended_;
    bool isEnded_ = false;
    std::thread thread_;
};

}  // namespace sluice::test
