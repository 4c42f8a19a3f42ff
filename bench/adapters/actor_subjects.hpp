#pragma once

/// \file
/// Every library of active objects that the actor scenarios know, one function for each library's
/// file, and a function that makes a subject from its adapters (see harness/run/acting.hpp).

#include "harness/run/acting.hpp"
#include "harness/run/subject.hpp"

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

/// One sender with messages of 64 bytes. Other rounds are calibrated by it.
inline const char* const oneSender = "post-1s";

/// Two threads that wake each other and do nothing else.
inline const std::string twoWakeUps = floorPrefix + "two wake-ups";

/// Receivers of the three sizes. No template as an argument: g++ gives a function that has one from
/// an unnamed namespace a name that other files have, too.
template <class Small, class Usual, class Large>
void addReceiver(ActorSubject& subject) {
    subject.rounds[oneSender] = &postRound<Usual, ActorMessage>;
    subject.rounds["post-4s"] = &postRound<Usual, ActorMessage>;
    subject.rounds["post-1s-16B"] = &postRound<Small, SmallActorMessage>;
    subject.rounds["post-1s-1024B"] = &postRound<Large, LargeActorMessage>;
    for (const char* const name : {"burst-1000", "burst-10000", "burst-100000"}) {
        subject.rounds[name] = &postRound<Usual, ActorMessage>;
    }
    subject.rounds["sustained-5s"] = &postRound<Usual, ActorMessage>;
    subject.rounds["delay-idle"] = &delayRound<Usual>;
    subject.rounds["delay-half-load"] = &loadedDelayRound<Usual>;
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
void addEventppForkActor(ActorSubjects& subjects);
void addWakeUps(ActorSubjects& subjects);

/// All of them, ours first. Subjects whose library was not there at compile time are listed as
/// absent.
ActorSubjects actorSubjects();

}  // namespace sluice::bench
