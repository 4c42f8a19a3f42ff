#include "adapters/queue_subjects.hpp"
#include "adapters/sluice_queue.hpp"

#include <sluice/queue/mpmc_ring.hpp>

#include <utility>

namespace sluice::bench {

namespace {

template <class Message>
using MpmcRingQueue = SluiceQueue<MpmcRing<Message, dynamicCapacity>, Message>;

}  // namespace

void addMpmcRing(QueueSubjects& subjects) {
    Subject info;
    info.id = "sluice/MpmcRing";
    info.use = "run-time capacity; tryPush(), consume()";
    info.features = {"mpmc", "exact", "all producers", false, true};
    addOurs<MpmcRingQueue>(subjects, std::move(info));
}

}  // namespace sluice::bench
