#include "adapters/actor_subjects.hpp"

namespace sluice::bench {

namespace {

[[maybe_unused]] void addAbsent(ActorSubjects& subjects, const std::string& library,
                                const std::string& option) {
    Subject info;
    info.id = library + "/active object";
    info.library = library;
    info.absentBecause = notCompiledIn(option);
    subjects.push_back({info});
}

}  // namespace

#if !defined(SLUICE_PEER_EVENTPP)
void addEventppActor(ActorSubjects& subjects) {
    addAbsent(subjects, "eventpp", "SLUICE_PEER_EVENTPP_INCLUDE");
}
#endif
#if !defined(SLUICE_PEER_EVENTPP_FORK)
void addEventppForkActor(ActorSubjects& subjects) {
    addAbsent(subjects, "eventpp-fork", "SLUICE_PEER_EVENTPP_FORK_INCLUDE");
}
#endif

ActorSubjects actorSubjects() {
    ActorSubjects subjects;
    for (const auto add : {addSluiceActors, addLockedDeque, addCaf, addSobjectizer, addEventppActor,
                           addEventppForkActor, addWakeUps}) {
        add(subjects);
    }
    return subjects;
}

}  // namespace sluice::bench
