#include "adapters/moodycamel_rwq.hpp"
#include "adapters/queue_subjects.hpp"

#include <utility>

namespace sluice::bench {

void addMoodycamelRwq(QueueSubjects& subjects) {
    Subject info;
    info.id = "moodycamel/ReaderWriterQueue";
    info.library = "moodycamel";
    info.version = SLUICE_PEER_READERWRITERQUEUE_VERSION;
    info.use = "blocks allocated up front; try_enqueue(), try_dequeue() until empty";
    info.features = {"spsc", "approximate", "all producers", false, false};
    addPeer<MoodycamelRwq>(subjects, std::move(info));
}

}  // namespace sluice::bench
