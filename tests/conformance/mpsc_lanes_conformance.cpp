#include "conformance/queue_suites.hpp"

namespace sluice::test {
namespace {

using Shapes = testing::Types<MpscLanesShape>;

SLUICE_TEST_SHARED_QUEUE_SUITES(Lanes, Shapes);

}  // namespace
}  // namespace sluice::test
