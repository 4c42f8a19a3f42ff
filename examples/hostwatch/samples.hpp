#pragma once

#include <sluice/fixed/fixed_string.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <variant>

/// What travels from the sampling threads to the display: small structs of fixed size, no heap.
namespace hostwatch {

using Clock = std::chrono::steady_clock;

/// Name of a disk or a network interface. The kernel's own limits are 31 and 15 characters.
using DeviceName = sluice::FixedString<31>;

/// Share of time a core was busy since the reading before, 0 to 100.
struct CpuSample {
    static constexpr int allCores = -1;

    int core = allCores;
    double busyPercent = 0;
};

/// State of the memory at the moment of the reading.
struct MemorySample {
    std::uint64_t totalBytes = 0;
    std::uint64_t usedBytes = 0;  ///< what programs cannot get without pushing others out
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

/// One alternative per producer thread, in the order of `Source`.
using Measurement = std::variant<CpuSample, MemorySample, DiskSample, NetworkSample>;

enum class Source : std::size_t { cpu, memory, disk, network };

inline constexpr std::size_t sourceCount = std::variant_size_v<Measurement>;
inline constexpr std::array<std::string_view, sourceCount> sourceNames{"cpu", "memory", "disk",
                                                                       "network"};
inline constexpr std::array<Source, sourceCount> allSources{Source::cpu, Source::memory,
                                                            Source::disk, Source::network};

constexpr std::size_t indexOf(Source source) noexcept {
    return static_cast<std::size_t>(source);
}

/// One message: when it was handed to the queue, and what was measured.
struct Message {
    Clock::time_point publishedAt;
    Measurement measurement;

    Source source() const noexcept { return static_cast<Source>(measurement.index()); }
};

}  // namespace hostwatch
