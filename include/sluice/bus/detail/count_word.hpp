#pragma once

#include <atomic>
#include <cstdint>
#include <type_traits>

namespace sluice::detail {

/// Counts things one by one, on several threads: 64 bits, or 32 where 64 would need a lock. These
/// come round after 4 billion.
using CountWord = std::conditional_t<std::atomic<std::uint64_t>::is_always_lock_free, std::uint64_t,
                                     std::uint32_t>;

}  // namespace sluice::detail
