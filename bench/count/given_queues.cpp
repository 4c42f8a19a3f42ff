/// \file
/// The queues among the peers whose headers are given.

#if defined(SLUICE_PEER_ATOMIC_QUEUE)
#include "adapters/atomic_queue.hpp"
#endif
#if defined(SLUICE_PEER_RIGTORP)
#include "adapters/rigtorp_spsc.hpp"
#endif
#include "queue_rows.hpp"
#include "rows.hpp"

namespace sluice::count {

void addAtomicQueue([[maybe_unused]] Rows& rows) {
#if defined(SLUICE_PEER_ATOMIC_QUEUE)
    addQueue<bench::AtomicQueue<Message, true>>(rows, "atomic_queue/AtomicQueueB2:spsc",
                                                {"SpscRing"});
    addQueue<bench::AtomicQueue<Message, false>>(
        rows, "atomic_queue/AtomicQueueB2", {"MpscRing", "MpmcRing", "MpscLanes", "SegmentQueue"});
#endif
}

void addRigtorp([[maybe_unused]] Rows& rows) {
#if defined(SLUICE_PEER_RIGTORP)
    addQueue<bench::RigtorpSpsc<Message>>(rows, "rigtorp/SPSCQueue", {"SpscRing"});
#endif
}

}  // namespace sluice::count
