#pragma once

#include "samples.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Parsers for the four files of /proc that hostwatch reads.
///
/// They trust nothing: a line counts only when its newline is there (a file cut short would
/// otherwise give a number cut short), a number only when it is nothing but digits and fits.
/// A bad line costs that line alone: the good entries are kept and the first problem is returned.
namespace hostwatch {

/// A fault of a reading. An empty text means that the reading has none.
struct Problem {
    std::string text;

    explicit operator bool() const noexcept { return !text.empty(); }
};

/// Time one core spent in each state since boot, in clock ticks.
struct CpuCounters {
    static constexpr int allCores = -1;

    int core = 0;  ///< `allCores` in the line of all cores together
    std::uint64_t busy = 0;
    std::uint64_t idle = 0;  ///< idle, or waiting for a disk
};

/// Memory in bytes.
struct MemoryState {
    std::uint64_t total = 0;
    std::uint64_t available = 0;
    std::uint64_t cached = 0;
    std::uint64_t swapTotal = 0;
    std::uint64_t swapFree = 0;
};

/// Work of one disk since boot. The kernel counts in sectors of 512 bytes, whatever the disk has.
struct DiskCounters {
    static constexpr double bytesPerSector = 512;

    DeviceName name;
    std::uint64_t sectorsRead = 0;
    std::uint64_t sectorsWritten = 0;
    std::uint64_t busyMilliseconds = 0;
};

/// Traffic of one interface since boot.
struct NetworkCounters {
    DeviceName name;
    std::uint64_t bytesReceived = 0;
    std::uint64_t bytesSent = 0;
};

/// /proc/stat: one entry per core and one for all together.
Problem parseCpu(std::string_view text, std::vector<CpuCounters>& out);

/// /proc/meminfo. Leaves `out` untouched when it returns a problem.
Problem parseMemory(std::string_view text, MemoryState& out);

/// /proc/diskstats: whole disks that have been used since boot; partitions are left out.
Problem parseDisks(std::string_view text, std::vector<DiskCounters>& out);

/// /proc/net/dev: interfaces that have carried anything since boot.
Problem parseNetwork(std::string_view text, std::vector<NetworkCounters>& out);

/// A number written with digits alone; nothing when it is anything else or does not fit.
std::optional<std::uint64_t> toNumber(std::string_view word) noexcept;

/// Whether `name` is a partition of `disk`: sda1 of sda, nvme0n1p2 of nvme0n1, but not md12 of md1.
bool isPartitionOf(std::string_view name, std::string_view disk) noexcept;

}  // namespace hostwatch
