#include "conformance/close_suite.hpp"
#include "conformance/concurrent_suite.hpp"
#include "conformance/consumers_suite.hpp"
#include "conformance/exception_suite.hpp"
#include "conformance/lifetime_suite.hpp"
#include "conformance/order_suite.hpp"
#include "conformance/producers_suite.hpp"
#include "support/queue_shapes.hpp"

#include <gtest/gtest.h>

namespace sluice::test {
namespace {

using Shapes = testing::Types<BlockingShape<SpscRingShape>, BlockingShape<MpscRingShape>,
                              BlockingShape<MpmcRingShape>>;
using SharedShapes = testing::Types<BlockingShape<MpscRingShape>, BlockingShape<MpmcRingShape>>;
using ConsumersShapes = testing::Types<BlockingShape<MpmcRingShape>>;

INSTANTIATE_TYPED_TEST_SUITE_P(BlockingRing, QueueOrder, Shapes, ShapeNames);
INSTANTIATE_TYPED_TEST_SUITE_P(BlockingRing, QueueLifetime, Shapes, ShapeNames);
INSTANTIATE_TYPED_TEST_SUITE_P(BlockingRing, QueueClose, Shapes, ShapeNames);
INSTANTIATE_TYPED_TEST_SUITE_P(BlockingRing, QueueThreads, Shapes, ShapeNames);
INSTANTIATE_TYPED_TEST_SUITE_P(BlockingRing, QueueProducers, SharedShapes, ShapeNames);
INSTANTIATE_TYPED_TEST_SUITE_P(BlockingRing, QueueConsumers, ConsumersShapes, ShapeNames);
#if defined(__cpp_exceptions)
INSTANTIATE_TYPED_TEST_SUITE_P(BlockingRing, QueueExceptions, Shapes, ShapeNames);
#endif

}  // namespace
}  // namespace sluice::test
