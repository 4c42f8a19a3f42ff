/// \file
/// MCCC's bus at its documented depth, in each of its modes.

#include "adapters/bus_subjects.hpp"
#include "adapters/mccc_shapes.hpp"

#include <utility>

namespace sluice::bench {

namespace {

// MEDIUM is let in up to 80 % of 131072; only BARE_METAL takes more.
constexpr std::size_t mediumRoom = 104857;

// In what the modes differ; each may be consumed both ways.
struct Mode {
    const char* name;
    const char* use;
    bool admission;
    bool statistics;
};
constexpr Mode full{"full", "FULL_FEATURED, PublishFast() with a time stamp 64 messages old", true,
                    true};
constexpr Mode noStats{"no-stats", "NO_STATS, PublishFast() with a time stamp 64 messages old",
                       true, false};
constexpr Mode bare{"bare", "BARE_METAL, PublishFast() without a time stamp", false, false};
constexpr Mode exactTime{"exact-time", "FULL_FEATURED, Publish(), which reads the clock", true,
                         true};

BusSubject described(const Mode& mode, Way way) {
    BusSubject subject;
    subject.info.id = std::string("mccc/") + mode.name + nameOf(way);
    subject.info.library = "mccc";
    subject.info.use =
        std::string(mode.use) + ", " +
        (way == Way::table ? "Subscribe(), ProcessBatch()" : "ProcessBatchWith(), no header");
    Features& features = subject.info.features;
    features.topology = "mpsc";
    // It may refuse a message though there is room, and let in one more for each producer.
    features.bound = "approximate, depth 131072";
    features.order = "all producers";
    features.inPlace = true;
    features.backPressure = mode.admission;
    features.statistics = mode.statistics;
    features.typeErasure = way == Way::table;
    subject.room = mediumRoom;
    return subject;
}

#if defined(SLUICE_PEER_MCCC)

using AsyncBus = McccAsyncBus<64, 0>;
using PerformanceMode = AsyncBus::PerformanceMode;
static_assert(AsyncBus::MEDIUM_PRIORITY_THRESHOLD == mediumRoom, "not the documented depth");

template <PerformanceMode Performance, Stamp Stamping, Way Consuming>
struct Through {
    template <Sending Kinds>
    using Bus = McccBus<static_cast<int>(Performance), Stamping, Consuming, Kinds>;
};

template <PerformanceMode Performance, Stamp Stamping, Way Consuming>
void addWay(BusSubjects& subjects, const Mode& mode) {
    using With = Through<Performance, Stamping, Consuming>;
    addBothPacings(subjects, described(mode, Consuming),
                   busRuns<With::template Bus, HarvestPacing>(),
                   busRuns<With::template Bus, NoPacing>());
}

template <PerformanceMode Performance, Stamp Stamping>
void addMode(BusSubjects& subjects, const Mode& mode) {
    addWay<Performance, Stamping, Way::table>(subjects, mode);
    addWay<Performance, Stamping, Way::visitor>(subjects, mode);
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
    for (const Mode& mode : {full, noStats, bare, exactTime}) {
        for (const Way way : {Way::table, Way::visitor}) {
            BusSubject subject = described(mode, way);
            subject.info.absentBecause = notCompiledIn("SLUICE_PEER_MCCC_INCLUDE");
            subjects.push_back(std::move(subject));
        }
    }
#endif
}

}  // namespace sluice::bench
