#include "conformance/queue_suites.hpp"

namespace sluice::test {
namespace {

// Without the suite of exceptions, because a message that throws in its move does not compile; and
// without several producers, because the test's check for room is not atomic.
using Shapes = testing::Types<OverwriteRingShape<false>, OverwriteRingShape<true>>;

INSTANTIATE_TYPED_TEST_SUITE_P(Overwrite, QueueOrder, Shapes, ShapeNames);
INSTANTIATE_TYPED_TEST_SUITE_P(Overwrite, QueueLifetime, Shapes, ShapeNames);
INSTANTIATE_TYPED_TEST_SUITE_P(Overwrite, QueueClose, Shapes, ShapeNames);
INSTANTIATE_TYPED_TEST_SUITE_P(Overwrite, QueueThreads, Shapes, ShapeNames);

}  // namespace
}  // namespace sluice::test
