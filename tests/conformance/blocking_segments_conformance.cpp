#include "conformance/close_suite.hpp"
#include "conformance/concurrent_suite.hpp"
#include "conformance/exception_suite.hpp"
#include "conformance/lifetime_suite.hpp"
#include "conformance/order_suite.hpp"
#include "conformance/producers_suite.hpp"
#include "support/queue_shapes.hpp"

#include <gtest/gtest.h>

namespace sluice::test {
namespace {

using Shapes = testing::Types<BlockingShape<SegmentQueueShape>>;

INSTANTIATE_TYPED_TEST_SUITE_P(BlockingSegments, QueueOrder, Shapes, ShapeNames);
INSTANTIATE_TYPED_TEST_SUITE_P(BlockingSegments, QueueLifetime, Shapes, ShapeNames);
INSTANTIATE_TYPED_TEST_SUITE_P(BlockingSegments, QueueClose, Shapes, ShapeNames);
INSTANTIATE_TYPED_TEST_SUITE_P(BlockingSegments, QueueThreads, Shapes, ShapeNames);
INSTANTIATE_TYPED_TEST_SUITE_P(BlockingSegments, QueueProducers, Shapes, ShapeNames);
#if defined(__cpp_exceptions)
INSTANTIATE_TYPED_TEST_SUITE_P(BlockingSegments, QueueExceptions, Shapes, ShapeNames);
#endif

}  // namespace
}  // namespace sluice::test
