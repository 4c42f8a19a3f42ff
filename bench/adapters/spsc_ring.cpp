#include "adapters/queue_subjects.hpp"
#include "adapters/sluice_queue.hpp"

#include <sluice/queue/spsc_ring.hpp>

#include <utility>

namespace sluice::bench {

namespace {

template <class Message>
using SpscRingQueue = SluiceQueue<SpscRing<Message, dynamicCapacity>, Message>;

}  // namespace

void addSpscRing(QueueSubjects& subjects) {
    Subject info;
    info.id = "sluice/SpscRing";
    info.use = "run-time capacity; tryPush(), consume()";
    info.features = {"spsc", "exact", "all producers", false, true};
    addOurs<SpscRingQueue>(subjects, std::move(info));
}

}  // namespace sluice::bench
