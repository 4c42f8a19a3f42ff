#pragma once

#include <spdlog/common.h>

#include <cstddef>
#include <functional>

namespace sluice::log {

/// The rule by which a file_sink begins a new file. The old file gets a name with its date and
/// time: core.20261123-180000.log for core.log.
///
/// Tests: tests/unit/log/file_rotation_test.cpp.
struct file_rotation {
    /// The file is changed before it grows beyond so many bytes; 0: no limit. A longer line gets a
    /// file of its own.
    std::size_t max_bytes = 0;

    /// The file is changed once a day, at this local time. The times of the records decide, so the
    /// first record of the new day is the first line of the new file.
    bool daily = false;
    int hour = 0;
    int minute = 0;

    /// Called with the name of the old file after the last write to it, on the writing thread,
    /// without a lock. It may compress or delete files. The error handler gets its exceptions.
    std::function<void(const spdlog::filename_t& rotated)> after_rotation;
};

}  // namespace sluice::log
