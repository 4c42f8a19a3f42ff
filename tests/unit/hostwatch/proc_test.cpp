// Reading /proc: files, their text, and the samples of two readings.

#include "hostwatch/proc_file.hpp"
#include "hostwatch/proc_text.hpp"
#include "hostwatch/readers.hpp"
#include "proc_tree.hpp"

#include <gtest/gtest.h>

#include <sys/stat.h>

#include <memory>
#include <string>
#include <vector>

namespace hostwatch {
namespace {

TEST(ProcFile, ReadsTheFileAnewEachTime) {
    const test::ProcTree tree;
    tree.write("file", "first");
    ProcFile file(tree.path("file"));
    EXPECT_FALSE(file.read());
    EXPECT_EQ(file.text(), "first");
    tree.write("file", "2nd");
    EXPECT_FALSE(file.read());
    EXPECT_EQ(file.text(), "2nd");
    tree.write("file", "");
    EXPECT_FALSE(file.read());
    EXPECT_EQ(file.text(), "");
}

TEST(ProcFile, NamesTheReasonWhenTheFileIsMissing) {
    const test::ProcTree tree;
    ProcFile file(tree.path("absent"));
    const Problem problem = file.read();
    EXPECT_NE(problem.text.find("No such file"), std::string::npos) << problem.text;
    EXPECT_EQ(file.text(), "");
}

TEST(ProcFile, RefusesWhatIsNotARegularFile) {
    const test::ProcTree tree;
    EXPECT_TRUE(ProcFile(tree.root()).read());
    ASSERT_EQ(::mkfifo(tree.path("pipe").c_str(), 0600), 0);
    EXPECT_TRUE(ProcFile(tree.path("pipe")).read()) << "and does not wait for a writer";
    EXPECT_TRUE(ProcFile("/dev/zero").read());
}

TEST(ProcFile, ReadsUpToTheLimitAndNoFurther) {
    const test::ProcTree tree;
    tree.write("file", std::string(ProcFile::sizeLimit - 1, 'x'));
    ProcFile file(tree.path("file"));
    EXPECT_FALSE(file.read());
    EXPECT_EQ(file.text().size(), ProcFile::sizeLimit - 1);

    tree.write("file", std::string(ProcFile::sizeLimit, 'x'));
    EXPECT_FALSE(file.read());
    EXPECT_EQ(file.text().size(), ProcFile::sizeLimit);

    tree.write("file", std::string(ProcFile::sizeLimit + 1, 'x'));
    const Problem problem = file.read();
    EXPECT_NE(problem.text.find("1048576"), std::string::npos) << problem.text;
    EXPECT_EQ(file.text(), "");
}

using test::goodDiskstats;
using test::goodMeminfo;
using test::goodNetDev;
using test::goodStat;

constexpr const char* largest = "18446744073709551615";

TEST(ToNumber, TakesDigitsOnly) {
    EXPECT_EQ(toNumber("0"), 0U);
    EXPECT_EQ(toNumber("0042"), 42U);
    EXPECT_EQ(toNumber(largest), 18446744073709551615U);
    for (const char* bad : {"", "-1", "+1", " 1", "1 ", "1.5", "12a", "18446744073709551616"}) {
        EXPECT_FALSE(toNumber(bad)) << bad;
    }
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

TEST(ParseCpu, RefusesANumberBehindEnoughGoodOnesThatIsNone) {
    std::vector<CpuCounters> cpus;
    EXPECT_TRUE(parseCpu("cpu 1 2 3 4 five\n", cpus));
    EXPECT_TRUE(cpus.empty());
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

TEST(ParseMemory, KeepsToWhatFits) {
    MemoryState memory;
    EXPECT_FALSE(parseMemory("MemTotal: 18014398509481983 kB\nMemAvailable: 0 kB\n", memory));
    EXPECT_EQ(memory.total, 18446744073709550592U);
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

TEST(ParseDisks, TakesAMachineWithoutDisks) {
    std::vector<DiskCounters> disks;
    EXPECT_FALSE(parseDisks("", disks));
    EXPECT_TRUE(disks.empty());
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

using namespace std::chrono_literals;

constexpr Clock::time_point start{1000s};
const std::string netHeading = "a|b\nc|d\n";

/// Feeds one reader and returns the samples of the newest reading.
template <class Sample>
class Feed {
public:
    std::vector<Sample> operator()(std::string_view text, Clock::duration sinceStart) {
        std::vector<Sample> measured;
        problem_ = reader_->read(text, start + sinceStart, measured);
        return measured;
    }

    const Problem& problem() const { return problem_; }

private:
    std::unique_ptr<Reader<Sample>> reader_ = makeReader<Sample>();
    Problem problem_;
};

std::string disk(const char* name, int read, int written, int busy) {
    return std::string("8 0 ") + name + " 1 0 " + std::to_string(read) + " 0 1 0 " +
           std::to_string(written) + " 0 0 " + std::to_string(busy) + " 0\n";
}

std::string interface(const char* name, int received, int sent) {
    return std::string(name) + ": " + std::to_string(received) + " 0 0 0 0 0 0 0 " +
           std::to_string(sent) + " 0 0 0 0 0 0 0\n";
}

TEST(CpuReader, TakesACoreThatComesAndGoes) {
    Feed<CpuSample> feed;
    feed("cpu 0 0 0 0\ncpu0 0 0 0 0\n", 0s);
    EXPECT_EQ(feed("cpu 1 0 0 0\ncpu1 1 0 0 0\n", 1s).size(), 0U);
    EXPECT_EQ(feed("cpu 2 0 0 0\ncpu1 2 0 0 0\n", 2s).size(), 1U);
}

TEST(CpuReader, TakesAWaitingTimeThatRunsBackwards) {
    Feed<CpuSample> feed;
    feed("cpu 0 0 0 0 50\ncpu0 0 0 0 0 50\n", 0s);
    const auto measured = feed("cpu 10 0 0 0 49\ncpu0 10 0 0 0 49\n", 1s);
    ASSERT_EQ(measured.size(), 1U) << "the line of all cores is no core";
    EXPECT_DOUBLE_EQ(measured[0].busyPercent, 100);
    EXPECT_TRUE(feed("cpu 10 0 0 0 49\ncpu0 10 0 0 0 49\n", 2s).empty()) << "no tick has passed";
    EXPECT_DOUBLE_EQ(feed("cpu 20 5 10 74\ncpu0 20 5 10 124\n", 3s).at(0).busyPercent, 25);
}

TEST(MemoryReader, MeasuresAtOnce) {
    Feed<MemorySample> feed;
    const auto measured = feed(test::goodMeminfo, 0s);
    ASSERT_EQ(measured.size(), 1U);
    const auto& memory = measured[0];
    EXPECT_EQ(memory.totalBytes, 1000U * 1024);
    EXPECT_EQ(memory.usedBytes, 400U * 1024);
    EXPECT_EQ(memory.cachedBytes, 250U * 1024);
    EXPECT_EQ(memory.swapUsedBytes, 100U * 1024);
    EXPECT_TRUE(feed("MemTotal: 1 kB\n", 1s).empty());
    EXPECT_TRUE(feed.problem());
}

TEST(DiskReader, MeasuresRatesOverTheTimeBetween) {
    Feed<DiskSample> feed;
    feed(disk("sda", 100, 200, 1000), 0s);
    const auto measured = feed(disk("sda", 140, 200, 1500), 2s);
    ASSERT_EQ(measured.size(), 1U);
    const auto& sample = measured[0];
    EXPECT_EQ(sample.name.view(), "sda");
    EXPECT_DOUBLE_EQ(sample.readBytesPerSecond, 20 * 512);
    EXPECT_DOUBLE_EQ(sample.writtenBytesPerSecond, 0);
    EXPECT_DOUBLE_EQ(sample.busyPercent, 25);
    EXPECT_TRUE(feed(disk("sda", 149, 200, 1500), 2s).empty()) << "no time has passed";
    EXPECT_DOUBLE_EQ(feed(disk("sda", 149, 200, 2510), 3s).at(0).busyPercent, 100);
}

TEST(DiskReader, StartsAnewWhenACounterRunsBackwards) {
    Feed<DiskSample> feed;
    feed(disk("sda", 100, 100, 100), 0s);
    EXPECT_TRUE(feed(disk("sda", 10, 10, 10), 1s).empty());
    const auto measured = feed(disk("sda", 12, 10, 10), 2s);
    ASSERT_EQ(measured.size(), 1U);
    EXPECT_DOUBLE_EQ(measured[0].readBytesPerSecond, 1024);
}

TEST(NetworkReader, MeasuresEachInterface) {
    Feed<NetworkSample> feed;
    feed(netHeading + interface("lo", 5, 5) + interface("eth0", 1000, 10), 0s);
    const auto measured =
        feed(netHeading + interface("lo", 5, 5) + interface("eth0", 3000, 20), 500ms);
    ASSERT_EQ(measured.size(), 2U);
    const auto& sample = measured[0];
    EXPECT_EQ(sample.name.view(), "eth0");
    EXPECT_DOUBLE_EQ(sample.receivedBytesPerSecond, 4000);
    EXPECT_DOUBLE_EQ(sample.sentBytesPerSecond, 20);
}

TEST(NetworkReader, CoversTheLongerTimeAfterAReadingThatFailed) {
    Feed<NetworkSample> feed;
    feed(netHeading + interface("eth0", 1000, 1), 0s);
    EXPECT_TRUE(feed("rubbish", 1s).empty());
    EXPECT_TRUE(feed.problem());
    const auto measured = feed(netHeading + interface("eth0", 5000, 1), 4s);
    EXPECT_FALSE(feed.problem());
    EXPECT_DOUBLE_EQ(measured.at(0).receivedBytesPerSecond, 1000);
}

}  // namespace
}  // namespace hostwatch
