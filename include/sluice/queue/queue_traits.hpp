#pragma once

#include <sluice/base/cache_line.hpp>
#include <sluice/base/platform.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace sluice {

/// As Capacity of a ring: the capacity is an argument of the constructor.
inline constexpr std::size_t dynamicCapacity = std::numeric_limits<std::size_t>::max();

/// As `max` of a consume call and as limit of a queue.
inline constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();

/// The settings of all queues. Derive and redeclare those that change; different traits are
/// different types.
struct QueueTraits {
    /// Atomics, storage, fences and clock. See platform.hpp.
    using Platform = StdPlatform;

    /// Unsigned type of the positions. 64 bits never wrap in practice. 32 bits, the choice where a
    /// 64-bit atomic would need a lock, wrap after 2^31 messages: rings stand the wrap itself, but
    /// a producer of an MpscRing that stays preempted in the middle of a push while about that many
    /// messages pass (give or take the capacity) would mistake the new lap for the old one, and
    /// overwrite a message. In an MpmcRing a thread would have to be preempted between its look and
    /// its compare-exchange while exactly that many messages pass.
    using Index = std::conditional_t<std::atomic<std::uint64_t>::is_always_lock_free, std::uint64_t,
                                     std::uint32_t>;

    /// Where the positions begin; even. Tests start just below the wrap.
    static constexpr std::uint64_t firstPosition = 0;

    /// Distance between the data that different threads write.
    static constexpr std::size_t cacheLineSize = sluice::cacheLineSize;
};

}  // namespace sluice
