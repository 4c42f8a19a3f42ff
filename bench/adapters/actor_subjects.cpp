#include "adapters/actor_subjects.hpp"

namespace sluice::bench {

#if !defined(SLUICE_PEER_EVENTPP)
void addEventppActor(ActorSubjects& subjects) {
    Subject info;
    info.id = "eventpp/active object";
    info.library = "eventpp";
    info.absentBecause = notCompiledIn("SLUICE_PEER_EVENTPP_INCLUDE");
    subjects.push_back({info});
}
#endif

ActorSubjects actorSubjects() {
    ActorSubjects subjects;
    for (const auto add :
         {addSluiceActors, addLockedDeque, addCaf, addSobjectizer, addEventppActor, addWakeUps}) {
        add(subjects);
    }
    return subjects;
}

}  // namespace sluice::bench
