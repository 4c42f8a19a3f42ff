#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace sluice::detail {

/// The smallest unsigned type that can hold the size of a container with N elements.
template <std::size_t N>
using SizeFor = std::conditional_t<
    (N <= std::numeric_limits<std::uint8_t>::max()), std::uint8_t,
    std::conditional_t<(N <= std::numeric_limits<std::uint16_t>::max()), std::uint16_t,
                       std::conditional_t<(N <= std::numeric_limits<std::uint32_t>::max()),
                                          std::uint32_t, std::size_t>>>;

}  // namespace sluice::detail
