#include "conformance/interleaving_suite.hpp"
#include "support/queue_shapes.hpp"

#include <gtest/gtest.h>

namespace sluice::test {
namespace {

using Shapes = testing::Types<SpscRingShape, DynamicSpscRingShape, MpscRingShape,
                              DynamicMpscRingShape, MpmcRingShape, DynamicMpmcRingShape,
                              MpscLanesShape, MpmcLanesShape, SegmentQueueShape>;

INSTANTIATE_TYPED_TEST_SUITE_P(Queues, QueueInterleaving, Shapes, ShapeNames);

}  // namespace
}  // namespace sluice::test
