#pragma once

#include <atomic>
#include <cstdint>

namespace sluice::detail {

/// Increments the count if it is below the limit. A refused call does not change the count even for
/// a moment, so it takes no room from another thread.
///
/// Relaxed: no other data depends on the count.
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

}  // namespace sluice::detail
