#pragma once

/// \file
/// Where a folder's files are stored.

#include <istream>
#include <string>

namespace sluice::bench {

/// A field is empty if the system does not tell it.
struct Storage {
    std::string fileSystem;  ///< such as ext4
    std::string device;      ///< such as /dev/vda1
};

/// `mounts` is a list as in /proc/self/mountinfo. `folder` is absolute, without symbolic links.
Storage storageOf(const std::string& folder, std::istream& mounts);

/// The storage of the folder of the log files.
Storage storageOfLogs();

}  // namespace sluice::bench
