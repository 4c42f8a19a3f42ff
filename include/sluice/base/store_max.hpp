#pragma once

#include <atomic>

namespace sluice {

/// Raises `maximum` to `value` if `maximum` is lower. For statistics of several writers: it is
/// relaxed, so it orders nothing. Lock-free; only a load if there is nothing to raise.
template <class Atomic, class T>
void storeMax(Atomic& maximum, T value) noexcept {
    T seen = maximum.load(std::memory_order_relaxed);
    while (seen < value && !maximum.compare_exchange_weak(seen, value, std::memory_order_relaxed,
                                                          std::memory_order_relaxed)) {
    }
}

}  // namespace sluice
