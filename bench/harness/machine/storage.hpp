#pragma once

/// \file
/// Where a folder's files are stored.

#include <istream>
#include <string>

namespace sluice::bench {

/// Empty where the system does not tell.
struct Storage {
    std::string fileSystem;  ///< such as ext4
    std::string device;      ///< such as /dev/vda1
};

/// `mounts` is a list as in /proc/self/mountinfo. `folder` is absolute, without symbolic links.
Storage storageOf(const std::string& folder, std::istream& mounts);

/// The same for the folder of the log files, from the lists of this system.
Storage storageOfLogs();

}  // namespace sluice::bench
