#define MCCC_QUEUE_DEPTH 4096U

#include "adapters/mccc_shapes.hpp"

namespace sluice::bench {

void addMcccShapes4096([[maybe_unused]] std::vector<BusShape>& paced,
                       [[maybe_unused]] std::vector<BusShape>& unpaced) {
#if defined(SLUICE_PEER_MCCC)
    addMcccShape<8, 4096>(paced, unpaced);
    addMcccShape<512, 4096>(paced, unpaced);
    addMcccShape<4096, 4096>(paced, unpaced);
#endif
}

}  // namespace sluice::bench
