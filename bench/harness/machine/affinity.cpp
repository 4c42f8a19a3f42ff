#include "harness/machine/affinity.hpp"

#include <pthread.h>
#include <sched.h>

#include <set>

namespace sluice::bench {

std::vector<int> allowedCpus() {
    cpu_set_t set;
    CPU_ZERO(&set);
    std::vector<int> cpus;
    if (sched_getaffinity(0, sizeof set, &set) != 0) {
        return cpus;
    }
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
        if (CPU_ISSET(std::size_t(cpu), &set)) {
            cpus.push_back(cpu);
        }
    }
    return cpus;
}

bool pinThisThread(int cpu) noexcept {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(std::size_t(cpu), &set);
    return pthread_setaffinity_np(pthread_self(), sizeof set, &set) == 0;
}

bool allowThisThread(const std::vector<int>& cpus) noexcept {
    cpu_set_t set;
    CPU_ZERO(&set);
    for (const int cpu : cpus) {
        CPU_SET(std::size_t(cpu), &set);
    }
    return pthread_setaffinity_np(pthread_self(), sizeof set, &set) == 0;
}

bool takePlace(const Placement& placement, int cpu) noexcept {
    return placement.roaming.empty() ? pinThisThread(cpu) : allowThisThread(placement.roaming);
}

Placement placeThreads(const std::vector<int>& cpus, std::size_t producers, Spread spread) {
    Placement placement;
    placement.consumerCpu = cpus[1];
    std::vector<int> candidates = cpus;
    if (spread == Spread::apart) {
        candidates.erase(candidates.begin() + 1);
    }
    std::set<int> used{placement.consumerCpu};
    for (std::size_t i = 0; i < producers; ++i) {
        const int cpu = candidates[i % candidates.size()];
        placement.producerCpus.push_back(cpu);
        placement.oversubscribed |= !used.insert(cpu).second;
    }
    return placement;
}

}  // namespace sluice::bench
