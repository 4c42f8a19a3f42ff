#pragma once

/// \file
/// Turns the adapter of a bus into the subjects that it is measured as.

#include "adapters/bus_messages.hpp"
#include "harness/run/burst.hpp"
#include "harness/run/flood.hpp"
#include "harness/run/idle_latency.hpp"
#include "harness/run/loaded_latency.hpp"
#include "harness/run/overload.hpp"
#include "harness/run/raw_enqueue.hpp"
#include "harness/run/subject.hpp"
#include "harness/run/throughput.hpp"

#include <sluice/wait/park.hpp>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace sluice::bench {

/// The rounds of one bus subject. They are null when the subject is absent.
struct BusRuns {
    Round (*throughput)(const RoundPlan&) = nullptr;
    Round (*mixedThroughput)(const RoundPlan&) = nullptr;
    Round (*rawEnqueue)(const RoundPlan&) = nullptr;
    Round (*overflow)(const RoundPlan&) = nullptr;
    Round (*loadedLatency)(const RoundPlan&) = nullptr;
    Round (*idleLatency)(const RoundPlan&) = nullptr;
    Round (*burst)(const RoundPlan&) = nullptr;
    Round (*flood)(const RoundPlan&) = nullptr;
    Round (*overload)(const RoundPlan&) = nullptr;
};

/// The same bus with messages of another size, or with another depth.
struct BusShape {
    std::size_t bytes = 0;
    std::size_t depth = 0;
    std::size_t room = 0;  ///< as BusSubject::room
    Round (*throughput)(const RoundPlan&) = nullptr;
};

struct BusSubject {
    Subject info;
    BusRuns runs;

    /// How many messages of medium priority it lets in.
    std::size_t room = 0;

    /// The subject, as documented, that it is compared with; empty when there is none.
    std::string counterpart;

    std::vector<BusShape> shapes;
};

using BusSubjects = std::vector<BusSubject>;

/// The end of the id of a subject with another pacing than its library documents.
inline const std::string pacedMark = "/paced";
inline const std::string unpacedMark = "/unpaced";

inline std::string nameOf(Way way) {
    return way == Way::table ? ":table" : ":visitor";
}

template <template <Sending> class Bus, class PacingPolicy>
BusRuns busRuns() {
    using Text = Message<64>;
    using One = Bus<Sending::one>;
    return {&throughputRound<One, Text, PacingPolicy>,
            &throughputRound<Bus<Sending::mixed>, Text, PacingPolicy>,
            &rawEnqueueRound<One, Text>,
            &overflowRound<One, Text>,
            &loadedLatencyRound<One, Text, PacingPolicy>,
            &idleLatencyRound<One, Text, PacingPolicy>,
            &burstRound<One, Text, PacingPolicy>,
            &floodRound<One, Text, PacingPolicy>,
            &overloadRound<One, Text>};
}

/// Adds the two forms of a bus: the one that its library documents under the id of `subject`, the
/// other one under this id and a mark.
inline void addBothPacings(BusSubjects& subjects, const BusSubject& subject, const BusRuns& paced,
                           const BusRuns& unpaced) {
    BusSubject meant = subject;
    BusSubject other = subject;
    const bool ours = subject.info.ours;
    meant.info.pacing = ours ? Pacing::harvest : Pacing::none;
    meant.runs = ours ? paced : unpaced;
    other.info.pacing = ours ? Pacing::none : Pacing::harvest;
    other.runs = ours ? unpaced : paced;
    other.info.id += ours ? unpacedMark : pacedMark;
    if (!ours) {
        other.counterpart = meant.info.id;
    }
    subjects.push_back(std::move(meant));
    subjects.push_back(std::move(other));
}

/// Gives shapes to the two forms that were added last.
inline void addShapes(BusSubjects& subjects, const std::vector<BusShape>& paced,
                      const std::vector<BusShape>& unpaced) {
    for (std::size_t i = subjects.size() - 2; i < subjects.size(); ++i) {
        subjects[i].shapes = subjects[i].info.pacing == Pacing::harvest ? paced : unpaced;
    }
}

}  // namespace sluice::bench
