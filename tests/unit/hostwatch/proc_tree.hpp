#pragma once

#include "support/testing.hpp"

#include <filesystem>
#include <fstream>
#include <system_error>

namespace hostwatch::test {

/// A directory that looks like /proc, gone with the object.
class ProcTree {
public:
    ProcTree() {
        std::string pattern = ::testing::TempDir() + "hostwatch-XXXXXX";
        const char* const made = ::mkdtemp(pattern.data());
        EXPECT_NE(made, nullptr) << pattern;
        root_ = pattern;
    }
    ~ProcTree() {
        std::error_code ignored;
        std::filesystem::remove_all(root_, ignored);
    }
    ProcTree(const ProcTree&) = delete;
    ProcTree& operator=(const ProcTree&) = delete;

    const std::string& root() const { return root_; }
    std::string path(const std::string& file) const { return root_ + '/' + file; }

    void write(const std::string& file, std::string_view text) const {
        std::error_code error;
        std::filesystem::create_directories(std::filesystem::path(path(file)).parent_path(), error);
        std::ofstream stream(path(file), std::ios::binary);
        stream.write(text.data(), static_cast<std::streamsize>(text.size()));
        EXPECT_TRUE(stream.flush().good()) << file;
    }

private:
    std::string root_;
};

inline constexpr std::string_view goodStat = "cpu  100 0 50 850 0 0 0 0 0 0\n"
                                             "cpu0 60 0 20 420 0 0 0 0 0 0\n"
                                             "cpu1 40 0 30 430 0 0 0 0 0 0\n"
                                             "intr 5 0 0\n";
inline constexpr std::string_view goodMeminfo = "MemTotal:       1000 kB\n"
                                                "MemFree:         300 kB\n"
                                                "MemAvailable:    600 kB\n"
                                                "Cached:          250 kB\n"
                                                "SwapCached:        1 kB\n"
                                                "SwapTotal:       500 kB\n"
                                                "SwapFree:        400 kB\n"
                                                "HugePages_Total:   0\n";
inline constexpr std::string_view goodDiskstats =
    "   7       0 loop0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n"
    "   8       0 sda 10 1 2000 4 20 5 6000 7 0 80 9 0 0 0 0 0 0\n"
    "   8       1 sda1 9 1 1990 4 20 5 6000 7 0 80 9 0 0 0 0 0 0\n"
    " 259       0 nvme0n1 1 0 8 0 0 0 0 0 0 3 0\n";
inline constexpr std::string_view goodNetDev =
    "Inter-|   Receive                            |  Transmit\n"
    " face |bytes    packets errs drop fifo frame |bytes    packets errs\n"
    "    lo:    3193      29    0    0    0     0          0         0     3193 29 0 0 0 0 0 0\n"
    "  ifb0:       0       0    0    0    0     0          0         0        0  0 0 0 0 0 0 0\n"
    "  eth0:167334622   3476    0    0    0     0          0         0   123106 15 0 0 0 0 0 0\n";

/// /proc/meminfo with this share of the memory in use.
inline std::string meminfoOf(int percentUsed) {
    return "MemTotal: 100 kB\nMemAvailable: " + std::to_string(100 - percentUsed) +
           " kB\nCached: 0 kB\nSwapTotal: 0 kB\nSwapFree: 0 kB\n";
}

/// Fills the tree with all four files.
inline void writeGoodFiles(const ProcTree& tree) {
    tree.write("stat", goodStat);
    tree.write("meminfo", goodMeminfo);
    tree.write("diskstats", goodDiskstats);
    tree.write("net/dev", goodNetDev);
}

}  // namespace hostwatch::test
