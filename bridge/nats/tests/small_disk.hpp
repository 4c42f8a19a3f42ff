#pragma once

#include "support/temporary_folder.hpp"

#include <string>

#include <sys/mount.h>

namespace sluice::test {

/// A file system of this many KiB. False if the process is not allowed to mount one.
class SmallDisk {
public:
    explicit SmallDisk(int kibibytes) {
        const std::string size = "size=" + std::to_string(kibibytes) + "k";
        isMounted_ = mount("tmpfs", path().c_str(), "tmpfs", 0, size.c_str()) == 0;
    }
    SmallDisk(const SmallDisk&) = delete;
    SmallDisk& operator=(const SmallDisk&) = delete;
    ~SmallDisk() {
        if (isMounted_) {
            (void)umount2(path().c_str(), MNT_DETACH);
        }
    }

    [[nodiscard]] explicit operator bool() const noexcept { return isMounted_; }
    [[nodiscard]] std::string path() const { return folder_ / ""; }

private:
    TemporaryFolder folder_;
    bool isMounted_ = false;
};

}  // namespace sluice::test
