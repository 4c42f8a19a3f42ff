#include "conformance/wait_strategy_suite.hpp"

#include <sluice/wait/event_fd_wait.hpp>
#include <sluice/wait/park.hpp>
#include <sluice/wait/portable_parkers.hpp>
#include <sluice/wait/spin_waits.hpp>
#include <sluice/wait/wait_set.hpp>

namespace sluice::test {
namespace {

struct PortablePlatform : StdPlatform {
    using Fence = PortableFence;
};

// Sleeps without trying anything else first, so that every wait takes the kernel's path.
template <class Platform, class Parker>
struct ParkAtOnce : BasicPark<Platform, Parker> {
    ParkAtOnce() : BasicPark<Platform, Parker>({0, 0}) {}
};

struct YieldAtOnce : SpinThenYield {
    YieldAtOnce() : SpinThenYield({0}) {}
};

// As a Park, in a set without a waiting thread.
template <class Platform>
struct InASet : private BasicWaitSet<Platform>, BasicWaitSet<Platform>::Member {
    using Member = typename BasicWaitSet<Platform>::Member;
    using Clock = typename Platform::Clock;
    using Member::wait;
    using Member::waitUntil;
    InASet() {
        this->add(*this, [] { return false; });
    }
    Member& waiting() { return *this; }
    bool isDrained() { return false; }
};
using Members = testing::Types<WaitSet::Member, InASet<StdPlatform>, InASet<PortablePlatform>>;
INSTANTIATE_TYPED_TEST_SUITE_P(Members, WaitStrategyTest, Members);
#if defined(__cpp_exceptions)
INSTANTIATE_TYPED_TEST_SUITE_P(Members, WaitStrategyExceptions, Members);
#endif

using Polling = testing::Types<BusySpin, SpinThenYield, YieldAtOnce>;
INSTANTIATE_TYPED_TEST_SUITE_P(Polling, WaitStrategyTest, Polling);
#if defined(__cpp_exceptions)
INSTANTIATE_TYPED_TEST_SUITE_P(Polling, WaitStrategyExceptions, Polling);
#endif

using CondVar = testing::Types<BasicPark<StdPlatform, detail::CondVarParker>,
                               ParkAtOnce<StdPlatform, detail::CondVarParker>,
                               ParkAtOnce<PortablePlatform, detail::CondVarParker>>;
INSTANTIATE_TYPED_TEST_SUITE_P(CondVar, WaitStrategyTest, CondVar);
#if defined(__cpp_exceptions)
INSTANTIATE_TYPED_TEST_SUITE_P(CondVar, WaitStrategyExceptions, CondVar);
#endif

#if defined(__linux__)
using Futex = testing::Types<BasicPark<StdPlatform, detail::FutexParker>,
                             ParkAtOnce<StdPlatform, detail::FutexParker>,
                             ParkAtOnce<PortablePlatform, detail::FutexParker>>;
INSTANTIATE_TYPED_TEST_SUITE_P(Futex, WaitStrategyTest, Futex);
#if defined(__cpp_exceptions)
INSTANTIATE_TYPED_TEST_SUITE_P(Futex, WaitStrategyExceptions, Futex);
#endif

// As a Park, and with the descriptor that it need not have.
template <class Platform>
struct WithDescriptor : BasicEventFdWait<Platform> {
    WithDescriptor() { EXPECT_GE(this->descriptor(), 0); }
};

using EventFd =
    testing::Types<EventFdWait, WithDescriptor<StdPlatform>, WithDescriptor<PortablePlatform>>;
INSTANTIATE_TYPED_TEST_SUITE_P(EventFd, WaitStrategyTest, EventFd);
#if defined(__cpp_exceptions)
INSTANTIATE_TYPED_TEST_SUITE_P(EventFd, WaitStrategyExceptions, EventFd);
#endif
#endif

}  // namespace
}  // namespace sluice::test
