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
/// nothing elsewhere. A back-off counts pauses, not time. Only its growth adapts it to these costs.
///
/// AArch64 gets `yield` and `isb`. `yield` is the architecture's hint for a spinning thread. But on
/// cores without hardware threads it does nothing, so a back-off of `yield` alone would poll the
/// contended line without any pause. `isb` refills the pipeline. Its delay is of the same order as
/// that of x86's `pause`, and it uses no memory.
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
