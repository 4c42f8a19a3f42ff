#pragma once

/// \file
/// The fewest instructions that a message can take.

#include "harness/machine/perf_counters.hpp"
#include "harness/run/message.hpp"

#include <cstddef>
#include <cstdint>

namespace sluice::bench {

/// The user-mode instructions to make a message and to read it, without a queue. Negative if the
/// processor's counters cannot be read. A queue cannot take fewer.
template <std::size_t Bytes>
double instructionFloor() {
    constexpr std::uint64_t messages = 100000;
    PerfCounters counters;
    Receipt receipt;
    (void)counters.take();
    for (std::uint64_t sequence = 0; sequence < messages; ++sequence) {
        Message<Bytes> message(0, sequence);
        // The compiler must assume that other code has changed it.
        asm volatile("" : "+m"(message));
        receipt.take(message);
    }
    const PerfCounts counts = counters.take();
    // Uses the sum, so that the compiler must compute it.
    const bool isRead = receipt.disorder() == 0 && receipt.sum() != 0;
    return counts.instructions && isRead ? *counts.instructions / double(messages) : -1;
}

/// Half of the instructions for a payload of this size. Half, because a batch with all code inlined
/// may take fewer instructions than its messages one by one.
inline double loopFloor(std::size_t bytes) {
    const double floor = bytes == 8      ? instructionFloor<8>()
                         : bytes == 512  ? instructionFloor<512>()
                         : bytes == 4096 ? instructionFloor<4096>()
                                         : instructionFloor<64>();
    return floor < 0 ? floor : floor / 2;
}

}  // namespace sluice::bench
