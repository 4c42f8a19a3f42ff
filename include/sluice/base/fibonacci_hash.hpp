#pragma once

#include <cstdint>

namespace sluice {

/// Spreads numbers with a regular pattern, such as addresses and counts. The upper bits are spread
/// best, so use them.
///
/// Origin: Fibonacci hashing, D. Knuth, The Art of Computer Programming 3, section 6.4: the factor
/// is 2^64 divided by the golden ratio.
[[nodiscard]] constexpr std::uint64_t fibonacciHash(std::uint64_t number) noexcept {
    return number * 0x9E3779B97F4A7C15u;
}
[[nodiscard]] inline std::uint64_t fibonacciHash(const void* address) noexcept {
    return fibonacciHash(std::uint64_t{reinterpret_cast<std::uintptr_t>(address)});
}

}  // namespace sluice
