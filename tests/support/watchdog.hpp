#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <functional>
#include <mutex>
#include <thread>

namespace sluice::test {

/// Ends a hanging test with a report instead of silence.
///
/// Lives for a scope. A thread of the watchdog's own prints the name of the running test and the
/// output of `printState`, and aborts the process, if the scope takes longer than `limit`. Choose a
/// limit far beyond any honest run: it is no assertion about speed. `printState` runs while the
/// test's threads are still running, so it should read atomics and approximate sizes only. Do not
/// hold one across a death test, which forks.
class Watchdog {
public:
    using PrintState = std::function<void(std::FILE*)>;

    explicit Watchdog(PrintState printState, std::chrono::seconds limit = defaultLimit);
    ~Watchdog();
    Watchdog(const Watchdog&) = delete;
    Watchdog& operator=(const Watchdog&) = delete;

    /// Far below the time-out of ctest, so that the report comes first.
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
