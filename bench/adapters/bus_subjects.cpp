#include "adapters/bus_subjects.hpp"

namespace sluice::bench {

BusSubjects busSubjects() {
    BusSubjects subjects;
    for (const auto add : {addSluiceBus, addMcccBus, addMcccSingleProducer}) {
        add(subjects);
    }
    return subjects;
}

}  // namespace sluice::bench
