#pragma once

/// \file
/// Rounds of the log scenarios.
///
/// A log under test is an adapter, a class
///
///     Log(const std::string& path, std::size_t slots);  // truncates the file
///     void log(std::uint64_t number);  // any thread: "Hello logger: msg number {}", on level info
///     void drain();                    // returns when all of it is in the file
///     static constexpr bool inTimeOrder;  // whether it promises lines in the order of their time
///
/// whose lines begin with date and time to the microsecond in brackets. The thread that makes it is
/// tied to the consumer's CPU, and so is a thread that it starts, unless it does otherwise. A full
/// log waits in its own way.

#include "harness/machine/affinity.hpp"
#include "harness/machine/allocation_count.hpp"
#include "harness/machine/clock.hpp"
#include "harness/run/barrier.hpp"
#include "harness/run/child.hpp"
#include "harness/run/crew.hpp"
#include "harness/run/log_lines.hpp"
#include "harness/run/round.hpp"
#include "harness/statistics/statistics.hpp"

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace sluice::bench {

/// Logs the records `first` to `end` (exclusive) of one thread.
template <class Log>
void logRange(Log& log, std::size_t thread, std::uint64_t first, std::uint64_t end,
              Counts& counts) {
    for (std::uint64_t sequence = first; sequence < end; ++sequence) {
        log.log(recordNumber(thread, sequence));
        counts.sentSum += recordNumber(thread, sequence);
    }
    counts.planned += end - first;
    counts.attempted += end - first;
    counts.accepted += end - first;
}

/// Compares the file with the books.
inline void settle(Round& round, const LogFile& file, const std::vector<SenderBooks>& books,
                   bool inTimeOrder) {
    for (const SenderBooks& sender : books) {
        round.counts += sender.counts;
        if (!sender.pinned) {
            round.error = "a thread could not be pinned to its CPU";
        }
    }
    const std::string strange = file.read(books.size(), round.counts);
    round.error = round.error.empty() ? strange : round.error;
    round.error = round.error.empty() ? complaint(round.counts, true) : round.error;
    if (round.error.empty() && inTimeOrder && round.counts.backInTime != 0) {
        round.error = std::to_string(round.counts.backInTime) + " lines are out of time order";
    }
}

/// Runs one round: every thread logs its run-in, the log is drained, then `work(log, thread,
/// books)` runs on all threads at once. `atEnd(round, log, books)` runs when they have ended, and
/// drains the log.
template <class Log, class Work, class AtEnd>
Round logCrew(const RoundPlan& plan, Work&& work, AtEnd&& atEnd) {
    Round round;
    if (!takePlace(plan.placement, plan.placement.consumerCpu)) {
        round.error = "the back end could not be pinned to its CPU";
        return round;
    }
    const LogFile file;
    std::vector<SenderBooks> books(plan.producers());
    {
        const auto log = std::make_unique<Log>(file.path(), plan.capacity);
        StartBarrier barrier(plan.producers() + 1);
        std::vector<std::thread> threads;
        for (std::size_t thread = 0; thread < plan.producers(); ++thread) {
            threads.emplace_back([&, thread] {
                SenderBooks& own = books[thread];
                own.pinned = takePlace(plan.placement, plan.placement.producerCpus[thread]);
                logRange(*log, thread, 0, shareOf(plan.runIn, thread, plan.producers()),
                         own.counts);
                barrier.arriveAndWait();
                barrier.arriveAndWait();
                own.startedAt = now();
                work(*log, thread, own);
            });
        }
        barrier.arriveAndWait();
        log->drain();
        const std::uint64_t allocated = allocationsSoFar();
        barrier.arriveAndWait();
        // Sleeps in join(), because this thread shares a CPU with the back end.
        for (std::thread& thread : threads) {
            thread.join();
        }
        atEnd(round, *log, books);
        AllocationCount allocations;
        allocations.add(allocationsSoFar() - allocated);
        round.allocations = allocations.value();
    }
    settle(round, file, books, Log::inTimeOrder);
    return round;
}

/// From the common start to the moment when the last record is in the file, divided by the records.
template <class Log>
Round logRound(const RoundPlan& plan) {
    const auto work = [&plan](Log& log, std::size_t thread, SenderBooks& books) {
        const std::uint64_t runIn = shareOf(plan.runIn, thread, plan.producers());
        const std::uint64_t timed = shareOf(plan.messages, thread, plan.producers());
        logRange(log, thread, runIn, runIn + timed, books.counts);
    };
    const auto atEnd = [&plan](Round& round, Log& log, const std::vector<SenderBooks>& books) {
        log.drain();
        const Nanoseconds finish = now();
        Nanoseconds start = finish;
        for (const SenderBooks& sender : books) {
            start = std::min(start, sender.startedAt);
        }
        round.time(start, finish, plan.messages);
    };
    return logCrew<Log>(plan, work, atEnd);
}

/// Single calls of one thread, one every `plan.intervalNs`. A longer call delays later calls; its
/// time counts once.
template <class Log>
Round logCallRound(const RoundPlan& plan) {
    std::vector<double> samples;
    // Filled once, so that no page is new while the clock runs.
    samples.resize(plan.messages, -1.0);
    const auto work = [&](Log& log, std::size_t thread, SenderBooks& books) {
        Nanoseconds due = now();
        for (std::uint64_t i = 0; i < plan.messages; ++i) {
            Nanoseconds start = now();
            while (start < due) {
                start = now();
            }
            logRange(log, thread, plan.runIn + i, plan.runIn + i + 1, books.counts);
            const Nanoseconds end = now();
            samples[i] = double(end - start);
            due = std::max(due + Nanoseconds(plan.intervalNs), end);
        }
    };
    const auto atEnd = [&](Round& round, Log& log, const std::vector<SenderBooks>&) {
        log.drain();
        round.ns = median(samples);
        round.samples = std::move(samples);
    };
    return logCrew<Log>(plan, work, atEnd);
}

/// The same, at `plan.load` of the log's present throughput.
template <class Log>
Round loadedLogCallRound(const RoundPlan& plan) {
    RoundPlan paced = plan;
    paced.messages = std::max<std::uint64_t>(50000, plan.messages);
    Round round = logRound<Log>(paced);
    if (!round.error.empty()) {
        return round;
    }
    paced.messages = plan.messages;
    paced.intervalNs = round.ns / plan.load;
    return logCallRound<Log>(paced);
}

/// Holds threads until all are there, asleep.
class Meeting {
public:
    explicit Meeting(std::size_t parties) noexcept : missing_(parties) {}

    void arriveAndWait() {
        std::unique_lock lock(mutex_);
        --missing_;
        everybody_.notify_all();
        everybody_.wait(lock, [this] { return missing_ == 0; });
    }

private:
    std::mutex mutex_;
    std::condition_variable everybody_;
    std::size_t missing_;
};

/// The MiB by which a process grows with `plan.capacity` threads, after each has logged one record.
template <class Log>
Round idleThreadsRound(const RoundPlan& plan) {
    return inChild([&plan](Round& round) {
        const std::size_t slots = 8192;
        const LogFile file;
        std::vector<SenderBooks> books(plan.capacity + 1);
        {
            const auto log = std::make_unique<Log>(file.path(), slots);
            logRange(*log, plan.capacity, 0, 1, books[plan.capacity].counts);
            log->drain();
            const double before = residentMiB();
            Meeting logged(plan.capacity + 1);
            Meeting measured(plan.capacity + 1);
            std::vector<std::thread> threads;
            for (std::size_t thread = 0; thread < plan.capacity; ++thread) {
                threads.emplace_back([&, thread] {
                    logRange(*log, thread, 0, 1, books[thread].counts);
                    logged.arriveAndWait();
                    measured.arriveAndWait();
                });
            }
            logged.arriveAndWait();
            log->drain();
            round.ns = residentMiB() - before;
            measured.arriveAndWait();
            for (std::thread& thread : threads) {
                thread.join();
            }
        }
        settle(round, file, books, Log::inTimeOrder);
    });
}

}  // namespace sluice::bench
