#include "conformance/queue_suites.hpp"

namespace sluice::test {
namespace {

using Shapes = testing::Types<BlockingShape<MpscLanesShape>, BlockingShape<MpmcLanesShape>>;

SLUICE_TEST_SHARED_QUEUE_SUITES(BlockingLanes, Shapes);
using ManyConsumers = testing::Types<BlockingShape<MpmcLanesShape>>;
INSTANTIATE_TYPED_TEST_SUITE_P(BlockingLanes, QueueConsumers, ManyConsumers, ShapeNames);

}  // namespace
}  // namespace sluice::test
