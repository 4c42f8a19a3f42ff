#pragma once

/// \file
/// The parts of the machine that a concurrent algorithm may use: atomics, shared storage, clock,
/// fence and scheduler.
///
/// SLUICE_HAS_THREADS is 0 if libstdc++ was built without threads, as for microcontrollers. Then
/// SLUICE_THREAD_LOCAL is empty, unless the program defines it as `thread_local` in all units.

#include <sluice/base/asymmetric_fence.hpp>
#include <sluice/base/cell.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <type_traits>

#if !defined(__GLIBCXX__) || defined(_GLIBCXX_HAS_GTHREADS)
#define SLUICE_HAS_THREADS 1
#else
#define SLUICE_HAS_THREADS 0
#endif

#if !defined(SLUICE_THREAD_LOCAL)
#if SLUICE_HAS_THREADS || defined(_WIN32)
#define SLUICE_THREAD_LOCAL thread_local
#else
#define SLUICE_THREAD_LOCAL
#endif
#endif

namespace [[gnu::visibility("default")]] sluice {

/// Pauses for a moment between two polls of a shared location. It never blocks and orders nothing
/// between threads, but the compiler moves no memory access across it.
///
/// 40-140 cycles on x86, 10-50 on AArch64, nothing elsewhere. AArch64 executes `isb`, because its
/// `yield` does nothing on cores without hardware threads.
inline void cpuPause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ __volatile__("yield\n\tisb" ::: "memory");
#elif defined(__arm__) && defined(__ARM_ARCH) && __ARM_ARCH >= 7
    __asm__ __volatile__("yield" ::: "memory");
#endif
    std::atomic_signal_fence(std::memory_order_seq_cst);
}

/// The machine as the standard library gives it.
///
/// Every concurrent template of Sluice takes a platform, as a parameter or as `Traits::Platform`,
/// and uses these parts only through it. So a test runs the shipped header on another platform: a
/// model checker, a fault injector, a clock that the test moves, or a kernel without membarrier:
///
///     struct PortablePlatform : sluice::StdPlatform {
///         using Fence = sluice::PortableFence;
///     };
struct StdPlatform {
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

    /// Storage of one object that threads hand over.
    template <class T>
    using Cell = sluice::Cell<T>;

    /// The clock of timed waits and time stamps; steady.
    using Clock = std::chrono::steady_clock;

    /// The store-load fence that is cheap for the frequent side.
    using Fence = AsymmetricFence;

    /// One step of a short spin; the thread keeps its processor.
    static void pause() noexcept { cpuPause(); }

    /// One step of a longer wait; another ready thread may have the processor.
    static void yield() noexcept { std::this_thread::yield(); }
};

}  // namespace sluice
