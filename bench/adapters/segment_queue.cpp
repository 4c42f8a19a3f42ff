#include "adapters/queue_subjects.hpp"
#include "adapters/sluice_queue.hpp"

#include <sluice/queue/segment_queue.hpp>

#include <utility>

namespace sluice::bench {

namespace {

template <class Message>
using LimitedSegmentQueue = SluiceQueue<SegmentQueue<Message>, Message>;

}  // namespace

void addSegmentQueue(QueueSubjects& subjects) {
    Subject info;
    info.id = "sluice/SegmentQueue";
    info.use = "with a limit; tryPush(), consume()";
    info.features = {"mpsc", "exact", "all producers", true, true};
    addOurs<LimitedSegmentQueue>(subjects, std::move(info));
}

}  // namespace sluice::bench
