#include "conformance/queue_suites.hpp"

namespace sluice::test {
namespace {

using Shapes = testing::Types<SpscRingShape, DynamicSpscRingShape>;

SLUICE_TEST_QUEUE_SUITES(Spsc, Shapes);

}  // namespace
}  // namespace sluice::test
