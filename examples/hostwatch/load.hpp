#pragma once

#include "samples.hpp"

#include <cstddef>
#include <optional>
#include <type_traits>
#include <vector>

/// The load of a source, and the limits beyond which it raises an alarm.
namespace hostwatch {

/// Percent in use; of a network, whose limit is not known, bytes per second.
constexpr double loadOf(const CpuSample& sample) noexcept {
    return sample.busyPercent;
}
constexpr double loadOf(const MemorySample& sample) noexcept {
    return sample.totalBytes == 0 ? 0
                                  : 100 * static_cast<double>(sample.usedBytes) /
                                        static_cast<double>(sample.totalBytes);
}
constexpr double loadOf(const DiskSample& sample) noexcept {
    return sample.busyPercent;
}
constexpr double loadOf(const NetworkSample& sample) noexcept {
    return sample.receivedBytesPerSecond + sample.sentBytesPerSecond;
}

/// Of the samples of one reading, at least one.
template <class Sample>
Aggregate aggregateOf(const std::vector<Sample>& samples) noexcept {
    const Sample* busiest = &samples.front();
    double sum = 0;
    for (const Sample& sample : samples) {
        sum += loadOf(sample);
        if (loadOf(sample) > loadOf(*busiest)) {
            busiest = &sample;
        }
    }
    Aggregate aggregate;
    if constexpr (std::is_same_v<Sample, DiskSample> || std::is_same_v<Sample, NetworkSample>) {
        aggregate.busiest = busiest->name;
    }
    aggregate.mean = sum / static_cast<double>(samples.size());
    aggregate.max = loadOf(*busiest);
    return aggregate;
}

/// Finds out when the load of a source crosses its limit, once for each time.
template <class Sample>
class AlarmWatch {
public:
    static constexpr double onAbove = 90;
    static constexpr double offBelow = 80;  ///< apart, or a load near the limit would ring for ever

    /// The alarm to publish now, if there is one. It returns the same alarm until that was
    /// published.
    std::optional<Alarm> look(const Aggregate& aggregate) const noexcept {
        const double load = watched(aggregate);
        if (isOn_ ? load >= offBelow : load <= onAbove) {
            return std::nullopt;
        }
        return Alarm{isOn_ ? DeviceName() : deviceOf(aggregate), !isOn_};
    }

    void told(const Alarm& alarm) noexcept { isOn_ = alarm.isOn; }

private:
    /// One busy core is no cause for alarm, one busy disk is.
    static double watched(const Aggregate& aggregate) noexcept {
        if constexpr (std::is_same_v<Sample, NetworkSample>) {
            return 0;
        } else if constexpr (std::is_same_v<Sample, DiskSample>) {
            return aggregate.max;
        } else {
            return aggregate.mean;
        }
    }
    static DeviceName deviceOf(const Aggregate& aggregate) noexcept {
        return std::is_same_v<Sample, DiskSample> ? aggregate.busiest : DeviceName();
    }

    bool isOn_ = false;
};

}  // namespace hostwatch
