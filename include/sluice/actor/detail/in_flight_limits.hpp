#pragma once

#include <sluice/base/on_exit.hpp>
#include <sluice/base/send_result.hpp>
#include <sluice/bus/bus_traits.hpp>
#include <sluice/bus/messages.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace sluice::detail {

/// Increments `count` unless `count` has reached the limit. A refused call changes no count, so it
/// cannot make another call fail. Relaxed: value only.
template <class Count>
[[nodiscard]] bool tryAdmit(Count& count, std::uint32_t limit) noexcept {
    std::uint32_t before = count.load(std::memory_order_relaxed);
    do {
        if (before >= limit) {
            return false;
        }
    } while (!count.compare_exchange_weak(before, before + 1, std::memory_order_relaxed,
                                          std::memory_order_relaxed));
    return true;
}

/// Counts the unhandled messages of each type that has a limit in Traits::maxInFlight.
template <class MessageList, class Traits>
class InFlightLimits;

template <class... Ts, class Traits>
class InFlightLimits<Messages<Ts...>, Traits> {
    template <class T>
    static constexpr std::uint32_t limit = Traits::template maxInFlight<T>;

public:
    static constexpr bool any = ((limit<Ts> != 0) || ...);

    /// Returns the result of publish(), or of refused() if the type's limit is reached. If the
    /// result is `ok`, call release() when the message has been handled or discarded.
    template <class T, class Publish, class Refused>
    SendResult acquire(const Publish& publish, [[maybe_unused]] const Refused& refused) {
        if constexpr (limit<T> == 0) {
            return publish();
        } else {
            static_assert(!Traits::expiry,
                          "a type with maxInFlight and expiry do not go together: an expired "
                          "message would never give back its place");
            if (!tryAdmit(countOf<T>(), limit<T>)) {
                return refused();
            }
            SendResult result = SendResult::full;  // stays `full` if the message constructor throws
            const OnExit releaseUnlessAccepted{[&] {
                if (result != SendResult::ok) {
                    release<T>();
                }
            }};
            return result = publish();
        }
    }
    template <class T>
    void release() noexcept {
        if constexpr (limit<T> != 0) {
            countOf<T>().fetch_sub(1, std::memory_order_relaxed);  // value only
        }
    }

private:
    using Count = typename Traits::Platform::template Atomic<std::uint32_t>;

    template <class T>
    Count& countOf() noexcept {
        std::size_t index = 0;
        (void)((std::is_same_v<T, Ts> || (index += limit<Ts> != 0 ? 1 : 0, false)) || ...);
        return counts_[index];
    }

    std::array<Count, (std::size_t{0} + ... + (limit<Ts> != 0 ? 1 : 0))> counts_{};
};

}  // namespace sluice::detail
