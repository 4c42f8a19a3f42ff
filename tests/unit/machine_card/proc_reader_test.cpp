#include "proc_reader.hpp"

#include <gtest/gtest.h>

namespace machine_card {
namespace {

TEST(ProcReaderTest, UnderstandsTheLoad) {
    const auto load = parseLoad("0.75 1.50 2.25 3/123 4567\n");
    ASSERT_TRUE(load);
    EXPECT_EQ(load->oneMinute, 0.75);
    EXPECT_EQ(load->fifteenMinutes, 2.25);
    EXPECT_FALSE(parseLoad(""));
    EXPECT_FALSE(parseLoad("0.75 many"));
}

TEST(ProcReaderTest, UnderstandsTheMemory) {
    const auto memory =
        parseMemory("MemTotal:       2048 kB\nMemFree: 1 kB\nMemAvailable:    1024 kB\n");
    ASSERT_TRUE(memory);
    EXPECT_EQ(memory->totalKib, 2048U);
    EXPECT_EQ(memory->availableKib, 1024U);
    EXPECT_FALSE(parseMemory("SwapTotal: 7 kB\n"));
}

TEST(ProcReaderTest, UnderstandsADiskThatWasUsed) {
    const auto disk = parseDisk("   8       0 sda 10 11 12 13 14 15 16 17 0 18 19 0 0 0 0 0 0");
    ASSERT_TRUE(disk);
    EXPECT_EQ(disk->name, "sda");
    EXPECT_EQ(disk->sectorsRead, 12U);
    EXPECT_EQ(disk->sectorsWritten, 16U);
    EXPECT_FALSE(parseDisk("   7       0 loop0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0"));
    EXPECT_FALSE(parseDisk("   7       0"));
}

TEST(ProcReaderTest, UnderstandsAnInterface) {
    const auto interface = parseInterface("  eth0:1000 2 3 4 5 6 7 8 2000 10 11 12 13 14 15 16");
    ASSERT_TRUE(interface);
    EXPECT_EQ(interface->name, "eth0");
    EXPECT_EQ(interface->bytesReceived, 1000U);
    EXPECT_EQ(interface->bytesSent, 2000U);
    EXPECT_FALSE(parseInterface(" face |bytes    packets errs drop"));
    EXPECT_FALSE(parseInterface("eth0: 1 2 3"));
}

TEST(ProcReaderTest, MissingFilesAreEmpty) {
    const Snapshot snapshot = readSnapshot("no/such/folder");
    EXPECT_EQ(snapshot.load + snapshot.memory + snapshot.disks + snapshot.interfaces, "");
}

}  // namespace
}  // namespace machine_card
