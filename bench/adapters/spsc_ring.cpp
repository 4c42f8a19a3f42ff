#include "adapters/queue_subjects.hpp"
#include "adapters/sluice_queue.hpp"

#include <sluice/queue/spsc_ring.hpp>

#include <cstddef>
#include <utility>

namespace sluice::bench {

namespace {

template <class Message>
using SpscRingQueue = SluiceQueue<SpscRing<Message, dynamicCapacity>, Message>;

/// Shows the cost of false sharing: its members lie side by side.
struct UnpaddedTraits : QueueTraits {
    static constexpr std::size_t cacheLineSize = alignof(std::size_t);
};
template <class Message>
using UnpaddedQueue = SluiceQueue<SpscRing<Message, dynamicCapacity, UnpaddedTraits>, Message>;

}  // namespace

void addSpscRing(QueueSubjects& subjects) {
    Subject info;
    info.id = "sluice/SpscRing";
    info.use = "run-time capacity; tryPush(), consume()";
    info.features = {"spsc", "exact", "all producers", false, true};
    addOurs<SpscRingQueue>(subjects, info);
    info.id += unpaddedMark;
    info.use = "as SpscRing, without padding to cache lines";
    addOurs<UnpaddedQueue>(subjects, std::move(info));
}

}  // namespace sluice::bench
