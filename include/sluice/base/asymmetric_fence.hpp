#pragma once

/// \file
/// Store-load fences that are cheap for the frequent side and expensive for the rare side.
///
///     often:   x = 1; Fence::light(); r1 = y;
///     seldom:  y = 1; Fence::heavy(); r2 = x;         // never r1 == 0 && r2 == 0
///
/// x and y are atomic; the accesses are relaxed or stronger.
///
/// For a light() in one thread and a heavy() in another thread of the same process, either
/// everything before the light() is visible after the heavy(), or everything before the heavy() is
/// visible after the light(). Two calls of heavy() are ordered in the same way; two calls of
/// light() are not. Pass data on with a release and an acquire, because ThreadSanitizer does not
/// see the fences.
///
/// Thread safety: any thread may call any member, also during static initialisation, in a signal
/// handler and in a forked child. The kernel lets one thread at a time into heavy(), without
/// priority inheritance.
///
/// Performance: light() takes 0.3 ns; heavy() takes 0.4 us if no other thread of the process runs,
/// and 2-10 us otherwise. Without membarrier each is a full fence (5-20 ns on x86).

#include <sluice/base/assert.hpp>

#include <atomic>
#include <type_traits>

#if defined(__linux__)
#include <cerrno>
#include <sys/syscall.h>
#include <unistd.h>
#endif

#if defined(__SANITIZE_THREAD__)
#define SLUICE_FENCE_UNDER_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SLUICE_FENCE_UNDER_TSAN 1
#endif
#endif

namespace [[gnu::visibility("default")]] sluice {
namespace detail {

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

/// The system call behind MembarrierFence; tests replace it by scripted kernels.
struct MembarrierKernel {
    // These values belong to the kernel's ABI. Old kernel headers do not define them.
    static constexpr int commandGlobal = 1 << 0;
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

/// Makes both sides full fences, for kernels without membarrier or if both sides run equally often.
class PortableFence {
public:
    static void light() noexcept { detail::fullFence(); }
    static bool tryLight() noexcept { return light(), true; }
    static void heavy() noexcept { detail::fullFence(); }

    /// Returns true if light() is cheaper than a full fence.
    static bool isAsymmetric() noexcept { return false; }
};

/// The fences of Linux's membarrier(2): light() is a compiler barrier. heavy() makes the kernel run
/// a full barrier on every processor that executes a thread of this process. Other threads have
/// passed a full barrier in the context switch.
///
/// AsymmetricFence uses it if the kernel has it. If the kernel refuses every barrier, heavy() ends
/// the program, because a fence on one side alone cannot keep the promise. So a sandbox must allow
/// membarrier (flags 0), or be installed before the first use.
template <class Kernel = detail::MembarrierKernel>
class BasicMembarrierFence {
public:
    static void light() noexcept { detail::compilerBarrier(); }
    static bool tryLight() noexcept { return light(), true; }

    static void heavy() noexcept {
        detail::compilerBarrier();
        if (!Kernel::call(Kernel::commandPrivateExpedited)) {
            heavyAfterRefusal();
        }
        detail::compilerBarrier();
    }

    /// Registers the process with the kernel and tries the barrier.
    [[nodiscard]] static bool available() noexcept {
        return Kernel::call(Kernel::commandRegisterPrivateExpedited) &&
               Kernel::call(Kernel::commandPrivateExpedited);
    }

    static bool isAsymmetric() noexcept { return true; }

private:
    /// Registers the process and retries. If this fails, uses the non-expedited barrier, which
    /// takes milliseconds.
    [[gnu::cold, gnu::noinline]] static void heavyAfterRefusal() noexcept {
        if (!available() && !Kernel::call(Kernel::commandGlobal)) {
            failAssertion(
                {"membarrier",
                 "the kernel refuses membarrier after all: let the system call pass the "
                 "sandbox, install the sandbox before the first use, or use PortableFence",
                 __FILE__, __LINE__});
        }
    }
};

using MembarrierFence = BasicMembarrierFence<>;

/// Uses membarrier if the kernel has it, otherwise full fences. The choice is made once, while the
/// program starts or by the first call of any member.
template <class Kernel = detail::MembarrierKernel>
class BasicAsymmetricFence {
public:
    [[gnu::always_inline]] static void light() noexcept {
        // Relaxed: the choice publishes no other data, and never changes once made.
        if (__builtin_expect(choice_.load(std::memory_order_relaxed) == Choice::membarrier, 1)) {
            BasicMembarrierFence<Kernel>::light();
        } else {
            lightUnlessMembarrier();
        }
    }

    /// light() if it is known to be a compiler barrier; otherwise does nothing and returns false,
    /// so that the caller needs no stack frame for the full fence.
    [[gnu::always_inline]] static bool tryLight() noexcept {
        const Choice choice = choice_.load(std::memory_order_relaxed);  // relaxed: see light()
        detail::compilerBarrier();
        return choice == Choice::membarrier;
    }

    [[gnu::noinline]] static void heavy() noexcept {
        if (isAsymmetric()) {
            BasicMembarrierFence<Kernel>::heavy();
        } else {
            PortableFence::heavy();
        }
    }

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
        PortableFence::light();
    }

    static Choice decide() noexcept {
        if constexpr (std::is_same_v<Kernel, detail::MembarrierKernel>) {
            (void)&decideAtStart;  // a program that uses the fence has code for this call
        }
        Choice choice = choice_.load(std::memory_order_relaxed);
        if (choice == Choice::undecided) {
            const Choice found =
                BasicMembarrierFence<Kernel>::available() ? Choice::membarrier : Choice::portable;
            // Relaxed: see light(). If another thread was first, `choice` receives its choice.
            if (choice_.compare_exchange_strong(choice, found, std::memory_order_relaxed)) {
                choice = found;
            }
        }
        return choice;
    }

    // Usable before any dynamic initialisation. A forked child inherits it; without the
    // registration, heavy() registers again.
    inline static std::atomic<Choice> choice_{Choice::undecided};
};

#if defined(__linux__)
using AsymmetricFence = BasicAsymmetricFence<>;
#else
using AsymmetricFence = PortableFence;
#endif

}  // namespace sluice

#undef SLUICE_FENCE_UNDER_TSAN
