#pragma once

#include <sluice/base/asymmetric_fence.hpp>
#include <sluice/base/cell.hpp>
#include <sluice/base/pause.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <type_traits>

namespace [[gnu::visibility("default")]] sluice {

/// Names the parts of the machine that a concurrent algorithm may use: atomics, shared storage,
/// clock and scheduler.
///
/// Every concurrent template of Sluice takes a platform, as a parameter or as `Traits::Platform`,
/// and uses these parts only through it. So a test runs the shipped header itself, not a copy, on
/// another platform:
///
/// - a model checker supplies `Atomic` and `Cell` types that report each access, and a `pause` and
///   a `yield` that hand control to another simulated thread;
/// - a fault injector supplies a `yield` or an `Atomic` that stops a thread at a chosen point, or a
///   `Clock` that a test moves by hand;
/// - `Fence = PortableFence` runs an algorithm on the path of kernels without membarrier.
///
/// A replacement provides the same names. The easy way is to derive from StdPlatform and redeclare
/// some of them:
///
///     struct PortablePlatform : sluice::StdPlatform {
///         using Fence = sluice::PortableFence;
///     };
///
/// All members are static or types: a platform has no state and costs nothing.
struct StdPlatform {
    /// Whether there are several threads.
    static constexpr bool hasThreads = true;

    /// An address that no other living thread has. On Linux it is the same in all shared objects of
    /// a program, even if each shared object has its own copy of this function.
    static const void* thisThread() noexcept {
#if defined(__linux__)
        return __builtin_thread_pointer();
#else
        static thread_local char mark = 0;
        return &mark;
#endif
    }

    /// A number that no other thread has or had; at least 1. Shared libraries that hide their
    /// symbols count threads separately, so their numbers may be equal.
    static std::size_t threadNumber() noexcept {
        static std::atomic<std::size_t> last{0};
        static thread_local const std::size_t number =
            last.fetch_add(1, std::memory_order_relaxed) + 1;  // relaxed: orders nothing
        return number;
    }

    /// Whether the calling thread runs handlers. HandlerThread writes it.
    static bool& runsHandlers() noexcept {
        static thread_local bool runs = false;
        return runs;
    }

    /// A shared variable with std::atomic's interface; memory orders are always passed explicitly.
    template <class T>
    using Atomic = std::atomic<T>;

    /// The widest word that the machine exchanges without a lock: 64 bits, or 32 bits.
    using WideWord = std::conditional_t<std::atomic<std::uint64_t>::is_always_lock_free,
                                        std::uint64_t, std::uint32_t>;

    /// Storage of one object that threads hand over. An edge of the algorithm orders their
    /// accesses.
    template <class T>
    using Cell = sluice::Cell<T>;

    /// The clock of timed waits and time stamps; it must be steady.
    using Clock = std::chrono::steady_clock;

    /// The store-load fence that is cheap for the frequent side. See asymmetric_fence.hpp.
    using Fence = AsymmetricFence;

    /// One step of a short spin; the thread keeps its processor.
    static void pause() noexcept { cpuPause(); }

    /// One step of a longer wait; another ready thread may have the processor.
    static void yield() noexcept { std::this_thread::yield(); }
};

}  // namespace sluice
