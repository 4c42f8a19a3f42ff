#include "adapters/tbb_bounded.hpp"
#include "queue_rows.hpp"
#include "rows.hpp"

namespace sluice::count {

void addTbb(Rows& rows) {
    addQueue<bench::TbbBounded<Message>>(rows, "tbb/concurrent_bounded_queue",
                                         {"MpscRing", "MpmcRing", "MpscLanes", "SegmentQueue"});
}

}  // namespace sluice::count
