#pragma once

#include "figures.hpp"
#include "samples.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace hostwatch {

/// How busy a device has been; decides which ones are shown when not all fit.
inline double activity(const CoreFigures& core, Clock::time_point now) {
    return core.busyPercent.maxOrZero(now);
}

inline double activity(const DiskFigures& disk, Clock::time_point now) {
    return disk.readBytesPerSecond.maxOrZero(now) + disk.writtenBytesPerSecond.maxOrZero(now);
}

inline double activity(const NetworkFigures& interface, Clock::time_point now) {
    return interface.receivedBytesPerSecond.maxOrZero(now) +
           interface.sentBytesPerSecond.maxOrZero(now);
}

/// The `most` busiest entries, in the order in which they were first heard of.
template <class Entry>
std::vector<const Entry*> busiest(const Figures::Entries<Entry>& entries, std::size_t most,
                                  Clock::time_point now) {
    struct Ranked {
        const Entry* entry;
        double activity;
    };
    std::vector<Ranked> ranked;
    for (const Entry& entry : entries) {
        ranked.push_back({&entry, activity(entry, now)});
    }
    std::stable_sort(ranked.begin(), ranked.end(),
                     [](const Ranked& a, const Ranked& b) { return a.activity > b.activity; });
    std::vector<const Entry*> chosen;
    for (const Ranked& one : ranked) {
        if (chosen.size() < most) {
            chosen.push_back(one.entry);
        }
    }
    std::sort(chosen.begin(), chosen.end());  // they lie in one array: by address is by place
    return chosen;
}

}  // namespace hostwatch
