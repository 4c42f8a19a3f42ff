#pragma once

/// \file
/// The interface of concurrent algorithms to the machine: cache lines, atomics, clock, fences.
///
/// SLUICE_HAS_THREADS is 0 if libstdc++ was built without threads, as for microcontrollers.
/// SLUICE_HAS_POSIX is 1 on Unix, Linux and macOS; macOS does not define `__unix__`.
/// SLUICE_THREAD_LOCAL is empty without threads, unless the program defines the macro.

#include <sluice/base/assert.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <new>
#include <thread>
#include <type_traits>
#include <utility>

#if defined(__linux__)
#include <cerrno>
#include <sys/syscall.h>
#include <unistd.h>
#elif defined(_WIN32)
#include <sluice/base/detail/windows.hpp>
#endif
// Compiler extensions. MSVC ignores [[gnu::...]] attributes.
#if defined(_MSC_VER) && !defined(__clang__)
#include <intrin.h>
#define SLUICE_LIKELY(...) static_cast<bool>(__VA_ARGS__)
#define SLUICE_UNLIKELY(...) static_cast<bool>(__VA_ARGS__)
#define SLUICE_UNREACHABLE() __assume(false)
#define SLUICE_ALWAYS_INLINE [[msvc::forceinline]]
#define SLUICE_INLINE_LAMBDA
#define SLUICE_FUNCTION_TEXT __FUNCSIG__
#define SLUICE_LOWEST_BIT(word) static_cast<unsigned>(_tzcnt_u64(word))
#define SLUICE_PREFETCH(address, forWrite) _mm_prefetch(static_cast<const char*>(address), 1)
#else
#define SLUICE_LIKELY(...) __builtin_expect(static_cast<bool>(__VA_ARGS__), 1)
#define SLUICE_UNLIKELY(...) __builtin_expect(static_cast<bool>(__VA_ARGS__), 0)
#define SLUICE_UNREACHABLE() __builtin_unreachable()
#define SLUICE_ALWAYS_INLINE [[gnu::always_inline]]
#define SLUICE_INLINE_LAMBDA __attribute__((always_inline))
#define SLUICE_FUNCTION_TEXT __PRETTY_FUNCTION__
#define SLUICE_LOWEST_BIT(word) static_cast<unsigned>(__builtin_ctzll(word))
#define SLUICE_PREFETCH(address, forWrite) __builtin_prefetch(address, forWrite)
#endif

#if !defined(__GLIBCXX__) || defined(_GLIBCXX_HAS_GTHREADS)
#define SLUICE_HAS_THREADS 1
#else
#define SLUICE_HAS_THREADS 0
#endif

#if defined(__unix__) || defined(__APPLE__)
#define SLUICE_HAS_POSIX 1
#else
#define SLUICE_HAS_POSIX 0
#endif

#if !defined(SLUICE_THREAD_LOCAL)
#if SLUICE_HAS_THREADS || defined(_WIN32)
#define SLUICE_THREAD_LOCAL thread_local
#else
#define SLUICE_THREAD_LOCAL
#endif
#endif

// In a coroutine, clang before 19 may use a thread-local variable's address on another thread.
// Functions marked SLUICE_THREAD_ADDRESS are not optimized.
#if defined(__clang__) && __clang_major__ < 19 && defined(__cpp_impl_coroutine)
#define SLUICE_THREAD_ADDRESS [[clang::optnone]]
#else
#define SLUICE_THREAD_ADDRESS
#endif

#if defined(__SANITIZE_THREAD__)
#define SLUICE_FENCE_UNDER_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SLUICE_FENCE_UNDER_TSAN 1
#endif
#endif

namespace [[gnu::visibility("default")]] sluice {

/// Two variables never share a cache line if they are at least cacheLineSize bytes apart.
///
/// std::hardware_destructive_interference_size is not used, because in g++ it depends on -mtune and
/// may differ between translation units of a program.
#if defined(__APPLE__) && defined(__aarch64__)
inline constexpr std::size_t cacheLineSize = 128;
#elif defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M'
inline constexpr std::size_t cacheLineSize = 4;
#else
inline constexpr std::size_t cacheLineSize = 64;
#endif

/// Prefetches the cache line of `address` for writing.
inline void prefetchForWrite(const void* address) noexcept {
#if defined(__x86_64__)
    // __builtin_prefetch() would fetch a shared copy unless the compiler's target has `prefetchw`.
    // Every x86-64 processor accepts `prefetchw`; the oldest processors ignore the instruction.
    asm volatile("prefetchw (%0)" : : "r"(address));
#else
    SLUICE_PREFETCH(address, 1);
#endif
}

inline void prefetchForRead(const void* address) noexcept {
    SLUICE_PREFETCH(address, 0);
}

/// Pauses between two polls of a shared location: 40-140 cycles on x86, 10-50 on AArch64. The
/// compiler moves no memory access across the call, but the call orders nothing between threads.
/// AArch64 needs `isb`, because `yield` alone does nothing on cores without hardware threads.
inline void cpuPause() noexcept {
#if defined(_MSC_VER) && !defined(__clang__)
    _mm_pause();
#elif defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ __volatile__("yield\n\tisb" ::: "memory");
#elif defined(__arm__) && defined(__ARM_ARCH) && __ARM_ARCH >= 7
    __asm__ __volatile__("yield" ::: "memory");
#endif
    std::atomic_signal_fence(std::memory_order_seq_cst);
}

namespace detail {

template <class T, class... Args>
constexpr bool nothrowBuildable() noexcept {
    if constexpr (std::is_constructible_v<T, Args&&...>) {
        return std::is_nothrow_constructible_v<T, Args&&...>;
    } else {
        return noexcept(T{std::declval<Args>()...});
    }
}

/// Constructs a T in raw storage: T(args...), or T{args...} for an aggregate.
template <class T, class... Args>
T& buildAt(void* storage, Args&&... args) noexcept(nothrowBuildable<T, Args...>()) {
    if constexpr (std::is_constructible_v<T, Args&&...>) {
        return *::new (storage) T(std::forward<Args>(args)...);
    } else {
        return *::new (storage) T{std::forward<Args>(args)...};
    }
}

inline void compilerBarrier() noexcept {
    std::atomic_signal_fence(std::memory_order_seq_cst);
}

/// A sequentially consistent fence. ThreadSanitizer does not support std::atomic_thread_fence().
inline void fullFence() noexcept {
#if !defined(SLUICE_FENCE_UNDER_TSAN)
    std::atomic_thread_fence(std::memory_order_seq_cst);
#elif defined(__x86_64__) || defined(__i386__)
    // A locked instruction is a full fence. With a shared variable, ThreadSanitizer would see the
    // threads synchronize and miss data races.
    std::atomic<int> own{0};
    own.fetch_add(1, std::memory_order_seq_cst);
#else
    // On processors other than x86, the fence is a read-modify-write of a shared variable.
    static std::atomic<int> meetingPoint{0};
    meetingPoint.fetch_add(1, std::memory_order_seq_cst);
#endif
}

/// The system call that AsymmetricFence uses.
struct MembarrierKernel {
    // The numbers of two commands, which old kernel headers do not define.
    static constexpr int commandPrivateExpedited = 1 << 3;
    static constexpr int commandRegisterPrivateExpedited = 1 << 4;

    /// Returns true if the kernel carried out the command. errno is unchanged. Not inlined, so that
    /// its callers stay small enough for inlining.
    [[gnu::noinline]] static bool call([[maybe_unused]] int command) noexcept {
#if defined(__linux__) && defined(SYS_membarrier)
        const int savedErrno = errno;
        const bool done = ::syscall(SYS_membarrier, command, 0U, 0) == 0;
        errno = savedErrno;
        return done;
#else
        return false;
#endif
    }
};

}  // namespace detail

/// Raw, aligned storage for one T. A Cell does not record whether it holds a T.
///
/// Use Cell for slots of a ring or a pool, and std::optional if an extra byte is harmless.
///
/// A Cell is trivially constructible and destructible, so an array of static Cells lies in .bss. In
/// a class with a constexpr constructor, put Cells into a union with an initialised `char`.
template <class T>
class Cell {
    static_assert(std::is_object_v<T> && !std::is_array_v<T>, "Cell<T>: T must be a single object");
    static_assert(std::is_same_v<T, std::remove_cv_t<T>>, "Cell<T>: T must not be const/volatile");

public:
    Cell() = default;
    Cell(const Cell&) = delete;
    Cell& operator=(const Cell&) = delete;

    /// The Cell must be empty, and stays empty if the constructor throws.
    template <class... Args>
    T& construct(Args&&... args) noexcept(detail::nothrowBuildable<T, Args...>()) {
        return detail::buildAt<T>(storage_, std::forward<Args>(args)...);
    }

    /// The Cell must not be empty.
    T& get() noexcept { return *std::launder(reinterpret_cast<T*>(storage_)); }
    const T& get() const noexcept { return *std::launder(reinterpret_cast<const T*>(storage_)); }

    void destroy() noexcept {
        if constexpr (!std::is_trivially_destructible_v<T>) {
            get().~T();
        }
    }

    /// Destroys the T and writes to its cache lines, so that this processor owns the lines. The
    /// writes make another thread's next construct() faster: see docs/decisions/rings.md. If a T is
    /// larger than four cache lines, only its first line is written.
    void destroyAndOwnLines() noexcept {
        destroy();
        volatile unsigned char* const bytes = storage_;  // volatile keeps the stores
        constexpr std::size_t last = sizeof(T) <= 4 * lineSize ? sizeof(T) - lastPart : 0;
        for (std::size_t i = 0; i < last; i += lineSize) {
            bytes[i] = 0;
        }
        bytes[last] = 0;
    }

private:
    static constexpr std::size_t lineSize = 64;  // with larger lines, some stores are redundant
    // The last `lastPart` bytes of a T never cross a cache line boundary.
    static constexpr std::size_t lastPart = alignof(T) < lineSize ? alignof(T) : lineSize;

    alignas(T) unsigned char storage_[sizeof(T)];
};

/// Full fences, for systems without membarrier or for code that calls light() and heavy() rarely.
class PortableFence {
public:
    static void light() noexcept { detail::fullFence(); }
    static bool tryLight() noexcept { return light(), true; }
    static void heavy() noexcept { detail::fullFence(); }
    static bool isAsymmetric() noexcept { return false; }
};

/// Store-load fences: a cheap light() for frequent code and an expensive heavy() for rare code.
///
///     often:   x = 1; Fence::light(); r1 = y;
///     seldom:  y = 1; Fence::heavy(); r2 = x;         // never r1 == 0 && r2 == 0
///
/// Accesses to x and y must be atomic, but may be relaxed. If one thread calls light() and another
/// calls heavy(), the thread whose call is later sees all writes before the other call. Two heavy()
/// calls give the same guarantee as light() and heavy(); two light() calls give none.
/// ThreadSanitizer does not see light() and heavy(), so publish data with release and acquire.
///
/// With Linux's membarrier(2), light() is a compiler barrier and heavy() makes the kernel run a
/// full barrier on every processor that executes a thread of the process. Without membarrier,
/// light() and heavy() are full fences. The program chooses membarrier or full fences once, at its
/// start or in the first call of a fence.
///
/// Thread safety: any thread may call any member, including in static initialisers, signal handlers
/// and forked children.
///
/// Errors: heavy() ends the program if the kernel first accepts membarrier and later refuses it. A
/// seccomp sandbox must allow membarrier with flags 0, or be installed before the program first
/// uses the fence.
///
/// Performance: light() takes 0.3 ns; heavy() takes 0.4 us if no other thread of the process runs,
/// and 2-10 us otherwise. A full fence takes 5-20 ns on x86.
template <class Kernel = detail::MembarrierKernel>
class BasicAsymmetricFence {
public:
    SLUICE_ALWAYS_INLINE static void light() noexcept {
        // Relaxed: value only.
        if (SLUICE_LIKELY(shared_.choice.load(std::memory_order_relaxed) == Choice::membarrier)) {
            detail::compilerBarrier();
        } else {
            lightUnlessMembarrier();
        }
    }

    /// Like light(), but returns false instead of running a full fence, so that the inlined caller
    /// needs no stack frame.
    SLUICE_ALWAYS_INLINE static bool tryLight() noexcept {
        const Choice choice = shared_.choice.load(std::memory_order_relaxed);  // value only
        detail::compilerBarrier();
        return choice == Choice::membarrier;
    }

    [[gnu::noinline]] static void heavy() noexcept {
        if (!isAsymmetric()) {
            detail::fullFence();
            return;
        }
        detail::compilerBarrier();
        if (!Kernel::call(Kernel::commandPrivateExpedited)) {
            heavyAfterRefusal();
        }
        detail::compilerBarrier();
    }

    static bool isAsymmetric() noexcept { return decide() == Choice::membarrier; }

private:
    // Invariant: light() omits the full fence only if every heavy() calls the kernel. Before a
    // compare-exchange has set `choice`, light() runs the full fence.

    enum class Choice : unsigned char { undecided, membarrier, portable };

    /// Calls decide() before main() starts threads, because Linux takes about 15 ms to register a
    /// process with several threads. Without [[gnu::constructor]], the first fence call decides.
    [[gnu::constructor(200)]] static void decideAtStart() noexcept { (void)decide(); }

    [[gnu::noinline]] static void lightUnlessMembarrier() noexcept {
        (void)decide();  // makes later calls of light() cheap
        detail::fullFence();
    }

    static Choice decide() noexcept {
        if constexpr (std::is_same_v<Kernel, detail::MembarrierKernel>) {
            (void)&decideAtStart;  // instantiates decideAtStart()
        }
        Choice choice = shared_.choice.load(std::memory_order_relaxed);  // value only
        if (choice == Choice::undecided) {
            const Choice found = hasMembarrier() ? Choice::membarrier : Choice::portable;
            // If another thread chose first, the failed exchange reads that thread's choice.
            if (shared_.choice.compare_exchange_strong(choice, found, std::memory_order_relaxed)) {
                choice = found;
            }
        }
        return choice;
    }

    static bool hasMembarrier() noexcept {
        return Kernel::call(Kernel::commandRegisterPrivateExpedited) &&
               Kernel::call(Kernel::commandPrivateExpedited);
    }

    [[gnu::cold, gnu::noinline]] static void heavyAfterRefusal() noexcept {
        if (!hasMembarrier()) {
            failAssertion(
                {"membarrier",
                 "the kernel refuses membarrier after all: let the system call pass the "
                 "sandbox, install the sandbox before the first use, or use PortableFence",
                 __FILE__, __LINE__});
        }
    }

    // Each light() reads `choice`, so no other variable may share the cache line of `choice`. Two
    // cache lines are reserved, because processors prefetch lines in pairs.
    struct alignas(2 * cacheLineSize) Shared {
        std::atomic<Choice> choice{Choice::undecided};
    };

    // Usable before dynamic initialisation. A forked child inherits `choice`, and heavy() registers
    // the child for membarrier if necessary.
    inline static Shared shared_{};
};

#if defined(__linux__)
using AsymmetricFence = BasicAsymmetricFence<>;
#else
using AsymmetricFence = PortableFence;
#endif

/// The platform of the standard library: std::atomic, steady_clock and threads.
///
/// Every concurrent template of Sluice takes a platform, as a parameter or as `Traits::Platform`.
/// Tests replace the platform to run the shipped headers on a model checker, a fault injector, a
/// fake clock, or a kernel without membarrier:
///
///     struct PortablePlatform : sluice::StdPlatform {
///         using Fence = sluice::PortableFence;
///     };
struct StdPlatform {
    static constexpr bool hasThreads = true;

    /// An address that differs for each living thread. On Linux, macOS and Windows all shared
    /// libraries of a program see the same address for a thread.
    SLUICE_THREAD_ADDRESS static const void* thisThread() noexcept {
#if defined(__linux__)
        return __builtin_thread_pointer();
#elif defined(__APPLE__)
        return ::pthread_self();
#elif defined(_WIN32)
        return reinterpret_cast<const void*>(std::uintptr_t{::GetCurrentThreadId()});
#else
        static thread_local char mark = 0;
        return &mark;
#endif
    }

    /// The calling thread's number: at least 1, unique among all past and present threads.
    /// Libraries with hidden symbols count separately, so two libraries may use the same number.
    static std::size_t threadNumber() noexcept {
        static std::atomic<std::size_t> last{0};
        static thread_local const std::size_t number =
            last.fetch_add(1, std::memory_order_relaxed) + 1;  // value only
        return number;
    }

    /// True while the calling thread runs message handlers; set by HandlerThread.
    SLUICE_THREAD_ADDRESS static bool& runsHandlers() noexcept {
#if defined(_WIN32)
        // A program and its DLLs share one mark if the program exports it: see docs/platforms.md.
        static auto* const mark = detail::windows::find<bool*()>(nullptr, "sluiceHandlerMark");
        if (mark != nullptr) {
            return *mark();
        }
#endif
        static thread_local bool runs = false;
        return runs;
    }

    /// Every access must name a memory order.
    template <class T>
    using Atomic = std::atomic<T>;

    /// The widest word with lock-free atomic operations: 64 bits, or 32 bits.
    using WideWord = std::conditional_t<std::atomic<std::uint64_t>::is_always_lock_free,
                                        std::uint64_t, std::uint32_t>;

    template <class T>
    using Cell = sluice::Cell<T>;

    using Clock = std::chrono::steady_clock;

    using Fence = AsymmetricFence;

    static void pause() noexcept { cpuPause(); }

    static void yield() noexcept { std::this_thread::yield(); }
};

}  // namespace sluice

#undef SLUICE_FENCE_UNDER_TSAN
