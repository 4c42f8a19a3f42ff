#pragma once

#include <sluice/base/assert.hpp>
#include <sluice/event/detail/list/read_side.hpp>
#include <sluice/wait/park.hpp>

#include <thread>
#include <type_traits>

namespace sluice::detail {

/// The wait strategy with SingleThreading. No other thread can change the queue during a wait, so a
/// timed wait sleeps until its deadline.
class SingleThreadWait {
public:
    using Clock = StdPlatform::Clock;

    template <class Ready>
    void wait(Ready ready) {
        if (!ready()) {
            failAssertion({"",
                           "this wait on an EventQueue with SingleThreading never ends: nobody "
                           "else can add or process events. Use MultipleThreading, or waitFor()",
                           __FILE__, __LINE__});
        }
    }
    template <class Ready>
    bool waitUntil(Ready ready, Clock::time_point deadline) {
        if (!ready()) {
            std::this_thread::sleep_until(deadline);
        }
        return ready();
    }
    void notifyAll() noexcept {}
    void notifyOne() noexcept {}
};

template <class T>
using WaitMember = typename T::Wait;

/// The wait strategy of a queue's threads.
template <class Threading>
using EventWaiters =
    std::conditional_t<isSingleThreading<Threading>, SingleThreadWait,
                       typename PolicyOr<BasicPark<typename ReadSideOf<Threading>::Platform>,
                                         WaitMember, Threading>::Type>;

}  // namespace sluice::detail
