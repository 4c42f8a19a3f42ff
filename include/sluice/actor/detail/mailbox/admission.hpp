#pragma once

#include <atomic>
#include <cstdint>

namespace sluice::detail {

/// Counts one more, if the limit allows it. A refusal changes nothing, so it takes no room from
/// another thread.
///
/// Relaxed: no data follows a count.
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
