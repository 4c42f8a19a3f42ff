#pragma once

#include "rolling_figure.hpp"
#include "samples.hpp"
#include "transport.hpp"

#include <sluice/fixed/fixed_vector.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace hostwatch {

struct CoreFigures {
    int id = 0;
    RollingFigure busyPercent;
};

struct DiskFigures {
    DeviceName id;
    RollingFigure readBytesPerSecond;
    RollingFigure writtenBytesPerSecond;
    RollingFigure busyPercent;
};

struct NetworkFigures {
    DeviceName id;
    RollingFigure receivedBytesPerSecond;
    RollingFigure sentBytesPerSecond;
};

/// The figures of one source, from its samples.
struct LoadFigures {
    DeviceName busiest;  ///< the newest
    RollingFigure mean;
    RollingFigure max;
};

/// The rolling figures of all devices and sources that the consumer has heard of.
///
/// All of it lies in this object (some 500 KiB): a new device takes a free place and a silent one
/// gives it back. A device beyond the last place is left out and its samples are counted.
/// One thread.
class Figures {
public:
    static constexpr std::size_t mostDevices = 64;  ///< cores, disks and interfaces, each

    template <class Entry>
    using Entries = sluice::FixedVector<Entry, mostDevices>;

    void add(const CpuSample& sample, const Header& header) noexcept;
    void add(const MemorySample& sample, const Header& header) noexcept;
    void add(const DiskSample& sample, const Header& header) noexcept;
    void add(const NetworkSample& sample, const Header& header) noexcept;
    void add(const Aggregate& aggregate, const Header& header) noexcept;
    void add(const Alarm& alarm, const Header& header) noexcept;

    /// Forgets devices of which nothing was heard for a whole window.
    void forgetSilent(Clock::time_point now) noexcept;

    const LoadFigures& load(Source source) const noexcept { return loads_[indexOf(source)]; }
    const Entries<CoreFigures>& cores() const noexcept { return cores_; }
    const RollingFigure& memoryUsed() const noexcept { return memoryUsed_; }
    const RollingFigure& memoryCached() const noexcept { return memoryCached_; }
    const RollingFigure& swapUsed() const noexcept { return swapUsed_; }
    const MemorySample& memory() const noexcept { return memory_; }  ///< the newest
    const Entries<DiskFigures>& disks() const noexcept { return disks_; }
    const Entries<NetworkFigures>& interfaces() const noexcept { return interfaces_; }

    /// The alarm of a source while it is on. Drills are not kept.
    const std::optional<Alarm>& alarm(Source source) const noexcept {
        return alarms_[indexOf(source)];
    }

    /// Samples of devices for which there was no place.
    std::uint64_t samplesLeftOut() const noexcept { return samplesLeftOut_; }

private:
    /// The entry of `id`, made when it is new; null when there is no place for it.
    template <class Entry, class Id>
    Entry* entryOf(Entries<Entry>& entries, const Id& id) noexcept;

    std::array<LoadFigures, sourceCount> loads_;
    std::array<std::optional<Alarm>, sourceCount> alarms_;
    Entries<CoreFigures> cores_;
    RollingFigure memoryUsed_;
    RollingFigure memoryCached_;
    RollingFigure swapUsed_;
    MemorySample memory_;
    Entries<DiskFigures> disks_;
    Entries<NetworkFigures> interfaces_;
    std::uint64_t samplesLeftOut_ = 0;
};

}  // namespace hostwatch
