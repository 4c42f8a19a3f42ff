#pragma once

#include <sluice/base/counter.hpp>

#include <cstddef>
#include <cstdint>

namespace sluice {

namespace detail {
template <class Platform, class Entry, std::size_t Count>
class TimerSlots;
}  // namespace detail

/// A copyable handle that identifies a timer of an active object for cancel(). A handle may outlive
/// its timer; cancel() then returns false.
class Timer {
public:
    constexpr Timer() noexcept = default;
    /// Returns true if the handle is not empty, even if its timer has ended.
    [[nodiscard]] constexpr explicit operator bool() const noexcept { return generation_ != 0; }
    [[nodiscard]] friend constexpr bool operator==(const Timer& a, const Timer& b) noexcept {
        return a.generation_ == b.generation_ && a.slot_ == b.slot_;
    }
    [[nodiscard]] friend constexpr bool operator!=(const Timer& a, const Timer& b) noexcept {
        return !(a == b);
    }

private:
    template <class Platform, class Entry, std::size_t Count>
    friend class detail::TimerSlots;
    constexpr Timer(std::uint32_t slot, CounterWord generation) noexcept
        : generation_(generation), slot_(slot) {}

    CounterWord generation_ = 0;  ///< the timer's generation in its slot; 0 in an empty handle
    std::uint32_t slot_ = 0;      ///< the index of the timer's slot in TimerSlots
};

}  // namespace sluice
