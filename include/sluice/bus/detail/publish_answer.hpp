#pragma once

#include <sluice/base/send_result.hpp>
#include <sluice/bus/bus_traits.hpp>
#include <sluice/bus/priority.hpp>
#include <sluice/wait/event_count.hpp>

#include <chrono>
#include <cstddef>
#include <type_traits>

namespace sluice::detail {

/// A number of messages as a type, so that the usual publication is compiled for one message.
using One = std::integral_constant<std::size_t, 1>;

/// The answer to a publisher.
struct PublishAnswer {
    SendResult result;
    std::size_t count;  ///< how many messages were accepted

    /// Whether there was no room.
    [[nodiscard]] constexpr bool isRefused() const noexcept { return result == SendResult::full; }
};

/// In place of a timeout: the overflow policy decides.
struct WaitByPolicy {};

/// Returns the time until which a publisher waits for room; time_point::min() if it does not wait.
template <class Traits, class Clock>
typename Clock::time_point waitLimit(WaitByPolicy, Priority priority) {
    const BusOverflow policy = Traits::overflow[static_cast<std::size_t>(priority)];
    return policy == BusOverflow::block      ? Clock::time_point::max()
           : policy == BusOverflow::blockFor ? deadlineAfter<Clock>(Traits::blockLimit)
                                             : Clock::time_point::min();
}
template <class Traits, class Clock, class Rep, class Period>
typename Clock::time_point waitLimit(std::chrono::duration<Rep, Period> atMost, Priority) {
    return atMost > atMost.zero() ? deadlineAfter<Clock>(atMost) : Clock::time_point::min();
}

}  // namespace sluice::detail
