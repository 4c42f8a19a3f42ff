#include "harness/run/interleave.hpp"

#include "harness/machine/clock.hpp"
#include "harness/machine/interruption.hpp"
#include "harness/run/schedule.hpp"
#include "harness/statistics/statistics.hpp"

#include <algorithm>
#include <utility>

namespace sluice::bench {

namespace {

/// The result of one entry in one round. Empty if it was not run.
struct Turn {
    Round round;
    RoundRecord record;
    bool wasRun = false;
};

Turn runEntry(const std::function<Round()>& entry, PerfCounters& counters) {
    Turn turn;
    turn.wasRun = true;
    beginPeak();
    const Usage before = usageSoFar();
    (void)counters.take();
    turn.round = entry();
    RoundRecord& record = turn.record;
    record.perf = counters.take();
    record.usage = usageSoFar();
    record.usage -= before;
    record.ns = turn.round.ns;
    record.timedNs = turn.round.timedNs;
    record.clockReads = turn.round.clockReads;
    record.timedMessages = turn.round.timedMessages;
    record.counts = turn.round.counts;
    record.lateSends = turn.round.lateSends;
    record.allocations = turn.round.allocations;
    return turn;
}

void add(Series& series, const Turn& turn, bool warmup) {
    const Round& round = turn.round;
    if (!round.error.empty()) {
        series.error = round.error;
        series.counts += round.counts;
    }
    if (!turn.wasRun || warmup || !round.error.empty()) {
        return;
    }
    series.records.push_back(turn.record);
    series.roundNs.push_back(round.ns);
    if (!round.samples.empty()) {
        series.roundP99.push_back(summarize(round.samples).p99);
    }
    if (round.intervalNs > 0) {
        series.roundIntervalNs.push_back(round.intervalNs);
    }
    series.samples.insert(series.samples.end(), round.samples.begin(), round.samples.end());
    series.counts += round.counts;
    series.timedOut += round.timedOut;
    series.lost += round.lost;
    series.lateSends += round.lateSends;
    series.roundsBehindSchedule += round.behindSchedule ? 1 : 0;
}

class Interleaving {
public:
    Interleaving(const std::vector<std::function<Round()>>& entries, const Repetition& repetition,
                 const Progress& progress)
        : entries_(entries),
          repetition_(repetition),
          progress_(progress),
          all_((repetition.warmups + repetition.rounds) * entries.size()),
          series_(entries.size()) {}

    std::vector<Series> run() {
        const std::size_t planned = repetition_.warmups + repetition_.rounds;
        for (std::size_t round = 0; round < planned + repetition_.extraRounds; ++round) {
            if (round >= planned &&
                std::none_of(series_.begin(), series_.end(),
                             [](const Series& series) { return isUnreliable(series); })) {
                break;
            }
            if (isOverBudget(round) || !runRound(round)) {
                break;
            }
        }
        return std::move(series_);
    }

private:
    bool isOverBudget(std::size_t round) const {
        const auto isOver = [&](double limitNs, std::size_t fewest) {
            return limitNs > 0 && round >= repetition_.warmups + fewest &&
                   double(now() - beganAt_) > limitNs;
        };
        return isOver(repetition_.budgetNs, fewestToRank) || isOver(repetition_.longestNs, 1);
    }

    // Warm-ups use no rows, because the square is for measured rounds.
    std::size_t rowOf(std::size_t round) const {
        return round < repetition_.warmups ? round
                                           : repetition_.firstRow + round - repetition_.warmups;
    }

    // Returns false if it was interrupted.
    bool runRound(std::size_t round) {
        std::vector<Turn> turns(entries_.size());
        std::size_t place = 0;
        for (const std::size_t entry : balancedOrder(entries_.size(), rowOf(round))) {
            if (interrupted()) {
                return false;
            }
            all_ = std::max(all_, done_ + 1);
            progress_(done_++, all_);
            if (series_[entry].error.empty()) {
                turns[entry] = runEntry(entries_[entry], counters_);
                turns[entry].record.index = round - std::min(round, repetition_.warmups);
                turns[entry].record.place = place;
            }
            ++place;
        }
        for (std::size_t entry = 0; entry < turns.size(); ++entry) {
            add(series_[entry], turns[entry], round < repetition_.warmups);
        }
        return true;
    }

    const std::vector<std::function<Round()>>& entries_;
    const Repetition& repetition_;
    const Progress& progress_;
    const Nanoseconds beganAt_ = now();
    std::size_t done_ = 0;
    std::size_t all_;
    PerfCounters counters_;
    std::vector<Series> series_;
};

}  // namespace

bool isUnreliable(const Series& series) {
    return series.error.empty() && summarize(series.roundNs).cv > unreliableCv;
}

std::vector<Series> interleave(const std::vector<std::function<Round()>>& entries,
                               const Repetition& repetition, const Progress& progress) {
    return Interleaving(entries, repetition, progress).run();
}

}  // namespace sluice::bench
