#include "conformance/close_suite.hpp"
#include "conformance/concurrent_suite.hpp"
#include "conformance/exception_suite.hpp"
#include "conformance/lifetime_suite.hpp"
#include "conformance/order_suite.hpp"
#include "support/queue_shapes.hpp"

#include <gtest/gtest.h>

namespace sluice::test {
namespace {

using Shapes = testing::Types<SpscRingShape, DynamicSpscRingShape>;

INSTANTIATE_TYPED_TEST_SUITE_P(Spsc, QueueOrder, Shapes, ShapeNames);
INSTANTIATE_TYPED_TEST_SUITE_P(Spsc, QueueLifetime, Shapes, ShapeNames);
INSTANTIATE_TYPED_TEST_SUITE_P(Spsc, QueueClose, Shapes, ShapeNames);
INSTANTIATE_TYPED_TEST_SUITE_P(Spsc, QueueThreads, Shapes, ShapeNames);
#if defined(__cpp_exceptions)
INSTANTIATE_TYPED_TEST_SUITE_P(Spsc, QueueExceptions, Shapes, ShapeNames);
#endif

}  // namespace
}  // namespace sluice::test
