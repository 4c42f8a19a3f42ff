#pragma once

/// \file
/// Every library of active objects that the actor scenarios know, one function for each library's
/// file, and what turns its adapters (see harness/acting.hpp) into a subject.

#include "harness/acting.hpp"
#include "harness/subject.hpp"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace sluice::bench {

struct ActorSubject {
    Subject info;

    /// By the name of the scenario.
    std::map<std::string, Round (*)(const RoundPlan&)> rounds = {};
};

using ActorSubjects = std::vector<ActorSubject>;

template <class Receiver>
void addReceiver(ActorSubject& subject) {
    subject.rounds["post-1s"] = &postRound<Receiver>;
    subject.rounds["post-4s"] = &postRound<Receiver>;
    subject.rounds["delay-idle"] = &delayRound<Receiver>;
}

template <class Replier>
void addReplier(ActorSubject& subject) {
    subject.rounds["request"] = &requestRound<Replier>;
}

template <class Ring>
void addRing(ActorSubject& subject) {
    subject.rounds["ring-100000"] = &ringRound<Ring>;
    subject.rounds["idle-memory-100000"] = &idleObjectsRound<Ring>;
    subject.rounds["idle-cpu-10000"] = &idleCpuRound<Ring>;
}

void addSluiceActors(ActorSubjects& subjects);
void addLockedDeque(ActorSubjects& subjects);
void addCaf(ActorSubjects& subjects);
void addSobjectizer(ActorSubjects& subjects);
void addEventppActor(ActorSubjects& subjects);

/// All of them, ours first. Subjects whose library was not there at compile time are listed as
/// absent.
ActorSubjects actorSubjects();

}  // namespace sluice::bench
