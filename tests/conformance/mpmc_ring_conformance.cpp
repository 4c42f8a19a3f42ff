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

using Shapes = testing::Types<MpmcRingShape, DynamicMpmcRingShape>;

INSTANTIATE_TYPED_TEST_SUITE_P(Mpmc, QueueOrder, Shapes, ShapeNames);
INSTANTIATE_TYPED_TEST_SUITE_P(Mpmc, QueueLifetime, Shapes, ShapeNames);
INSTANTIATE_TYPED_TEST_SUITE_P(Mpmc, QueueClose, Shapes, ShapeNames);
INSTANTIATE_TYPED_TEST_SUITE_P(Mpmc, QueueThreads, Shapes, ShapeNames);
INSTANTIATE_TYPED_TEST_SUITE_P(Mpmc, QueueProducers, Shapes, ShapeNames);
INSTANTIATE_TYPED_TEST_SUITE_P(Mpmc, QueueConsumers, Shapes, ShapeNames);
#if defined(__cpp_exceptions)
INSTANTIATE_TYPED_TEST_SUITE_P(Mpmc, QueueExceptions, Shapes, ShapeNames);
#endif

}  // namespace
}  // namespace sluice::test
