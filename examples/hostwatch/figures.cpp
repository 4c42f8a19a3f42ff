#include "figures.hpp"

#include <algorithm>

namespace hostwatch {
namespace {

/// The figure that tells whether a device is still heard of: it has a value in every sample.
const RollingFigure& pulse(const CoreFigures& core) noexcept {
    return core.busyPercent;
}
const RollingFigure& pulse(const DiskFigures& disk) noexcept {
    return disk.busyPercent;
}
const RollingFigure& pulse(const NetworkFigures& interface) noexcept {
    return interface.receivedBytesPerSecond;
}

template <class Entries>
void eraseSilent(Entries& entries, Clock::time_point now) noexcept {
    const auto silent = std::remove_if(entries.begin(), entries.end(), [now](const auto& entry) {
        return !pulse(entry).summary(now);
    });
    entries.eraseOrdered(silent, entries.end());
}

}  // namespace

void Figures::add(const CpuSample& sample, const Header& header) noexcept {
    if (CoreFigures* core = entryOf(cores_, sample.core)) {
        core->busyPercent.add(sample.busyPercent, header.timeStamp);
    }
}

void Figures::add(const MemorySample& sample, const Header& header) noexcept {
    memory_ = sample;
    memoryUsed_.add(static_cast<double>(sample.usedBytes), header.timeStamp);
    memoryCached_.add(static_cast<double>(sample.cachedBytes), header.timeStamp);
    swapUsed_.add(static_cast<double>(sample.swapUsedBytes), header.timeStamp);
}

void Figures::add(const DiskSample& sample, const Header& header) noexcept {
    if (DiskFigures* disk = entryOf(disks_, sample.name)) {
        disk->readBytesPerSecond.add(sample.readBytesPerSecond, header.timeStamp);
        disk->writtenBytesPerSecond.add(sample.writtenBytesPerSecond, header.timeStamp);
        disk->busyPercent.add(sample.busyPercent, header.timeStamp);
    }
}

void Figures::add(const NetworkSample& sample, const Header& header) noexcept {
    if (NetworkFigures* interface = entryOf(interfaces_, sample.name)) {
        interface->receivedBytesPerSecond.add(sample.receivedBytesPerSecond, header.timeStamp);
        interface->sentBytesPerSecond.add(sample.sentBytesPerSecond, header.timeStamp);
    }
}

void Figures::add(const Aggregate& aggregate, const Header& header) noexcept {
    LoadFigures& load = loads_[header.sender];
    load.busiest = aggregate.busiest;
    load.mean.add(aggregate.mean, header.timeStamp);
    load.max.add(aggregate.max, header.timeStamp);
}

void Figures::add(const Alarm& alarm, const Header& header) noexcept {
    if (header.sender != drillSender) {
        alarms_[header.sender] = alarm.isOn ? std::optional<Alarm>(alarm) : std::nullopt;
    }
}

void Figures::forgetSilent(Clock::time_point now) noexcept {
    eraseSilent(cores_, now);
    eraseSilent(disks_, now);
    eraseSilent(interfaces_, now);
}

template <class Entry, class Id>
Entry* Figures::entryOf(Entries<Entry>& entries, const Id& id) noexcept {
    const auto known = std::find_if(entries.begin(), entries.end(),
                                    [&](const Entry& entry) { return entry.id == id; });
    if (known != entries.end()) {
        return &*known;
    }
    if (!entries.emplaceBack()) {
        ++samplesLeftOut_;
        return nullptr;
    }
    entries.back().id = id;
    return &entries.back();
}

}  // namespace hostwatch
