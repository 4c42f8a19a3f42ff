#include "hostwatch/proc_text.hpp"

#include "proc_tree.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace hostwatch {
namespace {

using test::goodDiskstats;
using test::goodMeminfo;
using test::goodNetDev;
using test::goodStat;

constexpr const char* largest = "18446744073709551615";

TEST(ToNumber, TakesDigitsOnly) {
    EXPECT_EQ(toNumber("0"), 0U);
    EXPECT_EQ(toNumber("0042"), 42U);
    EXPECT_EQ(toNumber(largest), 18446744073709551615U);
    for (const char* bad : {"", "-1", "+1", " 1", "1 ", "1.5", "0x10", "12a", "1e3"}) {
        EXPECT_FALSE(toNumber(bad)) << bad;
    }
}

TEST(ToNumber, RefusesWhatDoesNotFit) {
    EXPECT_FALSE(toNumber("18446744073709551616"));
    EXPECT_FALSE(toNumber(std::string(100000, '9')));
}

TEST(IsPartitionOf, KnowsTheKernelsNames) {
    EXPECT_TRUE(isPartitionOf("sda1", "sda"));
    EXPECT_TRUE(isPartitionOf("vda15", "vda"));
    EXPECT_TRUE(isPartitionOf("nvme0n1p2", "nvme0n1"));
    EXPECT_TRUE(isPartitionOf("mmcblk0p1", "mmcblk0"));
    EXPECT_FALSE(isPartitionOf("sda", "sda"));
    EXPECT_FALSE(isPartitionOf("sdaa", "sda"));
    EXPECT_FALSE(isPartitionOf("sdb1", "sda"));
    EXPECT_FALSE(isPartitionOf("md12", "md1"));
    EXPECT_FALSE(isPartitionOf("md123", "md1"));
    EXPECT_FALSE(isPartitionOf("nvme0n1p", "nvme0n1"));
    EXPECT_FALSE(isPartitionOf("sda1", ""));
}

TEST(ParseCpu, ReadsTotalAndCores) {
    std::vector<CpuCounters> cpus;
    const Problem problem = parseCpu(goodStat, cpus);
    EXPECT_EQ(problem.text, "");
    ASSERT_EQ(cpus.size(), 3U);
    EXPECT_EQ(cpus[0].core, CpuCounters::allCores);
    EXPECT_EQ(cpus[0].busy, 150U);
    EXPECT_EQ(cpus[0].idle, 850U);
    EXPECT_EQ(cpus[2].core, 1);
    EXPECT_EQ(cpus[2].busy, 70U);
}

TEST(ParseCpu, CountsEveryKindOfWork) {
    std::vector<CpuCounters> cpus;
    EXPECT_FALSE(parseCpu("cpu 1 20 300 4000 50000 600000 7000000 80000000 9 9\n", cpus));
    ASSERT_EQ(cpus.size(), 1U);
    EXPECT_EQ(cpus[0].busy, 87600321U);
    EXPECT_EQ(cpus[0].idle, 54000U);
}

TEST(ParseCpu, TakesTheFourColumnsOfOldKernels) {
    std::vector<CpuCounters> cpus;
    EXPECT_FALSE(parseCpu("cpu 1 2 3 4\n", cpus));
    ASSERT_EQ(cpus.size(), 1U);
    EXPECT_EQ(cpus[0].busy, 6U);
}

TEST(ParseCpu, KeepsTheGoodLinesAndNamesTheFirstBadOne) {
    std::vector<CpuCounters> cpus;
    const Problem problem = parseCpu("cpu 1 2 3 4\ncpu0 1 2 x 4 5\ncpux 1 2 3 4\n"
                                     "cpu99999999 1 2 3 4\ncpu2 1 2 3\ncpu3 1 2 3 4\n",
                                     cpus);
    EXPECT_NE(problem.text.find("line 2"), std::string::npos) << problem.text;
    ASSERT_EQ(cpus.size(), 2U);
    EXPECT_EQ(cpus[1].core, 3);
}

TEST(ParseCpu, RefusesANumberBehindEnoughGoodOnesThatIsNone) {
    std::vector<CpuCounters> cpus;
    EXPECT_TRUE(parseCpu("cpu 1 2 3 4 five\n", cpus));
    EXPECT_TRUE(cpus.empty());
}

TEST(ParseCpu, RefusesSumsThatDoNotFit) {
    std::vector<CpuCounters> cpus;
    const std::string big = largest;
    EXPECT_TRUE(parseCpu("cpu " + big + " 1 0 0\n", cpus));
    EXPECT_TRUE(parseCpu("cpu 0 0 0 " + big + " 1\n", cpus));
    EXPECT_TRUE(cpus.empty());
    EXPECT_FALSE(parseCpu("cpu " + big + " 0 0 " + big + " 0\n", cpus));
}

TEST(ParseCpu, SaysWhenTheLineOfAllCoresIsMissing) {
    std::vector<CpuCounters> cpus;
    EXPECT_NE(parseCpu("", cpus).text, "");
    EXPECT_NE(parseCpu("intr 1 2 3\n", cpus).text, "");
    EXPECT_NE(parseCpu("cpu0 1 2 3 4\n", cpus).text, "") << "a core is not all of them";
    EXPECT_NE(parseCpu("\n\n\n", cpus).text, "");
}

TEST(ParseCpu, LosesOnlyTheLineThatWasCutShort) {
    std::vector<CpuCounters> cpus;
    const Problem problem = parseCpu("cpu 1 2 3 4\ncpu0 1 2 3 4", cpus);
    EXPECT_NE(problem.text.find("line 2: cut short"), std::string::npos) << problem.text;
    EXPECT_EQ(cpus.size(), 1U);
}

TEST(ParseMemory, ReadsBytes) {
    MemoryState memory;
    const Problem problem = parseMemory(goodMeminfo, memory);
    EXPECT_EQ(problem.text, "");
    EXPECT_EQ(memory.total, 1000U * 1024);
    EXPECT_EQ(memory.available, 600U * 1024);
    EXPECT_EQ(memory.cached, 250U * 1024);
    EXPECT_EQ(memory.swapTotal, 500U * 1024);
    EXPECT_EQ(memory.swapFree, 400U * 1024);
}

TEST(ParseMemory, NeedsTotalAndAvailable) {
    MemoryState memory;
    EXPECT_NE(parseMemory("MemAvailable: 1 kB\n", memory).text.find("MemTotal"), std::string::npos);
    EXPECT_NE(parseMemory("MemTotal: 1 kB\n", memory).text.find("MemAvailable"), std::string::npos);
    EXPECT_TRUE(parseMemory("", memory));
    EXPECT_FALSE(parseMemory("MemTotal: 2 kB\nMemAvailable: 1 kB\n", memory));
    EXPECT_EQ(memory.swapTotal, 0U);
}

TEST(ParseMemory, LeavesTheResultAloneWhenAWantedLineIsBroken) {
    const std::string available = "MemAvailable: 1 kB\n";
    for (const char* total : {"MemTotal: many kB\n", "MemTotal: -5 kB\n", "MemTotal: 5 MB\n",
                              "MemTotal: 5\n", "MemTotal:\n", "MemTotal: 18014398509481986 kB\n"}) {
        MemoryState memory;
        memory.total = 77;
        EXPECT_TRUE(parseMemory(available + total, memory)) << total;
        EXPECT_EQ(memory.total, 77U);
    }
}

TEST(ParseMemory, TakesTheLargestNumberThatFits) {
    MemoryState memory;
    EXPECT_FALSE(parseMemory("MemTotal: 18014398509481983 kB\nMemAvailable: 0 kB\n", memory));
    EXPECT_EQ(memory.total, 18446744073709550592U);
}

TEST(ParseMemory, RefusesMoreFreeThanThereIs) {
    MemoryState memory;
    EXPECT_TRUE(parseMemory("MemTotal: 1 kB\nMemAvailable: 2 kB\n", memory));
    EXPECT_TRUE(parseMemory("MemTotal: 2 kB\nMemAvailable: 1 kB\nSwapFree: 1 kB\n", memory));
}

TEST(ParseMemory, IgnoresForeignLinesUnlessTheFileIsCutShort) {
    MemoryState memory;
    const std::string good(goodMeminfo);
    EXPECT_FALSE(parseMemory(good + "Whatever\n", memory));
    EXPECT_TRUE(parseMemory(good + "Hugepages", memory));
}

TEST(ParseDisks, ReadsUsedWholeDisks) {
    std::vector<DiskCounters> disks;
    const Problem problem = parseDisks(goodDiskstats, disks);
    EXPECT_EQ(problem.text, "");
    ASSERT_EQ(disks.size(), 2U);
    EXPECT_EQ(disks[0].name.view(), "sda");
    EXPECT_EQ(disks[0].sectorsRead, 2000U);
    EXPECT_EQ(disks[0].sectorsWritten, 6000U);
    EXPECT_EQ(disks[0].busyMilliseconds, 80U);
    EXPECT_EQ(disks[1].name.view(), "nvme0n1");
}

TEST(ParseDisks, TakesAMachineWithoutDisks) {
    std::vector<DiskCounters> disks;
    EXPECT_FALSE(parseDisks("", disks));
    EXPECT_TRUE(disks.empty());
}

TEST(ParseDisks, KeepsTheGoodLinesAndNamesTheFirstBadOne) {
    std::vector<DiskCounters> disks;
    const Problem problem = parseDisks("8 0 sda 1 1 1 1 1 1 1 1 1 1\n"
                                       "8 16 sdb 1 1 1\n"
                                       "8 x sdc 1 1 1 1 1 1 1 1 1 1\n"
                                       "8 32\n"
                                       "\n"
                                       "8 48 sdd 1 1 1 1 1 1 1 -1 1 1\n"
                                       "8 64 sde 1 1 1 1 1 1 1 1 1 1\n",
                                       disks);
    EXPECT_NE(problem.text.find("line 2"), std::string::npos) << problem.text;
    ASSERT_EQ(disks.size(), 2U);
    EXPECT_EQ(disks[1].name.view(), "sde");
}

TEST(ParseDisks, ShowsNamesATerminalCannotMisunderstand) {
    std::vector<DiskCounters> disks;
    EXPECT_FALSE(parseDisks("8 0 a\x1b[2J\x7f\xc3\xa4 1 1 1 1 1 1 1 1 1 1\n", disks));
    ASSERT_EQ(disks.size(), 1U);
    EXPECT_EQ(disks[0].name.view(), "a?[2J???");
}

TEST(ParseDisks, CutsANameThatIsTooLong) {
    std::vector<DiskCounters> disks;
    EXPECT_FALSE(parseDisks("8 0 " + std::string(100000, 'x') + " 1 1 1 1 1 1 1 1 1 1\n", disks));
    ASSERT_EQ(disks.size(), 1U);
    EXPECT_EQ(disks[0].name.view(), std::string(DeviceName::capacity(), 'x'));
    EXPECT_TRUE(disks[0].name.truncated());
}

TEST(ParseNetwork, ReadsInterfacesWithTraffic) {
    std::vector<NetworkCounters> interfaces;
    const Problem problem = parseNetwork(goodNetDev, interfaces);
    EXPECT_EQ(problem.text, "");
    ASSERT_EQ(interfaces.size(), 2U);
    EXPECT_EQ(interfaces[0].name.view(), "eth0");
    EXPECT_EQ(interfaces[0].bytesReceived, 167334622U);
    EXPECT_EQ(interfaces[0].bytesSent, 123106U);
    EXPECT_EQ(interfaces[1].name.view(), "lo") << "the loopback comes last";
}

TEST(ParseNetwork, WantsTheHeading) {
    std::vector<NetworkCounters> interfaces;
    EXPECT_TRUE(parseNetwork("", interfaces));
    EXPECT_TRUE(parseNetwork("Inter-| Receive\n", interfaces));
    EXPECT_TRUE(parseNetwork("eth0: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n", interfaces));
    EXPECT_FALSE(parseNetwork("a|b\nc|d\n", interfaces));
    EXPECT_TRUE(interfaces.empty());
}

TEST(ParseNetwork, KeepsTheGoodLinesAndNamesTheFirstBadOne) {
    std::vector<NetworkCounters> interfaces;
    const Problem problem = parseNetwork("a|b\nc|d\n"
                                         "eth0: 1 2 3\n"
                                         "no colon at all\n"
                                         ": 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n"
                                         "eth1: 1 2 3 4 5 6 7 8 x 10 11 12 13 14 15 16\n"
                                         "eth2: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n",
                                         interfaces);
    EXPECT_NE(problem.text.find("line 3"), std::string::npos) << problem.text;
    ASSERT_EQ(interfaces.size(), 1U);
    EXPECT_EQ(interfaces[0].bytesSent, 9U);
}

/// Every parser must survive any bytes: zeros, no line ends, nothing but line ends, one huge line.
TEST(Parsers, SurviveGarbage) {
    const std::vector<std::string> garbage{std::string(1 << 20, '\0'), std::string(1 << 20, '\xff'),
                                           std::string(1 << 18, '\n'), std::string(1 << 20, ' '),
                                           std::string(1 << 20, '9'),  std::string(1 << 20, ':')};
    for (const std::string& text : garbage) {
        std::vector<CpuCounters> cpus;
        std::vector<DiskCounters> disks;
        std::vector<NetworkCounters> interfaces;
        MemoryState memory;
        EXPECT_TRUE(parseCpu(text, cpus));
        EXPECT_TRUE(parseMemory(text, memory));
        EXPECT_TRUE(parseDisks(text, disks));
        EXPECT_TRUE(parseNetwork(text, interfaces));
        EXPECT_TRUE(cpus.empty() && disks.empty() && interfaces.empty());
    }
}

/// A file cut anywhere gives a problem or a whole number of entries, never half a number.
TEST(Parsers, NeverReadHalfALine) {
    for (std::size_t length = 0; length < goodStat.size(); ++length) {
        std::vector<CpuCounters> cpus;
        const bool whole = length == 0 || goodStat[length - 1] == '\n';
        const Problem problem = parseCpu(goodStat.substr(0, length), cpus);
        EXPECT_EQ(static_cast<bool>(problem), !whole || length == 0) << length;
        for (const CpuCounters& cpu : cpus) {
            EXPECT_GE(cpu.busy + cpu.idle, 500U) << length;
        }
    }
    for (std::size_t length = 0; length < goodNetDev.size(); ++length) {
        std::vector<NetworkCounters> interfaces;
        const bool hasProblem =
            static_cast<bool>(parseNetwork(goodNetDev.substr(0, length), interfaces));
        const bool whole = length != 0 && goodNetDev[length - 1] == '\n' && length > 120;
        EXPECT_EQ(hasProblem, !whole) << length;
    }
}

}  // namespace
}  // namespace hostwatch
