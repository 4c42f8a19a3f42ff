#include "figures.hpp"

#include <algorithm>
#include <variant>

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

void Figures::add(const Message& message) noexcept {
    std::visit([&](const auto& sample) { take(sample, message.publishedAt); }, message.measurement);
}

void Figures::forgetSilent(Clock::time_point now) noexcept {
    eraseSilent(cores_, now);
    eraseSilent(disks_, now);
    eraseSilent(interfaces_, now);
}

void Figures::take(const CpuSample& sample, Clock::time_point at) noexcept {
    if (sample.core == CpuSample::allCores) {
        allCores_.add(sample.busyPercent, at);
    } else if (CoreFigures* core = entryOf(cores_, sample.core)) {
        core->busyPercent.add(sample.busyPercent, at);
    }
}

void Figures::take(const MemorySample& sample, Clock::time_point at) noexcept {
    memory_ = sample;
    memoryUsed_.add(static_cast<double>(sample.usedBytes), at);
    memoryCached_.add(static_cast<double>(sample.cachedBytes), at);
    swapUsed_.add(static_cast<double>(sample.swapUsedBytes), at);
}

void Figures::take(const DiskSample& sample, Clock::time_point at) noexcept {
    if (DiskFigures* disk = entryOf(disks_, sample.name)) {
        disk->readBytesPerSecond.add(sample.readBytesPerSecond, at);
        disk->writtenBytesPerSecond.add(sample.writtenBytesPerSecond, at);
        disk->busyPercent.add(sample.busyPercent, at);
    }
}

void Figures::take(const NetworkSample& sample, Clock::time_point at) noexcept {
    if (NetworkFigures* interface = entryOf(interfaces_, sample.name)) {
        interface->receivedBytesPerSecond.add(sample.receivedBytesPerSecond, at);
        interface->sentBytesPerSecond.add(sample.sentBytesPerSecond, at);
    }
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
