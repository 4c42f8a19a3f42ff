#include "adapters/memory_subjects.hpp"

namespace sluice::bench {

MemorySubjects memorySubjects() {
    MemorySubjects subjects;
    for (const auto add : {addPools, addPooledClass, addPlacement, addHeap, addMimalloc,
                           addJemalloc, addBoostPools, addPmrResources, addMessageKinds}) {
        add(subjects);
    }
    return subjects;
}

}  // namespace sluice::bench
