#include "conformance/waiting_exception_suite.hpp"
#include "conformance/waiting_suite.hpp"
#include "support/observed_wait.hpp"
#include "support/queue_shapes.hpp"

#include <sluice/queue/blocking_queue.hpp>
#include <sluice/wait/park.hpp>
#include <sluice/wait/portable_parkers.hpp>
#include <sluice/wait/spin_waits.hpp>

#include "support/testing.hpp"

namespace sluice::test {
namespace {

template <class Inner, class Wait, class Pacing = BatchPacing>
struct WaitingShape : BlockingShape<Inner> {
    using ObservedWait = test::ObservedWait<Wait>;
    template <class T, std::size_t Capacity, class Traits>
    using Queue =
        BlockingQueue<typename Inner::template Queue<T, Capacity, Traits>, ObservedWait, Pacing>;
    static constexpr bool sleeps = std::is_same_v<Wait, Park>;
};

// Every queue with the default, and every wait strategy with one queue.
using Shapes =
    testing::Types<WaitingShape<SpscRingShape, Park>, WaitingShape<MpscRingShape, Park>,
                   WaitingShape<MpmcRingShape, Park>, WaitingShape<MpscLanesShape, Park>,
                   WaitingShape<MpmcLanesShape, Park>, WaitingShape<SegmentQueueShape, Park>,
                   WaitingShape<MpscRingShape, BasicPark<StdPlatform, detail::CondVarParker>>,
                   WaitingShape<MpscRingShape, SpinThenYield>,
                   WaitingShape<MpscRingShape, BusySpin>,
                   WaitingShape<MpscRingShape, Park, NoPacing>>;

struct WaitNames {
    template <class Shape>
    static std::string GetName(int number) {
        return std::string(Shape::name) + "_" + std::to_string(number);
    }
};

INSTANTIATE_TYPED_TEST_SUITE_P(Blocking, QueueWaiting, Shapes, WaitNames);
#if defined(__cpp_exceptions)
INSTANTIATE_TYPED_TEST_SUITE_P(Blocking, QueueWaitingExceptions, Shapes, WaitNames);
#endif

}  // namespace
}  // namespace sluice::test
