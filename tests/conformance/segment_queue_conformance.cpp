#include "conformance/queue_suites.hpp"

namespace sluice::test {
namespace {

using Shapes = testing::Types<SegmentQueueShape>;

SLUICE_TEST_SHARED_QUEUE_SUITES(Segments, Shapes);

}  // namespace
}  // namespace sluice::test
