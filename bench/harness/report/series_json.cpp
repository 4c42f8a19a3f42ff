#include "harness/report/series_json.hpp"

#include <nlohmann/json.hpp>

#include <optional>
#include <stdexcept>

namespace nlohmann {

// NOLINTBEGIN(readability-identifier-naming): here and below the functions' names are the library's
template <class Value>
struct adl_serializer<std::optional<Value>> {
    static void to_json(json& to, const std::optional<Value>& value) {
        to = value ? json(*value) : json(nullptr);
    }
    static void from_json(const json& from, std::optional<Value>& value) {
        value = from.is_null() ? std::nullopt : std::optional<Value>(from.get<Value>());
    }
};

}  // namespace nlohmann

namespace sluice::bench {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Counts, planned, attempted, accepted, rejected, dropped, queued,
                                   delivered, disorder, backInTime, sentSum, receivedSum)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Usage, voluntarySwitches, involuntarySwitches, minorFaults,
                                   majorFaults, peakMemoryMib)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(PerfCounts, cycles, instructions, cacheMisses, branchMisses,
                                   migrations)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RoundRecord, index, place, process, ns, others, stolen, timedNs,
                                   clockReads, timedMessages, counts, lateSends, allocations, usage,
                                   perf)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Series, records, roundNs, samples, roundP99, roundIntervalNs,
                                   counts, timedOut, lost, lateSends, roundsBehindSchedule,
                                   discardedRounds, error)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(NamedSeries, subject, series)
// NOLINTEND(readability-identifier-naming)

namespace {

template <class Values>
void extend(Values& values, const Values& more) {
    values.insert(values.end(), more.begin(), more.end());
}

}  // namespace

std::string writeSeries(const std::vector<NamedSeries>& all) {
    return nlohmann::json(all).dump();
}

std::vector<NamedSeries> readSeries(const std::string& text) {
    try {
        return nlohmann::json::parse(text).get<std::vector<NamedSeries>>();
    } catch (const nlohmann::json::exception& error) {
        throw std::runtime_error(std::string("rounds of another process: ") + error.what());
    }
}

void append(Series& all, const Series& more, std::size_t process) {
    for (RoundRecord record : more.records) {
        record.process = process;
        record.index = all.records.size();
        all.records.push_back(record);
    }
    extend(all.roundNs, more.roundNs);
    extend(all.samples, more.samples);
    extend(all.roundP99, more.roundP99);
    extend(all.roundIntervalNs, more.roundIntervalNs);
    all.counts += more.counts;
    all.timedOut += more.timedOut;
    all.lost += more.lost;
    all.lateSends += more.lateSends;
    all.roundsBehindSchedule += more.roundsBehindSchedule;
    all.discardedRounds += more.discardedRounds;
    if (all.error.empty()) {
        all.error = more.error;
    }
}

}  // namespace sluice::bench
