#include "adapters/boost_queue.hpp"
#include "adapters/queue_subjects.hpp"

#include <boost/version.hpp>
#include <utility>

namespace sluice::bench {

void addBoostQueue(QueueSubjects& subjects) {
    Subject info;
    info.id = "boost/queue";
    info.library = "Boost.Lockfree";
    info.version = BOOST_LIB_VERSION;
    info.use = "nodes allocated up front; bounded_push(), pop() until empty";
    info.features = {"mpmc", "exact", "all producers", false, false};
    addPeer<BoostQueue>(subjects, std::move(info));
}

}  // namespace sluice::bench
