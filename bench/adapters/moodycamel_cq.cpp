#include "adapters/moodycamel_cq.hpp"
#include "adapters/queue_subjects.hpp"

#include <utility>

namespace sluice::bench {

void addMoodycamelCq(QueueSubjects& subjects) {
    Subject info;
    info.id = "moodycamel/ConcurrentQueue";
    info.library = "moodycamel";
    info.version = SLUICE_PEER_CONCURRENTQUEUE_VERSION;
    info.use = "blocks allocated up front; producer and consumer tokens; try_enqueue(), "
               "try_dequeue_bulk() of 256";
    info.features = {"mpmc", "approximate", "each producer", false, false};
    addPeer<MoodycamelCq>(subjects, std::move(info));
}

}  // namespace sluice::bench
