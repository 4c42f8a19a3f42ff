#include "conformance/queue_suites.hpp"

namespace sluice::test {
namespace {

using Shapes = testing::Types<MpscLanesShape, MpmcLanesShape>;

SLUICE_TEST_SHARED_QUEUE_SUITES(Lanes, Shapes);
INSTANTIATE_TYPED_TEST_SUITE_P(Lanes, QueueConsumers, testing::Types<MpmcLanesShape>, ShapeNames);

}  // namespace
}  // namespace sluice::test
