#pragma once

/// \file
/// The same work on several CPUs at once, or on one.

#include "harness/affinity.hpp"
#include "harness/barrier.hpp"
#include "harness/clock.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace sluice::bench {

/// Runs work(index) on a thread for each of `cpus`, the calling one first, which must be pinned to
/// its CPU already. They start together. The time from the first start to the last end in
/// nanoseconds; negative when a thread could not be pinned.
template <class Work>
double wallTime(const std::vector<int>& cpus, Work&& work) {
    struct alignas(128) Span {
        Nanoseconds start = 0;
        Nanoseconds end = 0;
    };
    std::vector<Span> spans(cpus.size());
    StartBarrier barrier(cpus.size());
    std::atomic<bool> pinned{true};
    const auto run = [&](std::size_t index) {
        barrier.arriveAndWait();
        spans[index].start = now();
        work(index);
        spans[index].end = now();
    };
    std::vector<std::thread> others;
    for (std::size_t index = 1; index < cpus.size(); ++index) {
        others.emplace_back([&, index] {
            if (!pinThisThread(cpus[index])) {
                pinned = false;
            }
            run(index);
        });
    }
    run(0);
    for (std::thread& thread : others) {
        thread.join();
    }
    Nanoseconds start = spans[0].start;
    Nanoseconds end = spans[0].end;
    for (const Span& span : spans) {
        start = std::min(start, span.start);
        end = std::max(end, span.end);
    }
    return pinned ? double(end - start) : -1;
}

}  // namespace sluice::bench
