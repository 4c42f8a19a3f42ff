#pragma once

/// \file
/// Store-load fences that are cheap for the frequent side and expensive for the rare side.
///
/// Purpose: two threads each store to their own variable and then load the other's. At least one of
/// them must see the other's store:
///
///     often:   x = 1; Fence::light(); r1 = y;
///     seldom:  y = 1; Fence::heavy(); r2 = x;         // never r1 == 0 && r2 == 0
///
/// (x and y are atomic, the accesses are relaxed or stronger.) For example, readers announce
/// themselves, and a reclaimer reads the announcements. Or a producer looks for sleepers, and a
/// consumer is about to sleep.
///
/// Use these fences if one side runs far more often than the other. Use a plain seq_cst fence
/// (PortableFence) if both sides run equally often, because heavy() costs a system call and
/// interrupts every processor that runs a thread of this process.
///
/// Threads: any thread at any time, also during static initialisation, in a signal handler and in
/// the child of a fork. Progress: light() never waits. heavy() waits for other threads in heavy(),
/// because the kernel lets one thread at a time in, without priority inheritance. The kernel itself
/// waits until other processors have taken an interrupt.
///
/// Memory promise: for a light() in one thread and a heavy() in another, either everything before
/// the light() is visible after the heavy(), or everything before the heavy() is visible after the
/// light(). Two calls of heavy() are ordered in the same way; two calls of light() are not. The
/// promise covers threads of one process only. ThreadSanitizer does not see the edge of a fence, so
/// data that is passed on still needs a release and an acquire.
///
/// Cost with membarrier: light() 0.3 ns; heavy() 0.4 us if no other thread of the process runs, and
/// 2-10 us if it must interrupt others. Without membarrier each is a full fence (5-20 ns on x86).
/// No allocation, no exceptions.
///
/// Origin: membarrier(2), made for the user-space RCU library by M. Desnoyers and P. McKenney.
///
/// Tests: tests/unit/base/asymmetric_fence_test.cpp (litmus on each fence, scripted kernels, fork).

#include <sluice/base/assert.hpp>
#include <sluice/base/at_start.hpp>
#include <sluice/base/detail/membarrier_kernel.hpp>

#include <atomic>
#include <type_traits>

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

}  // namespace detail

/// Makes both sides full fences, for kernels without membarrier or if both sides run equally often.
class PortableFence {
public:
    static void light() noexcept { detail::fullFence(); }
    static void heavy() noexcept { detail::fullFence(); }

    /// Whether light() is cheaper than a full fence.
    static bool isAsymmetric() noexcept { return false; }
};

/// The fences of Linux's membarrier: light() is a compiler barrier. heavy() makes the kernel run a
/// full barrier on every processor that executes a thread of this process. A thread that is not
/// executing has passed a full barrier in the context switch.
///
/// For programs that know their kernel. If the kernel refuses each barrier, heavy() ends the
/// program: a fence on one side alone cannot keep the promise. AsymmetricFence chooses at run time.
///
/// A sandbox must not begin to forbid membarrier after its first use, because heavy() would end the
/// program. Install the sandbox before the first use, or let it allow membarrier (flags 0).
template <class Kernel = detail::MembarrierKernel>
class BasicMembarrierFence {
public:
    static void light() noexcept { detail::compilerBarrier(); }

    static void heavy() noexcept {
        detail::compilerBarrier();
        if (!Kernel::call(Kernel::commandPrivateExpedited)) {
            heavyAfterRefusal();
        }
        detail::compilerBarrier();
    }

    /// Registers the process with the kernel and tries the barrier. Repeated calls are allowed.
    [[nodiscard]] static bool available() noexcept {
        return Kernel::call(Kernel::commandRegisterPrivateExpedited) &&
               Kernel::call(Kernel::commandPrivateExpedited);
    }

    static bool isAsymmetric() noexcept { return true; }

private:
    /// The process may have no registration: registers it and retries. If this fails, uses the
    /// non-expedited barrier, which needs no registration and takes milliseconds. If the kernel
    /// refuses this barrier too, the program ends: without a barrier it would have a data race.
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

/// Uses membarrier if the kernel has it, otherwise full fences. The first call of any member
/// decides for all threads, and the decision never changes. AsymmetricFence makes this call when
/// the program starts.
///
/// Invariant: a light() is a mere compiler barrier only if every heavy() calls the kernel. One
/// compare-exchange from `undecided` makes the choice. Before it, light() is a full fence.
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

    [[gnu::noinline]] static void heavy() noexcept {
        if (isAsymmetric()) {
            BasicMembarrierFence<Kernel>::heavy();
        } else {
            PortableFence::heavy();
        }
    }

    static bool isAsymmetric() noexcept { return decide() == Choice::membarrier; }

private:
    enum class Choice : unsigned char { undecided, membarrier, portable };

    [[gnu::noinline]] static void lightUnlessMembarrier() noexcept {
        (void)decide();  // so that the next call is cheap
        PortableFence::light();
    }

    static Choice decide() noexcept {
        if constexpr (std::is_same_v<Kernel, detail::MembarrierKernel>) {
            // Decides while the process has one thread. Later the kernel takes some 15 ms to
            // register the process, and the first thread that needs a fence would wait.
            (void)&AtStart<&isAsymmetric>::call;
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

    // Initialised at compile time, so usable before any dynamic initialisation. A forked child
    // inherits the value. If it does not inherit the registration, heavy() registers again.
    inline static std::atomic<Choice> choice_{Choice::undecided};
};

#if defined(__linux__)
using AsymmetricFence = BasicAsymmetricFence<>;
#else
using AsymmetricFence = PortableFence;
#endif

}  // namespace sluice

#undef SLUICE_FENCE_UNDER_TSAN
