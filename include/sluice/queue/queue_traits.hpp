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

/// Enables a push of an argument of another type.
template <class U, class T>
using IfConverts =
    std::enable_if_t<std::is_convertible_v<U&&, T> &&
                         !std::is_same_v<std::remove_cv_t<std::remove_reference_t<U>>, T>,
                     int>;

/// The number of elements of [begin, end), which tryPushAll() visits once more.
template <class Iterator>
std::size_t elementsIn(Iterator begin, Iterator end) {
    using Category = typename std::iterator_traits<Iterator>::iterator_category;
    static_assert(std::is_base_of_v<std::forward_iterator_tag, Category>
#if defined(__cpp_lib_ranges)
                      || std::forward_iterator<Iterator>  // of a view that makes its elements
#endif
                  ,
                  "tryPushAll() needs forward iterators, because it counts the elements first");
    return static_cast<std::size_t>(std::distance(begin, end));
}

}  // namespace detail

/// The settings of all queues. Derive from them, and redeclare the members that change.
struct QueueTraits {
    /// Atomics, storage, fences and clock. See platform.hpp.
    using Platform = StdPlatform;

    /// The unsigned type of the positions. 64 bits never wrap in practice; 32 bits are used if a
    /// 64-bit atomic would need a lock. With n bits, a lap is 2^(n-1) messages. Rings support the
    /// wrap, but not a thread that is preempted for a lap: in an MpscRing in the middle of a push,
    /// while about a lap passes (plus or minus the capacity); in an MpmcRing between its load and
    /// its compare-exchange, while exactly a lap passes. It would then overwrite a message. So 8
    /// and 16 bits are for tests of the wrap only.
    using Index = StdPlatform::WideWord;

    /// The first position; even. Tests start just below the wrap.
    static constexpr std::uint64_t firstPosition = 0;

    /// The distance in bytes between the data that different threads write.
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
