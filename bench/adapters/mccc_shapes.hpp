#pragma once

/// \file
/// MCCC's bus in other shapes than the documented one; see BusShape. Its depth is a macro, so each
/// depth has a source of its own.

#include "adapters/add_bus.hpp"

#if defined(SLUICE_PEER_MCCC)
#include "adapters/mccc_bus.hpp"
#endif

namespace sluice::bench {

/// Each adds the shapes of its depth for the visitor in the mode with all features.
void addMcccShapes64(std::vector<BusShape>& paced, std::vector<BusShape>& unpaced);
void addMcccShapes4096(std::vector<BusShape>& paced, std::vector<BusShape>& unpaced);
void addMcccShapes131072(std::vector<BusShape>& paced, std::vector<BusShape>& unpaced);

#if defined(SLUICE_PEER_MCCC)
template <std::size_t Bytes, std::size_t Family>
void addMcccShape(std::vector<BusShape>& paced, std::vector<BusShape>& unpaced) {
    using AsyncBus = McccAsyncBus<Bytes, Family>;
    using Shaped = McccBus<static_cast<int>(AsyncBus::PerformanceMode::FULL_FEATURED),
                           Stamp::cached, Way::visitor, Sending::one, Bytes, Family>;
    const std::size_t room = AsyncBus::MEDIUM_PRIORITY_THRESHOLD;
    paced.push_back({Bytes, AsyncBus::MAX_QUEUE_DEPTH, room,
                     &throughputRound<Shaped, Message<Bytes>, BatchPacing>});
    unpaced.push_back({Bytes, AsyncBus::MAX_QUEUE_DEPTH, room,
                       &throughputRound<Shaped, Message<Bytes>, NoPacing>});
}
#endif

}  // namespace sluice::bench
