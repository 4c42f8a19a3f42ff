#include "harness/machine/storage.hpp"

#include <gtest/gtest.h>

#include <sstream>
#include <string>

namespace sluice::bench {
namespace {

constexpr const char* mounts = "22 1 254:1 / / rw,relatime shared:1 - ext4 /dev/vda1 rw\n"
                               "23 22 0:21 / /tmp rw shared:2 master:1 - tmpfs tmpfs rw\n"
                               "24 23 254:2 /logs /tmp/logs rw - xfs /dev/vdb rw\n";

std::string describe(const std::string& folder, const std::string& list = mounts) {
    std::istringstream text(list);
    const Storage found = storageOf(folder, text);
    return found.fileSystem + " on " + found.device;
}

TEST(StorageTest, TheInnermostMountHasTheFolder) {
    EXPECT_EQ(describe("/home"), "ext4 on /dev/vda1");
    EXPECT_EQ(describe("/tmp"), "tmpfs on tmpfs");
    EXPECT_EQ(describe("/tmp/other"), "tmpfs on tmpfs");
    EXPECT_EQ(describe("/tmp/logs/deep"), "xfs on /dev/vdb");
}

TEST(StorageTest, ANameThatBeginsAlikeIsNotInside) {
    EXPECT_EQ(describe("/tmp/logs2"), "tmpfs on tmpfs");
}

TEST(StorageTest, TheLaterOfTwoMountsOnOneFolderHidesTheOther) {
    EXPECT_EQ(describe("/home", std::string(mounts) + "25 22 0:9 / / rw - overlay overlay rw\n"),
              "overlay on overlay");
}

TEST(StorageTest, NothingIsGuessed) {
    EXPECT_EQ(describe("/home", ""), " on ");
    EXPECT_EQ(describe("/home", "22 1 254:1 / / rw\n"), " on ");
}

TEST(StorageTest, TheLogsOfThisMachineAreStoredSomewhere) {
    EXPECT_FALSE(storageOfLogs().fileSystem.empty());
}

}  // namespace
}  // namespace sluice::bench
