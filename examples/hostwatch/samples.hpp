#pragma once

#include <sluice/fixed/fixed_string.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>

/// The messages from the sampling threads to the display: small structs of fixed size, no heap.
namespace hostwatch {

using Clock = std::chrono::steady_clock;

/// Name of a disk or a network interface. The kernel's own limits are 31 and 15 characters.
using DeviceName = sluice::FixedString<31>;

/// Share of time a core was busy since the reading before, 0 to 100.
struct CpuSample {
    int core = 0;
    double busyPercent = 0;
};

/// State of the memory at the moment of the reading.
struct MemorySample {
    std::uint64_t totalBytes = 0;
    std::uint64_t usedBytes = 0;  ///< memory that programs cannot get without pushing others out
    std::uint64_t cachedBytes = 0;
    std::uint64_t swapTotalBytes = 0;
    std::uint64_t swapUsedBytes = 0;
};

/// Work of one disk since the reading before.
struct DiskSample {
    DeviceName name;
    double readBytesPerSecond = 0;
    double writtenBytesPerSecond = 0;
    double busyPercent = 0;
};

/// Traffic of one network interface since the reading before.
struct NetworkSample {
    DeviceName name;
    double receivedBytesPerSecond = 0;
    double sentBytesPerSecond = 0;
};

/// Mean and maximum of one reading: percent in use, or bytes per second of a network.
struct Aggregate {
    DeviceName busiest;  ///< empty where devices have no names
    double mean = 0;
    double max = 0;
};

/// A limit has been crossed, upwards or back.
struct Alarm {
    DeviceName device;  ///< empty when it is about all of its kind
    bool isOn = false;
};

enum class Source : std::size_t { cpu, memory, disk, network };

inline constexpr std::size_t sourceCount = 4;
inline constexpr std::array<std::string_view, sourceCount> sourceNames{"cpu", "memory", "disk",
                                                                       "network"};
inline constexpr std::array<Source, sourceCount> allSources{Source::cpu, Source::memory,
                                                            Source::disk, Source::network};

constexpr std::size_t indexOf(Source source) noexcept {
    return static_cast<std::size_t>(source);
}

}  // namespace hostwatch
