#include "adapters/queue_subjects.hpp"

#if defined(SLUICE_PEER_RIGTORP)
#include "adapters/rigtorp_spsc.hpp"
#endif

#include <utility>

namespace sluice::bench {

void addRigtorpSpsc(QueueSubjects& subjects) {
    Subject info;
    info.id = "rigtorp/SPSCQueue";
    info.library = "rigtorp";
    info.version = SLUICE_PEER_RIGTORP_VERSION;
    info.use = "try_push(), front() and pop() until empty";
    info.features = {"spsc", "exact", "all producers", false, true};
#if defined(SLUICE_PEER_RIGTORP)
    addPeer<RigtorpSpsc>(subjects, std::move(info));
#else
    addAbsent(subjects, std::move(info), "SLUICE_PEER_RIGTORP_INCLUDE");
#endif
}

}  // namespace sluice::bench
