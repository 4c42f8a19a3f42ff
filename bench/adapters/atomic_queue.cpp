#include "adapters/queue_subjects.hpp"

#if defined(SLUICE_PEER_ATOMIC_QUEUE)
#include "adapters/atomic_queue.hpp"
#endif

#include <utility>

namespace sluice::bench {

#if defined(SLUICE_PEER_ATOMIC_QUEUE)
namespace {

template <class Message>
using AtomicQueueMpmc = AtomicQueue<Message, false>;

template <class Message>
using AtomicQueueSpsc = AtomicQueue<Message, true>;

}  // namespace
#endif

void addAtomicQueue(QueueSubjects& subjects) {
    Subject many;
    many.id = "atomic_queue/AtomicQueueB2";
    many.library = "atomic_queue";
    many.version = SLUICE_PEER_ATOMIC_QUEUE_VERSION;
    many.use = "run-time capacity; try_push(), try_pop() until empty";
    many.features = {"mpmc", "exact", "none", false, false};
    Subject single = many;
    single.id += ":spsc";
    single.use += "; its single-producer-single-consumer mode";
    single.features.topology = "spsc";
    single.features.order = "all producers";
#if defined(SLUICE_PEER_ATOMIC_QUEUE)
    addPeer<AtomicQueueMpmc>(subjects, std::move(many));
    addPeer<AtomicQueueSpsc>(subjects, std::move(single));
#else
    addAbsent(subjects, std::move(many), "SLUICE_PEER_ATOMIC_QUEUE_INCLUDE");
    addAbsent(subjects, std::move(single), "SLUICE_PEER_ATOMIC_QUEUE_INCLUDE");
#endif
}

}  // namespace sluice::bench
