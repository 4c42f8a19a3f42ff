#pragma once

/// \file
/// Turns adapters for callback lists, dispatchers and event queues (see harness/run/listening.hpp
/// and harness/run/event_batches.hpp) into a subject of the event scenarios.

#include "adapters/event_transport.hpp"
#include "harness/run/event_batches.hpp"
#include "harness/run/idle_latency.hpp"
#include "harness/run/listening.hpp"
#include "harness/run/loaded_latency.hpp"
#include "harness/run/subject.hpp"
#include "harness/run/throughput.hpp"

#include <sluice/wait/park.hpp>

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace sluice::bench {

/// By the name of the scenario.
using EventRounds = std::map<std::string, Round (*)(const RoundPlan&)>;

struct EventSubject {
    Subject info;
    EventRounds rounds;
};

using EventSubjects = std::vector<EventSubject>;

/// Whether objects of the library may be used from several threads at a time.
enum class Threads { one, any };

inline const char* topologyOf(Threads threads) {
    return threads == Threads::any ? "any thread" : "one thread";
}

template <class List>
void addCalls(EventRounds& rounds, Threads threads) {
    rounds["call-1"] = rounds["call-100"] = &callRound<List>;
    if (threads == Threads::any) {
        rounds["call-1-2t"] = &callRound<List>;
    }
}

template <class List>
void addChanges(EventRounds& rounds, Threads threads) {
    rounds["add-remove-100"] = &addRemoveRound<List>;
    rounds["add-10000"] = &growRound<List>;
    if (threads == Threads::any) {
        rounds["add-remove-100-2t"] = &addRemoveRound<List>;
        rounds["change-while-called"] = &contendedRound<List, false>;
        rounds["call-while-changed"] = &contendedRound<List, true>;
    }
}

template <class Dispatcher>
void addDispatches(EventRounds& rounds, Threads threads) {
    rounds["dispatch-100"] = &dispatchRound<Dispatcher>;
    if (threads == Threads::any) {
        rounds["dispatch-100-2t"] = &dispatchRound<Dispatcher>;
    }
}

template <template <class> class Queue>
void addBatches(EventRounds& rounds) {
    using Short = Queue<ShortArgument>;
    for (const char* const name :
         {"enqueue-32B-1K", "enqueue-32B", "enqueue-32B-100K", "enqueue-32B-1M"}) {
        rounds[name] = &eventBatchRound<Short, CallListeners, Phase::enqueue>;
    }
    for (const char* const name : {"enqueue-pointer-1K", "enqueue-pointer-10K",
                                   "enqueue-pointer-100K", "enqueue-pointer-1M"}) {
        rounds[name] = &eventBatchRound<Queue<PointerArgument>, CallListeners, Phase::enqueue>;
    }
    for (const char* const name : {"process-10K", "process-100K", "process-1M"}) {
        rounds[name] = &eventBatchRound<Short, CallListeners, Phase::drain>;
    }
    rounds["process-1id-100K"] = &eventBatchRound<Short, CallListeners, Phase::drain, 1>;
    rounds["string-10K"] = &eventBatchRound<Queue<std::string>, CallListeners, Phase::both>;
}

template <template <class> class Queue>
void addVisits(EventRounds& rounds) {
    for (const char* const name : {"visit-100K", "visit-1M"}) {
        rounds[name] = &eventBatchRound<Queue<ShortArgument>, CallVisitor, Phase::drain>;
    }
    rounds["visit-1id-100K"] = &eventBatchRound<Queue<ShortArgument>, CallVisitor, Phase::drain, 1>;
}

/// Between threads, with a consumer that sleeps in the queue's wait.
template <template <class> class Queue>
void addSleepers(EventRounds& rounds) {
    using Transport = EventTransport<Queue<ShortArgument>, Waiting::sleeps>;
    rounds["wait-32B-1p"] = &throughputRound<Transport, ShortArgument, NoPacing>;
    rounds["wait-idle-32B"] = &idleLatencyRound<Transport, ShortArgument, NoPacing>;
    rounds["wait-loaded-32B"] = &loadedLatencyRound<Transport, ShortArgument, NoPacing>;
}

/// Between threads, as documented under the id of `subject`, paced under that + "/paced".
template <template <class> class Queue>
void addCrossings(EventSubjects& subjects, EventSubject subject) {
    using Transport = EventTransport<Queue<ShortArgument>>;
    EventSubject paced{subject.info, {}};
    paced.info.id += "/paced";
    paced.info.pacing = Pacing::harvest;
    for (const char* const name : {"across-32B-1p", "across-32B-4p"}) {
        subject.rounds[name] = &throughputRound<Transport, ShortArgument, NoPacing>;
        paced.rounds[name] = &throughputRound<Transport, ShortArgument, BatchPacing>;
    }
    subjects.push_back(std::move(subject));
    subjects.push_back(std::move(paced));
}

}  // namespace sluice::bench
