#include "adapters/queue_subjects.hpp"
#include "adapters/sluice_queue.hpp"

#include <sluice/queue/mpsc_ring.hpp>

#include <utility>

namespace sluice::bench {

namespace {

template <class Message>
using MpscRingQueue = SluiceQueue<MpscRing<Message, dynamicCapacity>, Message>;

}  // namespace

void addMpscRing(QueueSubjects& subjects) {
    Subject info;
    info.id = "sluice/MpscRing";
    info.use = "run-time capacity; tryPush(), consume()";
    info.features = {"mpsc", "exact", "all producers", false, true};
    addOurs<MpscRingQueue>(subjects, std::move(info));
}

}  // namespace sluice::bench
