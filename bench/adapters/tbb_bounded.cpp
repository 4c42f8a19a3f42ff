#include "adapters/tbb_bounded.hpp"
#include "adapters/queue_subjects.hpp"

#include <tbb/version.h>
#include <utility>

namespace sluice::bench {

void addTbbBounded(QueueSubjects& subjects) {
    Subject info;
    info.id = "tbb/concurrent_bounded_queue";
    info.library = "oneTBB";
    info.prebuilt = true;
    info.version = TBB_VERSION_STRING;
    info.use = "set_capacity(); try_push(), try_pop() until empty";
    info.features = {"mpmc", "exact", "all producers", true, false};
    addPeer<TbbBounded>(subjects, std::move(info));
}

}  // namespace sluice::bench
