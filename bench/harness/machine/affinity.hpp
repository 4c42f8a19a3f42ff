#pragma once

/// \file
/// Which CPU each thread of a round runs on.

#include <cstddef>
#include <vector>

namespace sluice::bench {

/// The CPUs this process may use, in ascending order.
std::vector<int> allowedCpus();

/// Ties the calling thread to one CPU. False when the system refuses: the caller must treat that as
/// an error, since an unpinned thread measures the scheduler.
[[nodiscard]] bool pinThisThread(int cpu) noexcept;

/// Lets the calling thread run on all of these CPUs. False when the system refuses.
bool allowThisThread(const std::vector<int>& cpus) noexcept;

/// The CPUs of one round's threads.
struct Placement {
    int consumerCpu = 0;
    std::vector<int> producerCpus;

    /// Threads that are tied to no CPU may run on all of these; empty when each is tied to its own.
    std::vector<int> roaming;

    /// True when two threads share a CPU. Then every thread of the round yields while it waits.
    bool oversubscribed = false;
};

/// Ties the calling thread to `cpu`, or lets it roam where the placement says so. False when the
/// system refuses.
[[nodiscard]] bool takePlace(const Placement& placement, int cpu) noexcept;

/// Where the producers go. `apart`: the consumer has its CPU to itself, producers take the others
/// in turn; with two CPUs all producers share one. `everywhere`: producers take all CPUs in turn,
/// that of the consumer too, so that even with two CPUs some of them push at the same time.
enum class Spread { apart, everywhere };

/// The consumer runs on the second CPU, the first producer on the first. `cpus` holds at least two,
/// in the order of placementOrder().
Placement placeThreads(const std::vector<int>& cpus, std::size_t producers, Spread spread);

}  // namespace sluice::bench
