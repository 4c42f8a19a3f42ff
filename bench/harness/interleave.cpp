#include "harness/interleave.hpp"

#include "harness/cpu_share.hpp"
#include "harness/schedule.hpp"
#include "harness/statistics.hpp"

namespace sluice::bench {

namespace {

void add(Series& series, const Round& round, bool warmup) {
    if (!round.error.empty()) {
        series.error = round.error;
        series.counts += round.counts;
    }
    if (warmup || !round.error.empty()) {
        return;
    }
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
    series.roundsBehindSchedule += round.behindSchedule ? 1 : 0;
}

}  // namespace

std::vector<Series> interleave(const std::vector<std::function<Round()>>& entries,
                               const Repetition& repetition, const Progress& progress) {
    std::vector<Series> series(entries.size());
    const std::size_t all = repetition.warmups + repetition.rounds;
    std::size_t done = 0;
    for (std::size_t round = 0; round < all; ++round) {
        for (const std::size_t entry : rotatingOrder(entries.size(), round)) {
            progress(done++, all * entries.size());
            if (series[entry].error.empty()) {
                const bool warmup = round < repetition.warmups;
                const std::uint64_t switches = involuntarySwitches();
                add(series[entry], entries[entry](), warmup);
                if (!warmup) {
                    series[entry].involuntarySwitches += involuntarySwitches() - switches;
                }
            }
        }
    }
    return series;
}

}  // namespace sluice::bench
