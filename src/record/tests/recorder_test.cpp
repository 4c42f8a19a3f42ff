#include "recording.hpp"

#include <gtest/gtest.h>
#include <support/dice.hpp>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

bool runRecordingGuide(const std::string& folder);  // docs/snippets

namespace {

using namespace sluice;
using namespace sluice::test;
using namespace std::chrono_literals;

TEST(Recorder, TheGuideRecordsAndReplays) {
    const TemporaryFolder folder;
    EXPECT_TRUE(runRecordingGuide(folder / ""));
}

TEST(Recorder, DoesNotOverwriteOrFollowALink) {
    const TemporaryFolder folder;
    const std::string path = folder / "run.mcap";
    { const Recorder first(path); }
    struct stat about {};
    ASSERT_EQ(::stat(path.c_str(), &about), 0);
    EXPECT_EQ(about.st_mode & 0777U, 0600U);
    EXPECT_THROW(Recorder(path, {}), std::runtime_error);
    std::filesystem::create_symlink(folder / "elsewhere", folder / "link");
    EXPECT_THROW(Recorder(folder / "link", {}), std::runtime_error);
    EXPECT_FALSE(std::filesystem::exists(folder / "elsewhere"));
    EXPECT_EQ(recordingInfo(path).end, RecordingEnd::complete);
    for (std::size_t RecorderOptions::*const size :
         {&RecorderOptions::laneSize, &RecorderOptions::chunkSize}) {
        RecorderOptions options;
        options.*size = (std::size_t{128} << 20U) + 1;
        EXPECT_THROW(Recorder(folder / "large", options), std::invalid_argument);
        EXPECT_FALSE(std::filesystem::exists(folder / "large"));
    }
}

TEST(Recorder, CountsWhatTheLaneAndTheEncoderRefuse) {
    const TemporaryFolder folder;
    const std::string path = folder / "run.mcap";
    RecordedBus bus;
    RecorderOptions options;
    options.laneSize = 4096;
    Recorder recorder(path, options);
    recorder.channel<Stop>("\xC3\xA9\xC2\x9B"
                           "2J")(Stop{});  // a letter, then a command that clears a terminal
    recorder.record<Reading>(bus, "sensors");
    (void)bus.publish(Reading{1, 0, std::string(5000, 'x'), {}});
    (void)bus.publish(Reading{2, 0, "\xff", {}});
    (void)bus.publish(Reading{3, 0, "short", {}});
    (void)bus.publish(Stop{});  // not recorded
    bus.process();
    recorder.close();
    const RecorderStatistics counts = recorder.statistics();
    EXPECT_EQ(counts.lost, 1U);
    EXPECT_EQ(counts.unencodable, 1U);
    EXPECT_EQ(counts.accepted, 2U);
    EXPECT_EQ(counts.written, 2U);
    const RecordingInfo info = recordingInfo(path);
    EXPECT_EQ(info.times.size(), 3U);
    EXPECT_EQ(info.missing.lost, 1U);
    EXPECT_EQ(info.missing.unencodable, 1U);
    EXPECT_EQ(info.missing.accepted, 2U);
#if defined(SLUICE_INFO)
    for (const std::string line :
         {"1  sensors/Reading", "1  \xC3\xA9??2J", "^lost 1, unencodable 1, failed 0"}) {
        EXPECT_EQ(std::system((SLUICE_INFO " " + path + " | grep -q '" + line + "'").c_str()), 0);
    }
    EXPECT_NE(std::system((SLUICE_INFO " " + (folder / "none")).c_str()), 0);
#endif
}

TEST(Recorder, TwoMayBeginAndEndWhileABusRuns) {
    const TemporaryFolder folder;
    RecordedBus bus;
    std::thread consumer([&] { bus.run(); });
    std::thread publisher([&] {
        for (std::uint32_t i = 0; bus.publish(Reading{i, 0, "", {}}) != SendResult::closed; ++i) {
        }
    });
    for (const std::string round : {"0", "1", "2"}) {
        const std::string paths[] = {folder / ("a" + round), folder / ("b" + round)};
        {
            Recorder first(paths[0]);
            Recorder second(paths[1]);
            first.record(bus);
            second.record(bus);
            while (first.statistics().accepted < 100 || second.statistics().accepted < 100) {
                std::this_thread::yield();
            }
        }
        EXPECT_EQ(bus.subscriptionCount<Reading>(), 0U);
        for (const std::string& path : paths) {
            Replay replay(path);
            const auto sensors = sensorsIn(replay);
            EXPECT_GE(sensors.size(), 100U);
            EXPECT_TRUE(std::is_sorted(sensors.begin(), sensors.end()));
            EXPECT_EQ(replay.end(), RecordingEnd::complete);
        }
    }
    bus.close();
    publisher.join();
    consumer.join();
}

/// How many threads may run a handler of SIGTERM.
std::size_t threadsWithSignals() {
    std::size_t count = 0;
    for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
        std::ifstream status(task.path() / "status");
        std::string word;
        while (word != "SigBlk:" && status >> word) {
        }
        status >> word;
        count += (std::stoull(word, nullptr, 16) >> (SIGTERM - 1) & 1U) == 0 ? 1 : 0;
    }
    return count;
}

TEST(Recorder, ItsThreadTakesNoSignal) {
    const TemporaryFolder folder;
    const std::size_t before = threadsWithSignals();
    RecorderOptions options;
    options.chunkSize = 1;
    options.chunkAge = std::chrono::milliseconds::max();
    Recorder recorder(folder / "run.mcap", options);
    recorder.channel<Stop>("stop")(Stop{});
    while (recorder.statistics().written == 0) {  // until then, the thread may not have begun
        std::this_thread::yield();
    }
    EXPECT_EQ(threadsWithSignals(), before);
}

TEST(Recorder, CallsAfterCloseCountAsFailed) {
    const TemporaryFolder folder;
    for (int round = 0; round < 5; ++round) {
        Recorder recorder(folder / std::to_string(round));
        const auto channel = recorder.channel<Reading>("topic");
        std::atomic<std::uint32_t> sent{0};
        std::atomic<bool> isEnd{false};
        std::thread caller([&] {
            for (; !isEnd; ++sent) {
                channel(Reading{});
            }
        });
        while (sent < 10) {
            std::this_thread::yield();
        }
        recorder.close();
        for (const std::uint32_t before = sent; sent < before + 10;) {
            std::this_thread::yield();
        }
        isEnd = true;
        caller.join();
        const RecorderStatistics counts = recorder.statistics();
        EXPECT_EQ(counts.accepted + counts.lost, sent);
        EXPECT_EQ(counts.accepted, counts.written + counts.failed);
        EXPECT_GE(counts.failed + counts.lost, 9U);
    }
}

/// Writes beyond the limit fail, as on a full disk.
class FileLimit {
public:
    explicit FileLimit(rlim_t bytes) {
        ::getrlimit(RLIMIT_FSIZE, &before_);
        rlimit limit = before_;
        limit.rlim_cur = bytes;
        ::setrlimit(RLIMIT_FSIZE, &limit);
        handler_ = std::signal(SIGXFSZ, SIG_IGN);
    }
    ~FileLimit() { lift(); }
    void lift() {
        ::setrlimit(RLIMIT_FSIZE, &before_);
        std::signal(SIGXFSZ, handler_);
    }

private:
    rlimit before_{};
    void (*handler_)(int) = nullptr;
};

TEST(Recorder, SurvivesAFullDiskInAChunk) {
    const TemporaryFolder folder;
    const std::string path = folder / "run.mcap";
    RecordedBus bus;
    RecorderOptions options;
    options.chunkSize = 4096;
    Recorder recorder(path, options);
    recorder.record(bus);
    FileLimit limit(20'000);
    std::uint32_t sent = 0;
    Dice dice(1);
    const auto send = [&] {
        std::string noise(100, 'x');
        std::generate(noise.begin(), noise.end(), [&] { return static_cast<char>(dice() % 128); });
        (void)bus.publish(Reading{sent++, 0, noise, {}});
        bus.process();
        std::this_thread::yield();
    };
    while (recorder.statistics().failed == 0) {
        send();
    }
    EXPECT_LE(std::filesystem::file_size(path), 20'000U);
    limit.lift();
    const std::uint64_t before = recorder.statistics().written;
    EXPECT_GT(before, 0U);
    while (recorder.statistics().written == before) {
        send();
    }
    recorder.close();
    const RecorderStatistics counts = recorder.statistics();
    EXPECT_EQ(counts.accepted + counts.lost, sent);
    EXPECT_EQ(counts.written + counts.failed, counts.accepted);
    Replay replay(path);
    EXPECT_EQ(sensorsIn(replay).size(), counts.written);
    EXPECT_EQ(replay.end(), RecordingEnd::complete);
    EXPECT_EQ(recordingInfo(path).missing.failed, counts.failed);
}

TEST(Recorder, AFullDiskAtTheEndLeavesWholeChunks) {
    const TemporaryFolder folder;
    const std::string path = folder / "run.mcap";
    RecordedBus bus;
    Recorder recorder(path);
    recorder.record(bus);
    {
        const FileLimit limit(100);
        (void)bus.publish(Reading{});
        bus.process();
        recorder.close();
    }
    EXPECT_EQ(recorder.statistics().failed, 1U);
    const RecordingInfo info = recordingInfo(path);
    EXPECT_EQ(info.times.size(), 0U);
    EXPECT_EQ(info.end, RecordingEnd::cut);
}

TEST(Recorder, AKilledProgramLeavesWholeChunks) {
    const TemporaryFolder folder;
    const std::string path = folder / "run.mcap";
    const pid_t child = ::fork();
    if (child == 0) {
        auto* const bus = new RecordedBus;
        RecorderOptions options;
        options.chunkSize = 4096;
        auto* const recorder = new Recorder(path, options);
        recorder->record(*bus);
        for (std::uint32_t i = 0;; ++i) {
            (void)bus->publish(Reading{i, 0, "endless", {}});
            bus->process();
            if (i % 64 == 0) {
                std::this_thread::yield();
            }
        }
    }
    while (!std::filesystem::exists(path) || std::filesystem::file_size(path) < 100'000) {
        std::this_thread::yield();
    }
    ::kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    Replay replay(path);
    const auto sensors = sensorsIn(replay);
    EXPECT_GT(sensors.size(), 100U);
    EXPECT_TRUE(std::is_sorted(sensors.begin(), sensors.end()));
    EXPECT_EQ(replay.end(), RecordingEnd::cut);
}

TEST(Recorder, RecordsSeveralBusesWhileOthersAsk) {
    const TemporaryFolder folder;
    const std::string path = folder / "run.mcap";
    constexpr std::uint32_t perBus = 20'000;
    RecordedBus buses[2];
    RecorderOptions options;
    options.laneSize = 64 << 10;  // so that it wraps
    options.chunkSize = 16 << 10;
    Recorder recorder(path, options);
    recorder.record(buses[0], "first");
    std::vector<std::thread> threads;
    for (RecordedBus& bus : buses) {
        threads.emplace_back([&bus] { bus.run(); });
        threads.emplace_back([&bus] {
            for (std::uint32_t i = 0; i < perBus;) {
                const Reading reading{i, 0, std::string(i % 50, 'x'), {}};
                i += bus.publish(reading) == SendResult::ok ? 1 : 0;
            }
            bus.close();
        });
    }
    recorder.record(buses[1], "second");  // while it runs
    RecorderStatistics before;
    while (!buses[0].isDrained() || !buses[1].isDrained()) {
        const RecorderStatistics now = recorder.statistics();
        EXPECT_GE(now.accepted, before.accepted);
        EXPECT_LE(now.written + now.failed, now.accepted);
        before = now;
    }
    for (std::thread& each : threads) {
        each.join();
    }
    recorder.close();
    const RecorderStatistics counts = recorder.statistics();
    EXPECT_EQ(counts.written, counts.accepted);
    EXPECT_LE(counts.accepted + counts.lost, 2 * perBus);
    EXPECT_GE(counts.accepted + counts.lost, perBus);
    Replay replay(path);
    std::vector<std::uint32_t> first;
    replay.handle<Reading>(
        [&](const Reading& reading) {
            EXPECT_EQ(reading.place, std::string(reading.sensor % 50, 'x'));
            first.push_back(reading.sensor);
        },
        "first/Reading");
    std::uint64_t reports = 0;
    replay.handle<RecorderStatistics>([&](const RecorderStatistics&) { ++reports; });
    while (replay.step() == ReplayStep::delivered) {
    }
    EXPECT_TRUE(std::is_sorted(first.begin(), first.end()));
    EXPECT_EQ(first.size() + replay.statistics().unmatched, counts.written);
    EXPECT_EQ(reports != 0, counts.lost != 0);
}

TEST(Recorder, LogTimesFollowSteadyClock) {
    const TemporaryFolder folder;
    const std::string path = folder / "run.mcap";
    const auto before = std::chrono::system_clock::now();
    recordReadings(path, 2);
    const RecordingInfo info = recordingInfo(path);
    EXPECT_GE(info.times.front(), before.time_since_epoch() - 1s);
    EXPECT_LE(info.times.back(), std::chrono::system_clock::now().time_since_epoch() + 1s);
}

struct OneHandler : FullBusTraits {
    static constexpr std::size_t maxHandlers = 1;
};

TEST(Recorder, ATypeWithoutRoomForItsHandlerIsRefused) {
    const TemporaryFolder folder;
    Recorder recorder(folder / "run.mcap");
    Bus<Messages<Stop>, OneHandler> bus;
    const auto first = bus.subscribe<Stop>([](const Stop&) {});
    EXPECT_THROW(recorder.record(bus), std::invalid_argument);
    bus.close();
    recorder.record(bus);  // as subscribe() does
}

TEST(Recorder, AVisitorRecordsPriorities) {
    const TemporaryFolder folder;
    const std::string path = folder / "run.mcap";
    {
        Recorder recorder(path);
        recorder.channel<Stop>("stops")(Stop{});
        const auto channel = recorder.channel<Reading>("readings");
        RecordedBus bus;
        (void)bus.publish(Reading{}, Priority::low);
        bus.processWith(overload(
            [&](const Reading& each, const RecordedBus::Header& header) { channel(each, header); },
            [](const Stop&) {}));
    }
    EXPECT_EQ(recordingInfo(path).topics.back(), "readings");
    Replay replay(path);
    auto priority = Priority::high;
    replay.handle<Reading>([&](const Reading&, Priority each) { priority = each; });
    EXPECT_EQ(replay.step(), ReplayStep::delivered);
    EXPECT_EQ(priority, Priority::low);
}

}  // namespace
