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

using Shapes = testing::Types<MpscLanesShape>;

INSTANTIATE_TYPED_TEST_SUITE_P(Lanes, QueueOrder, Shapes, ShapeNames);
INSTANTIATE_TYPED_TEST_SUITE_P(Lanes, QueueLifetime, Shapes, ShapeNames);
INSTANTIATE_TYPED_TEST_SUITE_P(Lanes, QueueClose, Shapes, ShapeNames);
INSTANTIATE_TYPED_TEST_SUITE_P(Lanes, QueueThreads, Shapes, ShapeNames);
INSTANTIATE_TYPED_TEST_SUITE_P(Lanes, QueueProducers, Shapes, ShapeNames);
#if defined(__cpp_exceptions)
INSTANTIATE_TYPED_TEST_SUITE_P(Lanes, QueueExceptions, Shapes, ShapeNames);
#endif

}  // namespace
}  // namespace sluice::test
