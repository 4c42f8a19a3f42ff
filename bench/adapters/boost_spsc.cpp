#include "adapters/boost_spsc.hpp"
#include "adapters/queue_subjects.hpp"

#include <boost/version.hpp>
#include <utility>

namespace sluice::bench {

void addBoostSpsc(QueueSubjects& subjects) {
    Subject info;
    info.id = "boost/spsc_queue";
    info.library = "Boost.Lockfree";
    info.version = BOOST_LIB_VERSION;
    info.use = "run-time capacity; push(), consume_all()";
    info.features = {"spsc", "exact", "all producers", false, true};
    addPeer<BoostSpsc>(subjects, std::move(info));
}

}  // namespace sluice::bench
