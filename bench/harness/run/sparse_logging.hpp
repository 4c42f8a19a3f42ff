#pragma once

/// \file
/// Rounds of a thread that logs now and then and sleeps in between, as most programs do.
///
/// A log under test is an adapter as in logging.hpp, which also has
///
///     const std::vector<Nanoseconds>& arrivals() const;  // when its sinks got each record

#include "harness/machine/cpu_time.hpp"
#include "harness/run/logging.hpp"

#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

namespace sluice::bench {

/// The books of a thread that logs now and then.
struct SparseCalls {
    explicit SparseCalls(std::uint64_t count) : sentAt(count, 0) {}

    std::vector<Nanoseconds> sentAt;  ///< when each call began
    double cpuTimeNs = 0;             ///< of the process, from the first call until all is written
};

/// One thread logs `plan.messages` records, one every `plan.intervalNs`, and sleeps in between.
/// `finish(round, log, calls)` runs at the end.
template <class Log, class Finish>
Round sparseLogRound(const RoundPlan& plan, Finish&& finish) {
    SparseCalls calls(plan.messages);
    const auto work = [&](Log& log, std::size_t thread, SenderBooks& books) {
        calls.cpuTimeNs = -cpuTimeSoFarNs();
        Nanoseconds due = now();
        for (std::uint64_t i = 0; i < plan.messages; ++i) {
            due += Nanoseconds(plan.intervalNs);
            std::this_thread::sleep_for(std::chrono::nanoseconds(due - now()));
            calls.sentAt[i] = now();
            logRange(log, thread, plan.runIn + i, plan.runIn + i + 1, books.counts);
        }
    };
    const auto atEnd = [&](Round& round, Log& log, const std::vector<SenderBooks>&) {
        log.drain();
        calls.cpuTimeNs += cpuTimeSoFarNs();
        finish(round, log, calls);
    };
    return logCrew<Log>(plan, work, atEnd);
}

/// The time from each call until the sinks have the record.
template <class Log>
Round sparseDelayRound(const RoundPlan& plan) {
    return sparseLogRound<Log>(
        plan, [&plan](Round& round, const Log& log, const SparseCalls& calls) {
            const std::vector<Nanoseconds>& arrivals = log.arrivals();
            if (arrivals.size() != plan.runIn + plan.messages) {
                round.error = "the sinks got another number of records";
                return;
            }
            for (std::uint64_t i = 0; i < plan.messages; ++i) {
                round.samples.push_back(double(arrivals[plan.runIn + i] - calls.sentAt[i]));
            }
            round.ns = median(round.samples);
        });
}

/// Processor time of the whole process for each record.
template <class Log>
Round sparseCpuRound(const RoundPlan& plan) {
    return sparseLogRound<Log>(plan, [&plan](Round& round, const Log&, const SparseCalls& calls) {
        round.ns = calls.cpuTimeNs / double(plan.messages);
    });
}

}  // namespace sluice::bench
