#include "conformance/queue_suites.hpp"

namespace sluice::test {
namespace {

using Shapes = testing::Types<BlockingShape<SegmentQueueShape>>;

SLUICE_TEST_SHARED_QUEUE_SUITES(BlockingSegments, Shapes);

}  // namespace
}  // namespace sluice::test
