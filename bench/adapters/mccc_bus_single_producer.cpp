/// \file
/// MCCC's bus as it is built for programs with one publisher: MCCC_SINGLE_PRODUCER, which is a
/// macro, so it has a source and a family of messages of its own.

#define MCCC_SINGLE_PRODUCER 1

#include "adapters/bus_subjects.hpp"
#include "adapters/mccc_modes.hpp"

namespace sluice::bench {

void addMcccSingleProducer(BusSubjects& subjects) {
    constexpr McccMode full{
        "full-one-publisher",
        "MCCC_SINGLE_PRODUCER, FULL_FEATURED, PublishFast() with a time stamp 64 "
        "messages old",
        true, true, "spsc"};
    constexpr McccMode bare{"bare-one-publisher",
                            "MCCC_SINGLE_PRODUCER, BARE_METAL, PublishFast() without a time stamp",
                            false, false, "spsc"};
#if defined(SLUICE_PEER_MCCC)
    constexpr std::size_t family = 1;
    using PerformanceMode = McccAsyncBus<64, family>::PerformanceMode;
    addMcccMode<static_cast<int>(PerformanceMode::FULL_FEATURED), Stamp::cached, family>(subjects,
                                                                                         full);
    addMcccMode<static_cast<int>(PerformanceMode::BARE_METAL), Stamp::none, family>(subjects, bare);
#else
    addAbsentMccc(subjects, full);
    addAbsentMccc(subjects, bare);
#endif
}

}  // namespace sluice::bench
