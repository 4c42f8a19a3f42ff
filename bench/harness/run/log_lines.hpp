#pragma once

/// \file
/// The records that a round of the log scenarios writes, and the check of the resulting file.
///
/// Each record is "Hello logger: msg number N", as in spdlog's own benchmark, behind date and time
/// to the microsecond in brackets. The number names the thread and its position in the thread's
/// order.

#include "harness/run/counts.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::bench {

inline constexpr std::uint64_t mostRecordsOfAThread = 100000000;

constexpr std::uint64_t recordNumber(std::size_t thread, std::uint64_t sequence) noexcept {
    return thread * mostRecordsOfAThread + sequence;
}

/// Reads lines in the order of the file.
class LogLines {
public:
    explicit LogLines(std::size_t threads) : expected_(threads, 0) {}

    void take(std::string_view line) noexcept;

    /// Enters the delivered records and their sum, the records out of their thread's order, and the
    /// lines with an earlier time than the line above.
    void enter(Counts& counts) const noexcept;

    /// A line that is no record. Empty if there was none.
    const std::string& strange() const noexcept { return strange_; }

private:
    std::vector<std::uint64_t> expected_;
    std::uint64_t delivered_ = 0;
    std::uint64_t sum_ = 0;
    std::uint64_t disorder_ = 0;
    std::uint64_t backInTime_ = 0;
    std::string time_;
    std::string strange_;
};

/// A file of its own name in the system's temporary folder. The destructor removes the file.
class LogFile {
public:
    LogFile();
    LogFile(const LogFile&) = delete;
    LogFile& operator=(const LogFile&) = delete;
    ~LogFile();

    const std::string& path() const noexcept { return path_; }

    /// Reads the file, and enters its records. Returns a complaint about a strange line, or "".
    std::string read(std::size_t threads, Counts& counts) const;

private:
    std::string path_;
};

}  // namespace sluice::bench
