#pragma once

#include "rolling_figure.hpp"
#include "samples.hpp"

#include <sluice/fixed/fixed_vector.hpp>

#include <cstddef>
#include <cstdint>

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

/// What the consumer knows: the rolling figures of everything it has heard of.
///
/// All of it lies in this object (some 500 KiB): a new device takes a free place and a silent one
/// gives it back. A device beyond the last place is left out and its samples are counted.
/// One thread.
class Figures {
public:
    static constexpr std::size_t mostDevices = 64;  ///< cores, disks and interfaces, each

    template <class Entry>
    using Entries = sluice::FixedVector<Entry, mostDevices>;

    void add(const Message& message) noexcept;

    /// Forgets devices of which nothing was heard for a whole window.
    void forgetSilent(Clock::time_point now) noexcept;

    const RollingFigure& allCores() const noexcept { return allCores_; }
    const Entries<CoreFigures>& cores() const noexcept { return cores_; }
    const RollingFigure& memoryUsed() const noexcept { return memoryUsed_; }
    const RollingFigure& memoryCached() const noexcept { return memoryCached_; }
    const RollingFigure& swapUsed() const noexcept { return swapUsed_; }
    const MemorySample& memory() const noexcept { return memory_; }  ///< the newest
    const Entries<DiskFigures>& disks() const noexcept { return disks_; }
    const Entries<NetworkFigures>& interfaces() const noexcept { return interfaces_; }

    /// Samples of devices for which there was no place.
    std::uint64_t samplesLeftOut() const noexcept { return samplesLeftOut_; }

private:
    void take(const CpuSample& sample, Clock::time_point at) noexcept;
    void take(const MemorySample& sample, Clock::time_point at) noexcept;
    void take(const DiskSample& sample, Clock::time_point at) noexcept;
    void take(const NetworkSample& sample, Clock::time_point at) noexcept;

    /// The entry of `id`, made when it is new; null when there is no place for it.
    template <class Entry, class Id>
    Entry* entryOf(Entries<Entry>& entries, const Id& id) noexcept;

    RollingFigure allCores_;
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
