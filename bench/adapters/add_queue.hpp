#pragma once

/// \file
/// Turns an adapter into the two subjects that every queue is measured as: without and with harvest
/// pacing.

#include "harness/run/idle_latency.hpp"
#include "harness/run/loaded_latency.hpp"
#include "harness/run/message.hpp"
#include "harness/run/raw_enqueue.hpp"
#include "harness/run/sharing.hpp"
#include "harness/run/subject.hpp"
#include "harness/run/throughput.hpp"

#include <sluice/wait/park.hpp>

#include <string>
#include <utility>
#include <vector>

namespace sluice::bench {

/// The rounds of one queue subject. They are null when the subject is absent.
struct QueueRuns {
    Round (*throughput8)(const RoundPlan&) = nullptr;
    Round (*throughput64)(const RoundPlan&) = nullptr;
    Round (*throughput512)(const RoundPlan&) = nullptr;
    Round (*throughput4096)(const RoundPlan&) = nullptr;
    Round (*rawEnqueue64)(const RoundPlan&) = nullptr;
    Round (*overflow64)(const RoundPlan&) = nullptr;
    Round (*loadedLatency64)(const RoundPlan&) = nullptr;
    Round (*idleLatency64)(const RoundPlan&) = nullptr;
    Round (*sharing64)(const RoundPlan&) = nullptr;
};

struct QueueSubject {
    Subject info;
    QueueRuns runs;
};

using QueueSubjects = std::vector<QueueSubject>;

template <template <class> class Queue, class PacingPolicy>
QueueRuns queueRuns() {
    using Small = Message<8>;
    using Line = Message<64>;
    using Large = Message<512>;
    using Page = Message<4096>;
    return {&throughputRound<Queue<Small>, Small, PacingPolicy>,
            &throughputRound<Queue<Line>, Line, PacingPolicy>,
            &throughputRound<Queue<Large>, Large, PacingPolicy>,
            &throughputRound<Queue<Page>, Page, PacingPolicy>,
            &rawEnqueueRound<Queue<Line>, Line>,
            &overflowRound<Queue<Line>, Line>,
            &loadedLatencyRound<Queue<Line>, Line, PacingPolicy>,
            &idleLatencyRound<Queue<Line>, Line, PacingPolicy>,
            &sharingRound<Queue<Line>, Line, PacingPolicy>};
}

/// Adds a queue of another library: as documented under `info.id`, paced under `info.id` +
/// "/paced".
template <template <class> class Queue>
void addPeer(QueueSubjects& subjects, Subject info) {
    Subject paced = info;
    paced.id += "/paced";
    paced.pacing = Pacing::harvest;
    subjects.push_back({std::move(info), queueRuns<Queue, NoPacing>()});
    subjects.push_back({std::move(paced), queueRuns<Queue, BatchPacing>()});
}

/// Adds one of our queues, which are paced unless told otherwise: `info.id`, and `info.id` +
/// "/unpaced".
template <template <class> class Queue>
void addOurs(QueueSubjects& subjects, Subject info) {
    info.library = "sluice";
    info.ours = true;
    info.pacing = Pacing::harvest;
    Subject unpaced = info;
    unpaced.id += "/unpaced";
    unpaced.pacing = Pacing::none;
    subjects.push_back({std::move(info), queueRuns<Queue, BatchPacing>()});
    subjects.push_back({std::move(unpaced), queueRuns<Queue, NoPacing>()});
}

/// Adds a peer that was not compiled in, so that it is listed as absent and not silently missing.
inline void addAbsent(QueueSubjects& subjects, Subject info, const std::string& option) {
    info.absentBecause = notCompiledIn(option);
    subjects.push_back({std::move(info), {}});
}

}  // namespace sluice::bench
