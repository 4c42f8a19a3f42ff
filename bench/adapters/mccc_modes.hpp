#pragma once

/// \file
/// MCCC's bus at its documented depth, as the subjects that it is measured as.

#include "adapters/add_bus.hpp"

#if defined(SLUICE_PEER_MCCC)
#include "adapters/mccc_bus.hpp"
#endif

#include <string>
#include <utility>

namespace sluice::bench {

/// MCCC accepts MEDIUM up to 80 % of 131072. Only BARE_METAL accepts more.
inline constexpr std::size_t mcccRoom = 104857;

/// The differences of the modes. Each mode may be consumed in both ways.
struct McccMode {
    const char* name;
    const char* use;
    bool admission;
    bool statistics;
    const char* topology = "mpsc";
};

inline BusSubject describedMccc(const McccMode& mode, Way way) {
    BusSubject subject;
    subject.info.id = std::string("mccc/") + mode.name + nameOf(way);
    subject.info.library = "mccc";
    subject.info.version = SLUICE_PEER_MCCC_VERSION;
    subject.info.use =
        std::string(mode.use) + ", " +
        (way == Way::table ? "Subscribe(), ProcessBatch()" : "ProcessBatchWith(), no header");
    Features& features = subject.info.features;
    features.topology = mode.topology;
    // It may refuse a message although there is room, and accept one more for each producer.
    features.bound = "approximate, depth 131072";
    features.order = "all producers";
    features.inPlace = true;
    features.backPressure = mode.admission;
    features.statistics = mode.statistics;
    features.typeErasure = way == Way::table;
    subject.room = mcccRoom;
    return subject;
}

inline void addAbsentMccc(BusSubjects& subjects, const McccMode& mode) {
    for (const Way way : {Way::table, Way::visitor}) {
        BusSubject subject = describedMccc(mode, way);
        subject.info.absentBecause = notCompiledIn("SLUICE_PEER_MCCC_INCLUDE");
        subjects.push_back(std::move(subject));
    }
}

#if defined(SLUICE_PEER_MCCC)

template <int Performance, Stamp Stamping, Way Consuming, std::size_t Family>
struct ThroughMccc {
    template <Sending Kinds>
    using Bus = McccBus<Performance, Stamping, Consuming, Kinds, 64, Family>;
};

template <int Performance, Stamp Stamping, Way Consuming, std::size_t Family>
void addMcccWay(BusSubjects& subjects, const McccMode& mode) {
    static_assert(McccAsyncBus<64, Family>::MEDIUM_PRIORITY_THRESHOLD == mcccRoom,
                  "not the documented depth");
    using With = ThroughMccc<Performance, Stamping, Consuming, Family>;
    addBothPacings(subjects, describedMccc(mode, Consuming),
                   busRuns<With::template Bus, BatchPacing>(),
                   busRuns<With::template Bus, NoPacing>());
}

/// Adds a mode, consumed both ways. `Performance` is the number of MCCC's mode, `Family` that of
/// the messages: see mccc_bus.hpp.
template <int Performance, Stamp Stamping, std::size_t Family>
void addMcccMode(BusSubjects& subjects, const McccMode& mode) {
    addMcccWay<Performance, Stamping, Way::table, Family>(subjects, mode);
    addMcccWay<Performance, Stamping, Way::visitor, Family>(subjects, mode);
}

#endif

}  // namespace sluice::bench
