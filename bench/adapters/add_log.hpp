#pragma once

/// \file
/// Turns an adapter for a log (see harness/run/logging.hpp) into a subject of the log scenarios.

#include "harness/run/logging.hpp"
#include "harness/run/sparse_logging.hpp"
#include "harness/run/subject.hpp"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace sluice::bench {

struct LogSubject {
    Subject info;

    /// By the name of the scenario.
    std::map<std::string, Round (*)(const RoundPlan&)> rounds;
};

using LogSubjects = std::vector<LogSubject>;

/// The pattern of all lines, in the vocabulary of spdlog.
inline const std::string logPattern = "[%Y-%m-%d %H:%M:%S.%f] [%n] [%l] %v";

template <class Log>
void addLog(LogSubjects& subjects, Subject info) {
    info.features.topology = "any thread";
    info.features.order = Log::inTimeOrder ? "all producers" : "each producer";
    LogSubject subject{std::move(info), {}};
    for (const char* const name :
         {"log-1t", "log-2t", "log-4t", "log-8t", "log-2t-shared", "log-8t-shared"}) {
        subject.rounds[name] = &logRound<Log>;
    }
    subject.rounds["call-1t"] = &logCallRound<Log>;
    subject.rounds["call-1t-half-load"] = &loadedLogCallRound<Log>;
    subject.rounds["idle-100t"] = &idleThreadsRound<Log>;
    subjects.push_back(std::move(subject));
}

/// How often a thread logs that logs now and then, in records a second.
inline constexpr int sparseRates[] = {10, 100, 1000, 2500, 10000};

inline std::string sparseDelay(int rate) {
    return "log-sparse-" + std::to_string(rate);
}
inline std::string sparseCpu(int rate) {
    return sparseDelay(rate) + "-cpu";
}

/// The subject that was added last takes part in the sparse scenarios with this adapter.
template <class Log>
void addSparse(LogSubjects& subjects) {
    for (const int rate : sparseRates) {
        subjects.back().rounds[sparseDelay(rate)] = &sparseDelayRound<Log>;
        subjects.back().rounds[sparseCpu(rate)] = &sparseCpuRound<Log>;
    }
}

}  // namespace sluice::bench
