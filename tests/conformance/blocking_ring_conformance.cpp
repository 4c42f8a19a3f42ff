#include "conformance/queue_suites.hpp"

namespace sluice::test {
namespace {

// The other rings wait in waiting_conformance.cpp.
using Shapes = testing::Types<BlockingShape<MpmcRingShape>>;

SLUICE_TEST_SHARED_QUEUE_SUITES(BlockingRing, Shapes);
INSTANTIATE_TYPED_TEST_SUITE_P(BlockingRing, QueueConsumers, Shapes, ShapeNames);

}  // namespace
}  // namespace sluice::test
