#include "conformance/queue_suites.hpp"

namespace sluice::test {
namespace {

using Shapes = testing::Types<MpscRingShape, DynamicMpscRingShape>;

SLUICE_TEST_SHARED_QUEUE_SUITES(Mpsc, Shapes);

}  // namespace
}  // namespace sluice::test
