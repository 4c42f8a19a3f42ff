#include "adapters/moodycamel_cq.hpp"
#include "adapters/moodycamel_rwq.hpp"
#include "queue_rows.hpp"
#include "rows.hpp"

namespace sluice::count {

void addMoodycamel(Rows& rows) {
    addQueue<bench::MoodycamelRwq<Message>>(rows, "moodycamel/ReaderWriterQueue", {"SpscRing"});
    addQueue<bench::MoodycamelCq<Message>>(rows, "moodycamel/ConcurrentQueue",
                                           {"MpscRing", "MpmcRing", "MpscLanes", "SegmentQueue"});
}

}  // namespace sluice::count
