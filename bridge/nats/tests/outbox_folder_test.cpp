#include "../src/outbox_folder.hpp"

#include "support/sanitizers.hpp"
#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

/// The errno of each flush. 0: flushes succeed.
std::atomic<int> flushError{0};
/// True: a flush waits until another thread has appended. It waits for some time only, because the
/// other threads may wait for this flush.
std::atomic<bool> isOverlapped{false};

struct stat statusOf(int file) {
    struct stat status {};
    (void)fstat(file, &status);
    return status;
}

/// The bytes of messages that are on the disk.
class FlushedBytes {
public:
    /// Notes that a flush of the file has ended. `size` is the bytes of the file when the flush
    /// began.
    void add(ino_t file, off_t size) {
        constexpr off_t head = 16;
        const std::lock_guard guard(mutex_);
        off_t& known = known_[file];
        sum_ += size == head ? 0 : size - known;  // a new file may have the number of an old one
        known = size;
    }
    std::size_t sum() {
        const std::lock_guard guard(mutex_);
        return static_cast<std::size_t>(sum_);
    }

private:
    std::mutex mutex_;
    std::map<ino_t, off_t> known_;
    off_t sum_ = 0;
};
FlushedBytes flushed;

}  // namespace

// Replaces the function of the system.
extern "C" int fdatasync(int file) {
    const struct stat before = statusOf(file);
    for (int i = 0; isOverlapped.load() && i < 200; ++i) {
        if (statusOf(file).st_size != before.st_size) {
            break;
        }
        std::this_thread::yield();
    }
    if (flushError.load() != 0) {
        errno = flushError.load();
        return -1;
    }
    const auto result = static_cast<int>(syscall(SYS_fdatasync, file));
    if (result == 0) {
        flushed.add(before.st_ino, before.st_size);
    }
    return result;
}

namespace sluice::nats::detail {
namespace {

using namespace test;

bool appended(OutboxFolder& outbox, const std::string& message, bool& isPushed) {
    isPushed = false;
    return outbox.append("subject", reinterpret_cast<const unsigned char*>(message.data()),
                         message.size(), [&] { isPushed = true; });
}

/// Returns the messages that the next process finds in the folder.
std::vector<std::string> messagesIn(const std::string& folder) {
    std::vector<std::string> found;
    OutboxFolder outbox(folder);
    outbox.replay([&](const char*, const unsigned char* bytes, std::size_t size) {
        found.emplace_back(reinterpret_cast<const char*>(bytes), size);
    });
    return found;
}

std::uintmax_t bytesIn(const std::string& folder) {
    std::uintmax_t sum = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        std::error_code isGone;
        const std::uintmax_t size = entry.file_size(isGone);
        sum += isGone ? 0 : size;
    }
    return sum;
}

// If the disk refuses a message, the message is not sent, and the next process does not find it.
TEST(OutboxFolderTest, AFailedFlushRefusesTheMessageAndNoLaterOne) {
    const TemporaryFolder folder;
    {
        OutboxFolder outbox(folder / "high");
        outbox.replay([](const char*, const unsigned char*, std::size_t) { FAIL(); });
        bool isPushed = false;
        EXPECT_TRUE(appended(outbox, "before", isPushed));
        EXPECT_TRUE(isPushed);
        for (const int error : {EIO, ENOSPC}) {
            flushError = error;
            EXPECT_FALSE(appended(outbox, "refused", isPushed));
            EXPECT_FALSE(isPushed);
            flushError = 0;
            EXPECT_TRUE(appended(outbox, "later", isPushed));
            EXPECT_TRUE(isPushed);
        }
    }
    EXPECT_EQ(messagesIn(folder / "high"), (std::vector<std::string>{"before", "later", "later"}));
}

// If the refused message counted as a message of its file, the file would never be removed.
TEST(OutboxFolderTest, AFileThatEndedWithAFailedFlushIsRemovedWhenItsMessagesAreDone) {
    const TemporaryFolder folder;
    OutboxFolder outbox(folder / "high");
    outbox.replay([](const char*, const unsigned char*, std::size_t) { FAIL(); });
    bool isPushed = false;
    EXPECT_TRUE(appended(outbox, "before", isPushed));
    flushError = EIO;
    EXPECT_FALSE(appended(outbox, "refused", isPushed));
    flushError = 0;
    EXPECT_TRUE(appended(outbox, "later", isPushed));
    EXPECT_TRUE(std::filesystem::exists(folder / "high/1.outbox"));
    outbox.freeOldest();
    EXPECT_FALSE(std::filesystem::exists(folder / "high/1.outbox"));
    EXPECT_TRUE(std::filesystem::exists(folder / "high/2.outbox"));
}

TEST(OutboxFolderTest, AFailedFlushRefusesAllMessagesThatWaitForIt) {
    const TemporaryFolder folder;
    OutboxFolder outbox(folder / "high");
    outbox.replay([](const char*, const unsigned char*, std::size_t) { FAIL(); });
    std::atomic<int> pushed{0};
    isOverlapped = true;
    flushError = EIO;
    std::vector<std::thread> threads;
    std::atomic<int> accepted{0};
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&] {
            for (int k = 0; k < 50; ++k) {
                const unsigned char byte = 0;
                accepted += outbox.append("subject", &byte, 1, [&] { ++pushed; }) ? 1 : 0;
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    isOverlapped = false;
    flushError = 0;
    EXPECT_EQ(accepted, 0);
    EXPECT_EQ(pushed, 0);
}

// At each moment a thread waits for the disk, and each message is done at once. Each message is
// flushed in its own file, also the last ones of a file.
TEST(OutboxFolderTest, TheFolderOfManyThreadsStaysSmall) {
    const TemporaryFolder folder;
    OutboxFolder outbox(folder / "high");
    outbox.replay([](const char*, const unsigned char*, std::size_t) { FAIL(); });
    const std::vector<unsigned char> message(64UL * 1024UL);
    std::atomic<std::uintmax_t> largest{0};
    const std::size_t before = flushed.sum();
    isOverlapped = true;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&] {
            for (int k = 0; k < 100; ++k) {
                EXPECT_TRUE(outbox.append("subject", message.data(), message.size(), [] {}));
                outbox.freeOldest();
                std::uintmax_t seen = largest.load();
                const std::uintmax_t now = bytesIn(folder / "high");
                while (now > seen && !largest.compare_exchange_weak(seen, now)) {
                }
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    isOverlapped = false;
    constexpr std::uintmax_t mebibyte = 1024UL * 1024UL;
    EXPECT_LT(largest, 5 * mebibyte);
    const std::size_t record = 12 + std::string("subject").size() + message.size();
    EXPECT_EQ(flushed.sum() - before, 400 * record);
}

/// Lets the process open only this many more files.
class MoreFiles {
public:
    explicit MoreFiles(int count) {
        (void)getrlimit(RLIMIT_NOFILE, &before_);
        const int next = dup(0);
        close(next);
        setLimit(static_cast<rlim_t>(next + count));
    }
    MoreFiles(const MoreFiles&) = delete;
    MoreFiles& operator=(const MoreFiles&) = delete;
    ~MoreFiles() { setLimit(before_.rlim_cur); }

private:
    void setLimit(rlim_t limit) const {
        const rlimit wanted{limit, before_.rlim_max};
        (void)setrlimit(RLIMIT_NOFILE, &wanted);
    }
    rlimit before_{};
};

TEST(OutboxFolderTest, AFolderThatCannotBeReadForAMomentLosesNothing) {
#if SLUICE_TEST_ASAN
    GTEST_SKIP() << "UndefinedBehaviorSanitizer needs files of its own to look at memory";
#endif
    const TemporaryFolder folder;
    {
        OutboxFolder outbox(folder / "high");
        outbox.replay([](const char*, const unsigned char*, std::size_t) { FAIL(); });
        bool isPushed = false;
        ASSERT_TRUE(appended(outbox, "once", isPushed));
    }
    int failures = 0;
    std::vector<std::string> found;
    for (int count = 0; found.empty(); ++count) {
        ASSERT_LT(count, 10);
        const MoreFiles limit(count);
        try {
            found = messagesIn(folder / "high");
        } catch (const std::runtime_error&) {
            ++failures;
        }
    }
    EXPECT_EQ(found, std::vector<std::string>{"once"});
    EXPECT_GE(failures, 2);  // at least the folder and the segment could not be opened
}

// A file of 4 TiB, which has no bytes on the disk.
TEST(OutboxFolderTest, ASegmentThatFindsNoMemoryIsClosedAndKept) {
#if SLUICE_TEST_ASAN || SLUICE_TEST_TSAN
    GTEST_SKIP() << "the sanitizers end the program if it finds no memory";
#endif
    const TemporaryFolder folder;
    std::filesystem::create_directory(folder / "high");
    const std::string segment = folder / "high/1.outbox";
    std::ofstream(segment, std::ios::binary) << "SLUICEO1";
    std::filesystem::resize_file(segment, std::uintmax_t{4} << 40U);
    const auto openFiles = [] {
        const std::filesystem::directory_iterator all("/proc/self/fd");
        return std::distance(begin(all), end(all));
    };
    const std::ptrdiff_t before = openFiles();
    EXPECT_THROW((void)messagesIn(folder / "high"), std::bad_alloc);
    EXPECT_EQ(openFiles(), before);
    EXPECT_TRUE(std::filesystem::exists(segment));
}

TEST(OutboxFolderTest, FilesWithOtherNamesAreLeftAlone) {
    const TemporaryFolder folder;
    const std::string high = folder / "high";
    std::vector<std::string> names{"01.outbox",
                                   "1 (copy).outbox",
                                   "1.outbox.bak",
                                   "readme.outbox",
                                   "18446744073709551615.outbox",
                                   "99999999999999999999.outbox"};
    {
        OutboxFolder outbox(high);
        outbox.replay([](const char*, const unsigned char*, std::size_t) { FAIL(); });
        bool isPushed = false;
        ASSERT_TRUE(appended(outbox, "once", isPushed));
    }
    for (const std::string& name : names) {
        std::filesystem::copy_file(high + "/1.outbox", high + "/" + name);
    }
    std::filesystem::create_directory(high + "/2.outbox");
    EXPECT_EQ(messagesIn(high), std::vector<std::string>{"once"});
    for (const std::string& name : names) {
        EXPECT_TRUE(std::filesystem::exists(high + "/" + name)) << name;
    }
}

}  // namespace
}  // namespace sluice::nats::detail
