#include "adapters/queue_subjects.hpp"

namespace sluice::bench {

QueueSubjects queueSubjects() {
    QueueSubjects subjects;
    for (const auto add : {addSpscRing, addMpscRing, addMpmcRing, addMpscLanes, addMpmcLanes,
                           addSegmentQueue, addBoostSpsc, addBoostQueue, addMoodycamelCq,
                           addMoodycamelRwq, addTbbBounded, addAtomicQueue, addRigtorpSpsc}) {
        add(subjects);
    }
    return subjects;
}

}  // namespace sluice::bench
