#include "conformance/queue_suites.hpp"

namespace sluice::test {
namespace {

using Shapes = testing::Types<BlockingShape<MpscLanesShape>>;

SLUICE_TEST_SHARED_QUEUE_SUITES(BlockingLanes, Shapes);

}  // namespace
}  // namespace sluice::test
