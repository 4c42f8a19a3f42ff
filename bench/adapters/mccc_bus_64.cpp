#define MCCC_QUEUE_DEPTH 64U

#include "adapters/mccc_shapes.hpp"

namespace sluice::bench {

void addMcccShapes64([[maybe_unused]] std::vector<BusShape>& paced,
                     [[maybe_unused]] std::vector<BusShape>& unpaced) {
#if defined(SLUICE_PEER_MCCC)
    addMcccShape<64, 64>(paced, unpaced);
#endif
}

}  // namespace sluice::bench
