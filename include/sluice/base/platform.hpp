#pragma once

/// \file
/// The parts of the machine that a concurrent algorithm may use: cache lines, atomics, shared
/// storage, clock, fence and scheduler.
///
/// SLUICE_HAS_THREADS is 0 if libstdc++ was built without threads, as for microcontrollers. Then
/// SLUICE_THREAD_LOCAL is empty, unless the program defines it as `thread_local` in all units.

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
#endif

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

// clang before 19 moves the computation of a thread-local variable's address out of a coroutine's
// loop, and uses the address on other threads. So functions that return one are opaque calls.
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

/// The distance in bytes at which two variables do not share a cache line: 128 on Apple silicon, 4
/// on Arm's M profile (single-core parts without shared lines), 64 everywhere else.
///
/// std::hardware_destructive_interference_size is not used, because with g++ it follows -mtune, so
/// two translation units of one program may disagree about it.
#if defined(__APPLE__) && defined(__aarch64__)
inline constexpr std::size_t cacheLineSize = 128;
#elif defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M'
inline constexpr std::size_t cacheLineSize = 4;
#else
inline constexpr std::size_t cacheLineSize = 64;
#endif

/// Requests the cache line of `address` with the right to write it. A hint that never faults, so
/// any address is allowed.
inline void prefetchForWrite(const void* address) noexcept {
#if defined(__x86_64__)
    // The builtin would request a shared copy unless the target is known to have this instruction.
    // All x86-64 processors execute it, the oldest as a no-operation.
    asm volatile("prefetchw (%0)" : : "r"(address));
#else
    __builtin_prefetch(address, 1);
#endif
}

/// Requests the cache line of `address` for a load. A hint that never faults.
inline void prefetchForRead(const void* address) noexcept {
    __builtin_prefetch(address, 0);
}

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

namespace detail {

/// Returns true if buildAt<T>(storage, args...) cannot throw.
template <class T, class... Args>
constexpr bool nothrowBuildable() noexcept {
    if constexpr (std::is_constructible_v<T, Args&&...>) {
        return std::is_nothrow_constructible_v<T, Args&&...>;
    } else {
        return noexcept(T{std::declval<Args>()...});
    }
}

/// Builds a T in raw storage: T(args...), or T{args...} for an aggregate without such a
/// constructor, which messages often are.
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

/// A sequentially consistent fence that also compiles under ThreadSanitizer, which knows no fences.
inline void fullFence() noexcept {
#if !defined(SLUICE_FENCE_UNDER_TSAN)
    std::atomic_thread_fence(std::memory_order_seq_cst);
#elif defined(__x86_64__) || defined(__i386__)
    // A locked instruction drains the store buffer whatever its address. A local variable creates
    // no happens-before edge, so it hides no data race from the sanitizer.
    std::atomic<int> own{0};
    own.fetch_add(1, std::memory_order_seq_cst);
#else
    // On other processors a read-modify-write orders other addresses only between threads that
    // change the same variable: the earlier change releases, and the later change acquires.
    static std::atomic<int> meetingPoint{0};
    meetingPoint.fetch_add(1, std::memory_order_seq_cst);
#endif
}

/// The system call behind AsymmetricFence; tests replace it by scripted kernels.
struct MembarrierKernel {
    // These values belong to the kernel's ABI. Old kernel headers do not define them.
    static constexpr int commandPrivateExpedited = 1 << 3;
    static constexpr int commandRegisterPrivateExpedited = 1 << 4;

    /// Returns true if the kernel carried out the command. Keeps errno. Not inlined, so that its
    /// callers can be.
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

/// Raw, aligned storage for one T. The owner knows whether a T lives in it; the Cell does not.
///
/// Use it for the slots of a ring or a pool. Use std::optional unless its state byte matters.
///
/// A Cell is trivially constructible and destructible, so an array of static Cells lies in .bss. A
/// class that holds an array of Cells has a constexpr constructor if the array is in a union with
/// an initialised `char`.
template <class T>
class Cell {
    static_assert(std::is_object_v<T> && !std::is_array_v<T>, "Cell<T>: T must be a single object");
    static_assert(std::is_same_v<T, std::remove_cv_t<T>>, "Cell<T>: T must not be const/volatile");

public:
    Cell() = default;
    Cell(const Cell&) = delete;
    Cell& operator=(const Cell&) = delete;

    /// Builds a T in the empty Cell, which stays empty if the constructor throws. See buildAt().
    template <class... Args>
    T& construct(Args&&... args) noexcept(detail::nothrowBuildable<T, Args...>()) {
        return detail::buildAt<T>(storage_, std::forward<Args>(args)...);
    }

    /// The T that lives here. Undefined if there is none.
    T& get() noexcept { return *std::launder(reinterpret_cast<T*>(storage_)); }
    const T& get() const noexcept { return *std::launder(reinterpret_cast<const T*>(storage_)); }

    /// Destroys the T that lives here.
    void destroy() noexcept {
        if constexpr (!std::is_trivially_destructible_v<T>) {
            get().~T();
        }
    }

    /// Destroys the T, and writes into its cache lines, so that only this processor has them. Call
    /// it before another thread constructs the next T here: the line then moves back as a whole and
    /// can be prefetched. Measured: docs/decisions/rings.md. A T of more than four lines writes
    /// only the first one.
    void destroyAndOwnLines() noexcept {
        destroy();
        volatile unsigned char* const bytes = storage_;  // volatile: no thread reads these bytes
        constexpr std::size_t last = sizeof(T) <= 4 * lineSize ? sizeof(T) - lastPart : 0;
        for (std::size_t i = 0; i < last; i += lineSize) {
            bytes[i] = 0;
        }
        bytes[last] = 0;
    }

private:
    static constexpr std::size_t lineSize = 64;  // larger lines get more stores than needed
    // The number of bytes at the end of a T that are certainly in one line.
    static constexpr std::size_t lastPart = alignof(T) < lineSize ? alignof(T) : lineSize;

    alignas(T) unsigned char storage_[sizeof(T)];
};

/// Makes both sides full fences, for kernels without membarrier or if both sides run equally often.
class PortableFence {
public:
    static void light() noexcept { detail::fullFence(); }
    static bool tryLight() noexcept { return light(), true; }
    static void heavy() noexcept { detail::fullFence(); }
    static bool isAsymmetric() noexcept { return false; }
};

/// Store-load fences that are cheap for the frequent side and expensive for the rare side.
///
///     often:   x = 1; Fence::light(); r1 = y;
///     seldom:  y = 1; Fence::heavy(); r2 = x;         // never r1 == 0 && r2 == 0
///
/// x and y are atomic; the accesses are relaxed or stronger. For a light() in one thread and a
/// heavy() in another thread of the same process, one of them sees everything before the other one.
/// Two calls of heavy() are ordered in the same way; two calls of light() are not. Pass data on
/// with a release and an acquire, because ThreadSanitizer does not see the fences.
///
/// With Linux's membarrier(2), light() is a compiler barrier, and heavy() makes the kernel run a
/// full barrier on every processor that executes a thread of this process. Other threads have
/// passed one in the context switch. Otherwise both are full fences. The choice is made once, while
/// the program starts or by the first call of any member.
///
/// Thread safety: any thread may call any member, also during static initialisation, in a signal
/// handler and in a forked child.
///
/// Errors: if the kernel refuses the barrier later, heavy() ends the program, because a fence on
/// one side alone cannot keep the promise. So a sandbox must allow membarrier (flags 0), or be
/// installed before the first use.
///
/// Performance: light() takes 0.3 ns; heavy() takes 0.4 us if no other thread of the process runs,
/// and 2-10 us otherwise. A full fence takes 5-20 ns on x86.
template <class Kernel = detail::MembarrierKernel>
class BasicAsymmetricFence {
public:
    [[gnu::always_inline]] static void light() noexcept {
        // Relaxed: the choice publishes no other data, and never changes once made.
        if (__builtin_expect(shared_.choice.load(std::memory_order_relaxed) == Choice::membarrier,
                             1)) {
            detail::compilerBarrier();
        } else {
            lightUnlessMembarrier();
        }
    }

    /// light() if it is known to be a compiler barrier; otherwise does nothing and returns false,
    /// so that the caller needs no stack frame for the full fence.
    [[gnu::always_inline]] static bool tryLight() noexcept {
        const Choice choice =
            shared_.choice.load(std::memory_order_relaxed);  // relaxed: see light()
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

    /// Returns true if light() is cheaper than a full fence.
    static bool isAsymmetric() noexcept { return decide() == Choice::membarrier; }

private:
    // Invariant: a light() is a mere compiler barrier only if every heavy() calls the kernel. One
    // compare-exchange from `undecided` makes the choice. Before it, light() is a full fence.

    enum class Choice : unsigned char { undecided, membarrier, portable };

    /// Runs before main(), because with several threads the kernel takes some 15 ms to register the
    /// process.
    [[gnu::constructor(200)]] static void decideAtStart() noexcept { (void)decide(); }

    [[gnu::noinline]] static void lightUnlessMembarrier() noexcept {
        (void)decide();  // so that the next call is cheap
        detail::fullFence();
    }

    static Choice decide() noexcept {
        if constexpr (std::is_same_v<Kernel, detail::MembarrierKernel>) {
            (void)&decideAtStart;  // a program that uses the fence has code for this call
        }
        Choice choice = shared_.choice.load(std::memory_order_relaxed);
        if (choice == Choice::undecided) {
            const Choice found = hasMembarrier() ? Choice::membarrier : Choice::portable;
            // Relaxed: see light(). If another thread was first, `choice` receives its choice.
            if (shared_.choice.compare_exchange_strong(choice, found, std::memory_order_relaxed)) {
                choice = found;
            }
        }
        return choice;
    }

    /// Registers the process with the kernel and tries the barrier.
    static bool hasMembarrier() noexcept {
        return Kernel::call(Kernel::commandRegisterPrivateExpedited) &&
               Kernel::call(Kernel::commandPrivateExpedited);
    }

    /// Registers the process and retries.
    [[gnu::cold, gnu::noinline]] static void heavyAfterRefusal() noexcept {
        if (!hasMembarrier()) {
            failAssertion(
                {"membarrier",
                 "the kernel refuses membarrier after all: let the system call pass the "
                 "sandbox, install the sandbox before the first use, or use PortableFence",
                 __FILE__, __LINE__});
        }
    }

    // Each light() reads the choice, so no variable of the program shares its lines. Two lines,
    // because processors prefetch lines in pairs.
    struct alignas(2 * cacheLineSize) Shared {
        std::atomic<Choice> choice{Choice::undecided};
    };

    // Usable before any dynamic initialisation. A forked child inherits it; without the
    // registration, heavy() registers again.
    inline static Shared shared_{};
};

#if defined(__linux__)
using AsymmetricFence = BasicAsymmetricFence<>;
#else
using AsymmetricFence = PortableFence;
#endif

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
    SLUICE_THREAD_ADDRESS static const void* thisThread() noexcept {
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
    SLUICE_THREAD_ADDRESS static bool& runsHandlers() noexcept {
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

#undef SLUICE_FENCE_UNDER_TSAN
