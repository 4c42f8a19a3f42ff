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

void noteFailure(Series& series, const Round& round) {
    if (!round.error.empty()) {
        series.error = round.error;
        series.counts += round.counts;
    }
}

void add(Series& series, const Turn& turn) {
    const Round& round = turn.round;
    if (!turn.wasRun || !round.error.empty()) {
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
                 const Progress& progress, const std::function<RoundConditions()>& conditions)
        : entries_(entries),
          repetition_(repetition),
          progress_(progress),
          conditionsOfRound_(conditions),
          all_((repetition.warmups + repetition.rounds) * entries.size()),
          failures_(entries.size()) {}

    std::vector<Series> run() {
        (void)conditionsOfRound_();
        for (std::size_t round = 0; !isEnough() && !isOverBudget(round) && runRound(round);
             ++round) {
        }
        return series();
    }

private:
    bool choosesRounds() const { return repetition_.untilQuietNs > 0; }

    bool isOverBudget(std::size_t round) const {
        const auto isOver = [&](double limitNs, std::size_t fewest) {
            return limitNs > 0 && round >= repetition_.warmups + fewest &&
                   double(now() - beganAt_) > limitNs;
        };
        return isOver(repetition_.budgetNs, fewestToRank) || isOver(repetition_.longestNs, 1);
    }

    bool isEnough() const {
        if (rounds_.size() < repetition_.rounds) {
            return false;
        }
        if (choosesRounds()) {
            return countOf(steady_) >= repetition_.rounds ||
                   double(now() - beganAt_) > repetition_.untilQuietNs;
        }
        if (rounds_.size() >= repetition_.rounds + repetition_.extraRounds) {
            return true;
        }
        const std::vector<Series> all = series();
        return std::none_of(all.begin(), all.end(), isUnreliable);
    }

    static std::size_t countOf(const std::vector<bool>& chosen) {
        return std::size_t(std::count(chosen.begin(), chosen.end(), true));
    }

    std::vector<Series> series() const {
        const std::vector<bool> chosen = choosesRounds() && countOf(steady_) >= repetition_.rounds
                                             ? steady_
                                             : std::vector<bool>(rounds_.size(), true);
        std::vector<Series> all = failures_;
        for (std::size_t entry = 0; entry < all.size(); ++entry) {
            for (std::size_t round = 0; round < rounds_.size(); ++round) {
                if (chosen[round]) {
                    add(all[entry], rounds_[round][entry]);
                }
            }
            all[entry].discardedRounds = rounds_.size() - countOf(chosen);
        }
        return all;
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
            if (failures_[entry].error.empty()) {
                turns[entry] = runEntry(entries_[entry], counters_);
                turns[entry].record.index = round - std::min(round, repetition_.warmups);
                turns[entry].record.place = place;
                noteFailure(failures_[entry], turns[entry].round);
            }
            ++place;
        }
        const RoundConditions conditions = conditionsOfRound_();
        if (round >= repetition_.warmups) {
            keep(std::move(turns), conditions);
        }
        return true;
    }

    void keep(std::vector<Turn> turns, const RoundConditions& conditions) {
        for (Turn& turn : turns) {
            turn.record.others = conditions.others;
            turn.record.stolen = conditions.stolen;
        }
        conditions_.push_back(conditions);
        rounds_.push_back(std::move(turns));
        if (choosesRounds()) {
            steady_ = steadyRounds(conditions_);
        }
    }

    const std::vector<std::function<Round()>>& entries_;
    const Repetition& repetition_;
    const Progress& progress_;
    const std::function<RoundConditions()>& conditionsOfRound_;
    const Nanoseconds beganAt_ = now();
    std::size_t done_ = 0;
    std::size_t all_;
    PerfCounters counters_;

    // Of each entry: its error, if it has failed.
    std::vector<Series> failures_;

    // The measured rounds, and the machine meanwhile.
    std::vector<std::vector<Turn>> rounds_;
    std::vector<RoundConditions> conditions_;

    // Only if rounds are chosen: which of them count, if there are enough of them.
    std::vector<bool> steady_;
};

}  // namespace

bool isUnreliable(const Series& series) {
    return series.error.empty() && summarize(series.roundNs).cv > unreliableCv;
}

std::vector<Series> interleave(const std::vector<std::function<Round()>>& entries,
                               const Repetition& repetition, const Progress& progress,
                               const std::function<RoundConditions()>& conditions) {
    return Interleaving(entries, repetition, progress, conditions).run();
}

}  // namespace sluice::bench
