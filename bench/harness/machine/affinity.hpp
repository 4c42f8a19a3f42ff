#pragma once

/// \file
/// Which CPU each thread of a round runs on.

#include <cstddef>
#include <vector>

namespace sluice::bench {

/// The CPUs this process may use, in ascending order.
std::vector<int> allowedCpus();

/// Ties the calling thread to one CPU. Returns false if the system refuses. The caller must report
/// this as an error, because an unpinned thread measures the scheduler.
[[nodiscard]] bool pinThisThread(int cpu) noexcept;

/// Lets the calling thread run on all of these CPUs. Returns false if the system refuses.
bool allowThisThread(const std::vector<int>& cpus) noexcept;

/// The CPUs of one round's threads.
struct Placement {
    int consumerCpu = 0;
    std::vector<int> producerCpus;

    /// The CPUs of threads that are tied to none. Empty if each thread is tied to its own CPU.
    std::vector<int> roaming;

    /// True when two threads share a CPU. Then every thread of the round yields while it waits.
    bool oversubscribed = false;
};

/// Ties the calling thread to `cpu`, or lets it run on placement.roaming. Returns false if the
/// system refuses.
[[nodiscard]] bool takePlace(const Placement& placement, int cpu) noexcept;

/// The CPUs of the producers. `apart`: the producers take the CPUs in turn, except the consumer's.
/// `everywhere`: the producers take all CPUs in turn. So even with two CPUs some producers push at
/// the same time.
enum class Spread { apart, everywhere };

/// The consumer runs on the second CPU, the first producer on the first. `cpus` holds at least two,
/// in the order of placementOrder().
Placement placeThreads(const std::vector<int>& cpus, std::size_t producers, Spread spread);

}  // namespace sluice::bench
