#include "adapters/actor_subjects.hpp"

namespace sluice::bench {

ActorSubjects actorSubjects() {
    ActorSubjects subjects;
    for (const auto add : {addSluiceActors, addLockedDeque, addCaf, addSobjectizer}) {
        add(subjects);
    }
    return subjects;
}

}  // namespace sluice::bench
