#include "recording.hpp"

#include <sluice/record/detail/mcap.hpp>

#include <gtest/gtest.h>
#include <support/dice.hpp>

#include <cstdlib>
#include <stdexcept>

namespace {

using namespace sluice;
using namespace sluice::test;

/// The bytes of a recording in several chunks.
std::string fileOf(const std::string& path, std::uint32_t count) {
    RecorderOptions options;
    options.chunkSize = 256;
    recordReadings(path, count, options);
    return contentOf(path);
}

TEST(Mcap, ACutFileIsReadUpToItsLastWholeChunk) {
    const TemporaryFolder folder;
    const std::string bytes = fileOf(folder / "run.mcap", 12);
    std::size_t before = 0;
    for (std::size_t size = 0; size <= bytes.size(); ++size) {
        const std::string path = folder / "cut.mcap";
        save(path, bytes.substr(0, size));
        if (size < detail::mcap::magic.size()) {
            EXPECT_THROW((void)recordingInfo(path), std::runtime_error);
            continue;
        }
        Replay replay(path);
        const auto sensors = sensorsIn(replay);
        EXPECT_GE(sensors.size(), before);
        before = sensors.size();
        EXPECT_EQ(sensors, upTo(sensors.size()));
        EXPECT_EQ(replay.end(), size == bytes.size() ? RecordingEnd::complete : RecordingEnd::cut);
    }
    EXPECT_EQ(before, 12U);
}

/// The bytes of a file by another writer, without chunks, whose messages have these times.
std::string fileWithTimes(const std::vector<std::uint64_t>& times) {
    using namespace detail::mcap;
    std::string bytes(magic);
    putRecord(bytes, Op::schema, [](std::string& to) {
        put<2>(to, 1);
        putText(to, "Reading");
        putText(to, "jsonschema");
        putText(to, "{}");
    });
    putRecord(bytes, Op::channel, [](std::string& to) {
        put<2>(to, 0);
        put<2>(to, 1);
        putText(to, "topic");
        putText(to, "json");
        putPairs(to, {});
    });
    std::uint32_t sensor = 0;
    for (const std::uint64_t time : times) {
        putRecord(bytes, Op::message, [&](std::string& to) {
            put<2>(to, 0);
            put<4>(to, 0);
            put<8>(to, time);
            put<8>(to, time);
            to += "{\"sensor\":" + std::to_string(sensor++) + "}";
        });
    }
    return bytes;
}
std::string withFooter(std::string bytes) {
    using namespace detail::mcap;
    putRecord(bytes, Op::footer, [](std::string& to) { to.append(20, '\0'); });
    return bytes + std::string(magic);
}

TEST(Mcap, MessagesOlderThanTheFirstAreReplayed) {
    const TemporaryFolder folder;
    const std::string path = folder / "order.mcap";
    save(path, withFooter(fileWithTimes({10'000'000'000'000'000'000U, 90, 80, 110})));
    ReplayOptions slow;
    slow.speed = 1e-9;  // for a message of the past, the double is below any number of nanoseconds
    Replay replay(path, slow);
    std::vector<std::uint32_t> sensors;
    replay.handle<Reading>([&](const Reading& reading) { sensors.push_back(reading.sensor); });
    EXPECT_TRUE(replay.run());
    EXPECT_EQ(sensors, upTo(4));
    EXPECT_EQ(replay.end(), RecordingEnd::complete);
}

/// Whatever the bytes are, reading ends, and stays within them.
TEST(Mcap, DamagedFilesAreRefusedOrReadInPart) {
    const TemporaryFolder folder;
    RecorderOptions plain;
    plain.chunkSize = 256;
    plain.compressionLevel = 0;
    recordReadings(folder / "plain.mcap", 10, plain);
    const std::string files[] = {fileOf(folder / "run.mcap", 10), contentOf(folder / "plain.mcap")};
    Dice dice(1);
    std::size_t read = 0;
    const std::string path = folder / "damaged.mcap";
    for (int round = 0; round < 2000; ++round) {
        std::string bytes = files[round % 2];
        for (unsigned n = 1 + dice() % 4; n != 0; --n) {
            const auto at = 8 + dice() % static_cast<unsigned>(bytes.size() - 8);
            switch (dice() % 3) {
            case 0:
                bytes[at] = static_cast<char>(dice() % 256);
                break;
            case 1:
                bytes.erase(at, dice() % 16);
                break;
            default:
                bytes.insert(at, std::string(dice() % 9, '\xff'));
            }
        }
        save(path, bytes);
        Replay replay(path);
        bool isWhole = true;
        replay.handle<Reading>([&](const Reading& reading) {
            ++read;
            isWhole = isWhole && reading.place == "place " + std::to_string(reading.sensor);
        });
        while (replay.step() == ReplayStep::delivered) {
        }
        EXPECT_NE(replay.end(), RecordingEnd::unknown);
        EXPECT_TRUE(isWhole);
    }
    EXPECT_GT(read, 1000U);
}

/// One bit differs: all messages are right or counted, or the file is not complete.
TEST(Mcap, AFlippedBitIsSeen) {
    const TemporaryFolder folder;
    RecorderOptions options;
    options.chunkSize = 256;
    for (const int level : {0, 1}) {
        options.compressionLevel = level;
        const std::string whole = folder / std::to_string(level);
        recordReadings(whole, 4, options);
        std::string bytes = contentOf(whole);
        const std::string path = folder / "flipped.mcap";
        for (std::size_t at = detail::mcap::magic.size(); at < bytes.size(); at += 7) {
            const char before = std::exchange(bytes[at], static_cast<char>(bytes[at] ^ 1));
            save(path, bytes);
            Replay replay(path);
            bool isRight = true;
            std::uint32_t next = 0;
            replay.handle<Reading>([&](const Reading& reading) {
                isRight = isRight && reading.sensor == next && reading.celsius == next * 0.5 &&
                          reading.place == "place " + std::to_string(next);
                ++next;
            });
            while (replay.step() == ReplayStep::delivered) {
            }
            const ReplayStatistics counts = replay.statistics();
            EXPECT_TRUE((isRight && next + counts.unmatched + counts.undecodable == 4) ||
                        replay.end() != RecordingEnd::complete)
                << level << " " << at << " of " << bytes.size();
            bytes[at] = before;
        }
    }
}

/// A length that a file claims allocates nothing.
TEST(Mcap, ClaimsBeyondTheFileAreRefused) {
    using namespace detail::mcap;
    const TemporaryFolder folder;
    for (const std::uint64_t size : {std::uint64_t{1} << 62U, Reader::maxContent}) {
        std::string bytes(magic);
        putRecord(bytes, Op::chunk, [&](std::string& to) {
            put<8>(to, 0);
            put<8>(to, 0);
            put<8>(to, size);
            put<4>(to, 0);
            putText(to, "zstd");
            put<8>(to, 4);
            to += "none";
        });
        bytes += bytes.substr(magic.size());
        put<1>(bytes, static_cast<unsigned char>(Op::chunk));
        put<8>(bytes, size);
        save(folder / "claims.mcap", bytes);
        Reader reader(folder / "claims.mcap");
        Message message;
        EXPECT_FALSE(reader.next(message));
        EXPECT_EQ(reader.damaged(), 2U);
        EXPECT_FALSE(reader.hasEnd());
    }
}

/// A few bytes of a file become many pairs, and one schema the schema of many channels.
TEST(Mcap, DescriptionsOfChannelsHaveALimit) {
    using namespace detail::mcap;
    const TemporaryFolder folder;
    std::string bytes(magic);
    putRecord(bytes, Op::schema, [](std::string& to) {
        put<2>(to, 1);
        putText(to, std::string(1 << 20, 'x'));
        putText(to, "jsonschema");
        putText(to, "{}");
    });
    const auto addChannel = [&](std::uint64_t id, std::size_t pairs) {
        putRecord(bytes, Op::channel, [&](std::string& to) {
            put<2>(to, id);
            put<2>(to, 1);
            putText(to, "topic");
            putText(to, "json");
            putPairs(to, Pairs(pairs));
        });
    };
    addChannel(0, 100'000);
    for (std::uint64_t id = 1; id <= 200; ++id) {
        addChannel(id % 100 + 1, 1);  // as often as they like
    }
    save(folder / "bomb.mcap", withFooter(bytes));
    Reader reader(folder / "bomb.mcap");
    Message message;
    EXPECT_FALSE(reader.next(message));
    EXPECT_EQ(reader.channels().count(0), 0U);
    EXPECT_GT(reader.channels().size(), 50U);
    EXPECT_LT(reader.channels().size(), 64U);
    EXPECT_GT(reader.damaged(), 1U);
    EXPECT_EQ(recordingInfo(folder / "bomb.mcap").end, RecordingEnd::damaged);
}

TEST(Mcap, OtherMethodsOfCompressionAreCountedAsDamage) {
    using namespace detail::mcap;
    const TemporaryFolder folder;
    std::string bytes(magic);
    putRecord(bytes, Op::chunk, [&](std::string& to) {
        to.append(28, '\0');
        putText(to, "lz4");
        put<8>(to, 0);
    });
    save(folder / "lz4.mcap", withFooter(bytes));
    EXPECT_EQ(recordingInfo(folder / "lz4.mcap").end, RecordingEnd::damaged);
}

#if defined(SLUICE_RECORD_PYTHON)
/// Runs a command of mcap_files.py, which uses the official package of the format.
bool runScript(const std::string& arguments) {
    return std::system((SLUICE_RECORD_PYTHON " " SLUICE_RECORD_SCRIPT " " + arguments).c_str()) ==
           0;
}

TEST(Mcap, TheOfficialReaderReadsOurFiles) {
    const TemporaryFolder folder;
    for (const auto encoding : {RecordEncoding::messagePack, RecordEncoding::json}) {
        for (const int level : {0, 1}) {
            RecorderOptions options;
            options.encoding = encoding;
            options.chunkSize = 500;
            options.compressionLevel = level;
            const std::string path = folder / "run.mcap";
            const auto counts = recordReadings(path, 50, options);
            EXPECT_EQ(counts.written, 50U);
            EXPECT_TRUE(runScript("check " + path + " 50"));
            std::remove(path.c_str());
        }
    }
}

TEST(Mcap, FilesOfTheOfficialWriterAreReplayed) {
    const TemporaryFolder folder;
    for (const std::string options : {"zstd", "none", "zstd unchunked"}) {
        const std::string path = folder / "theirs.mcap";
        ASSERT_TRUE(runScript("write " + path + " 50 " + options));
        Replay replay(path);
        EXPECT_EQ(sensorsIn(replay), upTo(50)) << options;
        EXPECT_EQ(replay.end(), RecordingEnd::complete) << options;
        EXPECT_EQ(replay.statistics().delivered, 50U) << options;
    }
}
#endif

}  // namespace
