#pragma once

#include <sluice/base/cache_line.hpp>
#include <sluice/base/platform.hpp>
#include <sluice/base/ring_storage.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace sluice {

/// Used as `max` of a consume call and as limit of a queue.
inline constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();

namespace detail {

/// Enables a push of an argument of another type, which is converted in the slot: a refused push
/// leaves it untouched.
template <class U, class T>
using IfConverts =
    std::enable_if_t<std::is_convertible_v<U&&, T> &&
                         !std::is_same_v<std::remove_cv_t<std::remove_reference_t<U>>, T>,
                     int>;

}  // namespace detail

/// The settings of all queues. Derive from them, and redeclare the members that change.
struct QueueTraits {
    /// Atomics, storage, fences and clock. See platform.hpp.
    using Platform = StdPlatform;

    /// The unsigned type of the positions. 64 bits never wrap in practice. 32 bits are used if a
    /// 64-bit atomic would need a lock. They wrap after 2^31 messages. Rings support the wrap, but
    /// not a thread that is preempted for a whole lap:
    ///
    /// - In an MpscRing a producer would be preempted in the middle of a push while about 2^31
    ///   messages pass (plus or minus the capacity). It would then overwrite a message.
    /// - In an MpmcRing a thread would be preempted between its load and its compare-exchange while
    ///   exactly 2^31 messages pass.
    using Index = std::conditional_t<std::atomic<std::uint64_t>::is_always_lock_free, std::uint64_t,
                                     std::uint32_t>;

    /// The first position; even. Tests start just below the wrap.
    static constexpr std::uint64_t firstPosition = 0;

    /// The distance in bytes between the data that different threads write.
    static constexpr std::size_t cacheLineSize = sluice::cacheLineSize;
};

}  // namespace sluice
