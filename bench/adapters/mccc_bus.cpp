/// \file
/// MCCC's bus at its documented depth, in each of its modes.

#include "adapters/bus_subjects.hpp"
#include "adapters/mccc_modes.hpp"
#include "adapters/mccc_shapes.hpp"

#include <vector>

namespace sluice::bench {

namespace {

constexpr McccMode full{"full", "FULL_FEATURED, PublishFast() with a time stamp 64 messages old",
                        true, true};
constexpr McccMode noStats{"no-stats", "NO_STATS, PublishFast() with a time stamp 64 messages old",
                           true, false};
constexpr McccMode bare{"bare", "BARE_METAL, PublishFast() without a time stamp", false, false};
constexpr McccMode exactTime{"exact-time", "FULL_FEATURED, Publish(), which reads the clock", true,
                             true};

#if defined(SLUICE_PEER_MCCC)

using PerformanceMode = McccAsyncBus<64, 0>::PerformanceMode;

template <PerformanceMode Performance, Stamp Stamping>
void addMode(BusSubjects& subjects, const McccMode& mode) {
    addMcccMode<static_cast<int>(Performance), Stamping, 0>(subjects, mode);
}

#endif

}  // namespace

void addMcccShapes131072([[maybe_unused]] std::vector<BusShape>& paced,
                         [[maybe_unused]] std::vector<BusShape>& unpaced) {
#if defined(SLUICE_PEER_MCCC)
    addMcccShape<64, 0>(paced, unpaced);
#endif
}

void addMcccBus(BusSubjects& subjects) {
#if defined(SLUICE_PEER_MCCC)
    std::vector<BusShape> paced;
    std::vector<BusShape> unpaced;
    for (const auto add : {addMcccShapes4096, addMcccShapes64, addMcccShapes131072}) {
        add(paced, unpaced);
    }
    addMode<PerformanceMode::FULL_FEATURED, Stamp::cached>(subjects, full);
    addShapes(subjects, paced, unpaced);
    addMode<PerformanceMode::NO_STATS, Stamp::cached>(subjects, noStats);
    addMode<PerformanceMode::BARE_METAL, Stamp::none>(subjects, bare);
    addMode<PerformanceMode::FULL_FEATURED, Stamp::exact>(subjects, exactTime);
#else
    for (const McccMode& mode : {full, noStats, bare, exactTime}) {
        addAbsentMccc(subjects, mode);
    }
#endif
}

}  // namespace sluice::bench
