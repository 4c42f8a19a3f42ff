#pragma once

#include <spdlog/common.h>

#include <cstddef>
#include <functional>

namespace sluice::log {

/// The rule by which a file_sink begins a new file. The old file gets a name with its date and
/// time: core.20261123-180000.log for core.log.
///
///     sluice::log::file_rotation rotation;
///     rotation.max_bytes = 100 * 1024 * 1024;
///     rotation.daily = true;  // and at midnight
///     sink->set_rotation(rotation);
///
/// Tests: tests/unit/log/file_rotation_test.cpp.
struct file_rotation {
    /// The most bytes of one file. The sink begins a new file before a line that would exceed this.
    /// A line that is longer gets a file of its own. 0: no limit.
    std::size_t max_bytes = 0;

    /// True: the sink begins a new file once a day, at this local time. The times of the records
    /// decide, so the first record of the new day is the first line of the new file. `hour` is 0 to
    /// 23, `minute` 0 to 59.
    bool daily = false;
    int hour = 0;
    int minute = 0;

    /// The writing thread calls it with the name of the old file after the last write to that file.
    /// It holds no lock meanwhile, so the function may take long: it may compress or delete files.
    /// The logger's error handler gets its exceptions.
    std::function<void(const spdlog::filename_t& rotated)> after_rotation;
};

}  // namespace sluice::log
