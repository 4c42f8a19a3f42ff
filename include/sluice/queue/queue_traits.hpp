#pragma once

#include <sluice/base/platform.hpp>
#include <sluice/base/ring_storage.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <type_traits>
#include <utility>

namespace sluice {

namespace detail {

/// Enables tryPush() for arguments of types other than T that convert to T.
template <class U, class T>
using IfConverts =
    std::enable_if_t<std::is_convertible_v<U&&, T> &&
                         !std::is_same_v<std::remove_cv_t<std::remove_reference_t<U>>, T>,
                     int>;

/// The number of elements of [begin, end), for tryPushAll().
template <class Iterator>
std::size_t elementsIn(Iterator begin, Iterator end) {
    using Category = typename std::iterator_traits<Iterator>::iterator_category;
    static_assert(std::is_base_of_v<std::forward_iterator_tag, Category>
#if defined(__cpp_lib_ranges)
                      || std::forward_iterator<Iterator>  // for views that compute their elements
#endif
                  ,
                  "tryPushAll() needs forward iterators, because it counts the elements first");
    return static_cast<std::size_t>(std::distance(begin, end));
}

}  // namespace detail

/// The default settings of all queues. Derive a type and redeclare members to change settings.
struct QueueTraits {
    using Platform = StdPlatform;

    /// The unsigned type of positions: 64 bits, or 32 bits if 64-bit atomics need a lock. A message
    /// takes two positions, so n-bit positions repeat after 2^(n-1) messages. A thread preempted
    /// mid-push for so many messages may overwrite one. Use 8 and 16 bits only to test this.
    using Index = StdPlatform::WideWord;

    /// The first ring position, an even number. Tests of the wrap-around set a high position.
    static constexpr std::uint64_t firstPosition = 0;

    /// The distance in bytes between data written by different threads.
    static constexpr std::size_t cacheLineSize = sluice::cacheLineSize;
};

/// True for rings that work in memory shared by processes. See docs/how-to/shared-memory.md.
template <class Queue>
inline constexpr bool isSharedMemoryReady = false;
template <template <class, std::size_t, class> class Ring, class T, std::size_t Capacity,
          class Traits>
inline constexpr bool isSharedMemoryReady<Ring<T, Capacity, Traits>> =
    Capacity != unlimited && std::is_trivially_copyable_v<T> &&
    std::is_same_v<typename Traits::Platform::Fence, PortableFence> &&
    std::atomic<typename Traits::Index>::is_always_lock_free;

}  // namespace sluice
