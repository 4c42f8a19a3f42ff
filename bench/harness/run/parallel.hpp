#pragma once

/// \file
/// The same work on several CPUs at once, or on one.

#include "harness/machine/affinity.hpp"
#include "harness/machine/clock.hpp"
#include "harness/run/barrier.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace sluice::bench {

/// Runs work(0) on the calling thread, which must have its place already, and work(i) on one for
/// each producer of the placement. They start together. The time from the first start to the last
/// end in nanoseconds; negative when a thread could not be pinned.
template <class Work>
double wallTime(const Placement& placement, Work&& work) {
    struct alignas(128) Span {
        Nanoseconds start = 0;
        Nanoseconds end = 0;
    };
    const std::vector<int>& cpus = placement.producerCpus;
    std::vector<Span> spans(cpus.size() + 1);
    StartBarrier barrier(cpus.size() + 1);
    std::atomic<bool> pinned{true};
    const auto run = [&](std::size_t index) {
        barrier.arriveAndWait();
        spans[index].start = now();
        work(index);
        spans[index].end = now();
    };
    std::vector<std::thread> others;
    for (std::size_t other = 0; other < cpus.size(); ++other) {
        others.emplace_back([&, other] {
            if (!takePlace(placement, cpus[other])) {
                pinned = false;
            }
            run(other + 1);
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
