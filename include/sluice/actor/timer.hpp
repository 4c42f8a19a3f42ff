#pragma once

#include <sluice/base/single_writer_counter.hpp>

#include <cstddef>
#include <cstdint>

namespace sluice {

namespace detail {
template <class Platform, class Entry, std::size_t Count>
class TimerSlots;
}  // namespace detail

/// Names a timer of an active object, for cancel(). It may be copied. It is still valid when the
/// timer has ended: cancel() then returns false. An empty one names no timer.
class Timer {
public:
    constexpr Timer() noexcept = default;
    /// Whether it names a timer, which may have ended.
    [[nodiscard]] constexpr explicit operator bool() const noexcept { return life_ != 0; }
    [[nodiscard]] friend constexpr bool operator==(const Timer& a, const Timer& b) noexcept {
        return a.life_ == b.life_ && a.place_ == b.place_;
    }
    [[nodiscard]] friend constexpr bool operator!=(const Timer& a, const Timer& b) noexcept {
        return !(a == b);
    }

private:
    template <class Platform, class Entry, std::size_t Count>
    friend class detail::TimerSlots;
    constexpr Timer(std::uint32_t place, CounterWord life) noexcept : life_(life), place_(place) {}

    CounterWord life_ = 0;     ///< which timer of its slot; 0 is none
    std::uint32_t place_ = 0;  ///< the slot
};

}  // namespace sluice
