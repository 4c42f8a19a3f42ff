#pragma once

#include <sluice/base/assert.hpp>
#include <sluice/event/detail/read_side.hpp>
#include <sluice/wait/park.hpp>

#include <thread>
#include <type_traits>

namespace sluice::detail {

/// Who waits for something to happen to a queue.
template <class Platform>
class SharedEventWaiters {
public:
    using Clock = typename Platform::Clock;

    template <class Ready>
    void wait(Ready ready) {
        park_.wait(ready);
    }
    template <class Ready>
    bool waitUntil(Ready ready, typename Clock::time_point deadline) {
        return park_.waitUntil(ready, deadline);
    }
    void notify() noexcept { park_.notifyAll(); }

private:
    BasicPark<Platform> park_;
};

/// With one thread there is nobody to wait for: time may pass, but nothing else will happen.
class SingleEventWaiters {
public:
    using Clock = StdPlatform::Clock;

    template <class Ready>
    void wait(Ready ready) {
        if (!ready()) {
            failAssertion({"",
                           "waiting for an event with SingleThreading never ends: nobody else "
                           "can add one. Use MultipleThreading, or waitFor()",
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
    void notify() noexcept {}
};

template <class Threading>
auto selectEventWaiters() {
    if constexpr (isSingleThreading<Threading>) {
        return static_cast<SingleEventWaiters*>(nullptr);
    } else {
        return static_cast<SharedEventWaiters<typename ReadSide<Threading>::Platform>*>(nullptr);
    }
}

template <class Threading>
using EventWaiters = std::remove_pointer_t<decltype(selectEventWaiters<Threading>())>;

}  // namespace sluice::detail
