#include "conformance/queue_suites.hpp"

namespace sluice::test {
namespace {

using Shapes = testing::Types<MpmcRingShape, DynamicMpmcRingShape>;

SLUICE_TEST_SHARED_QUEUE_SUITES(Mpmc, Shapes);
INSTANTIATE_TYPED_TEST_SUITE_P(Mpmc, QueueConsumers, Shapes, ShapeNames);

}  // namespace
}  // namespace sluice::test
