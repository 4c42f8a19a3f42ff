#include "harness/machine/storage.hpp"

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

namespace sluice::bench {

namespace {

bool isInside(const std::string& folder, const std::string& mount) {
    return mount == "/" || folder == mount || folder.rfind(mount + "/", 0) == 0;
}

}  // namespace

Storage storageOf(const std::string& folder, std::istream& mounts) {
    Storage found;
    std::size_t longest = 0;
    for (std::string line; std::getline(mounts, line);) {
        // Number, parent, device number, root, mount point, options, "-", type, source.
        std::istringstream words(line);
        std::string word;
        std::string mount;
        words >> word >> word >> word >> word >> mount;
        while (words >> word && word != "-") {
        }
        Storage one;
        words >> one.fileSystem >> one.device;
        // If a folder has two mounts, the later mount hides the other.
        if (!one.device.empty() && isInside(folder, mount) && mount.size() >= longest) {
            longest = mount.size();
            found = one;
        }
    }
    return found;
}

Storage storageOfLogs() {
    std::error_code failed;
    const auto folder = std::filesystem::canonical(std::filesystem::temp_directory_path(), failed);
    std::ifstream mounts("/proc/self/mountinfo");
    return failed ? Storage{} : storageOf(folder.string(), mounts);
}

}  // namespace sluice::bench
