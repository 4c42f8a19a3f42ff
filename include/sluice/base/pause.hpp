#pragma once

/// \file
/// cpuPause(): tells the processor that this thread is spinning.

#include <atomic>

namespace [[gnu::visibility("default")]] sluice {

/// Pauses for a moment between two polls of a shared location. Any thread may call it. It never
/// blocks and orders nothing between threads. The compiler moves no memory access across it, so it
/// does not hoist plain polls out of a loop with a pause.
///
/// Cost, roughly: 40-140 cycles on x86 (`pause`; 140 on Intel since Skylake), 10-50 on AArch64,
/// nothing elsewhere. A back-off counts pauses, not time, and grows fast enough for all of these.
///
/// AArch64 gets `yield` and `isb`. `yield` alone is the architecture's hint for a spinning thread,
/// but cores without hardware threads retire it as a no-op: a back-off made of it would poll the
/// contended line without any pause. `isb` refills the pipeline, which is a delay of the same order
/// as x86's `pause` and touches no memory.
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

}  // namespace sluice
