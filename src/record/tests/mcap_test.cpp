#include "recording.hpp"

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
    for (std::size_t size = bytes.size() % 5; size <= bytes.size(); size += 5) {
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

template <std::size_t Size>
std::string text(const char (&literal)[Size]) {
    return {literal, Size - 1};
}

/// The bytes of a file by another writer, without chunks, whose messages have these times.
std::string fileWithTimes(const std::vector<std::uint64_t>& times) {
    using namespace detail::mcap;
    std::string bytes(magic);
    constexpr std::uint16_t schema = 1;
    constexpr std::uint16_t channel = 0;
    putRecord(bytes, Op::schema, schema, text("Reading"), text("jsonschema"), text("{}"));
    putRecord(bytes, Op::channel, channel, schema, text("topic"), text("msgpack"), Pairs());
    char sensor = 0;
    for (const std::uint64_t time : times) {
        putRecord(bytes, Op::message, channel, std::uint32_t{0}, time, time,
                  Raw{text("\x81\xa6sensor") + sensor++});
    }
    return bytes;
}
std::string withFooter(std::string bytes) {
    using namespace detail::mcap;
    putRecord(bytes, Op::footer, Raw{std::string(20, '\0')});
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
    const std::string files[] = {fileOf(folder / "run.mcap", 10),
                                 withFooter(fileWithTimes(std::vector<std::uint64_t>(10)))};
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
            isWhole = isWhole && (reading.place == "place " + std::to_string(reading.sensor) ||
                                  round % 2 == 1);
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
    std::string bytes = fileOf(folder / "whole.mcap", 4);
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
            << at << " of " << bytes.size();
        bytes[at] = before;
    }
}

using Mcap = detail::mcap::Reader;

/// The bytes of a chunk that claims these sizes.
std::string chunkOf(const std::string& records, const std::string& method, std::uint64_t size,
                    std::uint64_t packedSize) {
    std::string bytes;
    putRecord(bytes, detail::mcap::Op::chunk, std::uint64_t{0}, std::uint64_t{0}, size,
              std::uint32_t{0}, method, packedSize, detail::mcap::Raw{records});
    return bytes;
}
std::string headOf(detail::mcap::Op op, std::uint64_t size) {
    std::string bytes;
    detail::mcap::put(bytes, static_cast<std::uint8_t>(op));
    detail::mcap::put(bytes, size);
    return bytes;
}

/// The file is read to its end, without a message, and its claims allocate nothing.
TEST(Mcap, WrongChunksAreDamage) {
    using detail::mcap::Op;
    const TemporaryFolder folder;
    const std::string message = headOf(Op::message, 22) + std::string(22, '\0');
    constexpr std::uint64_t huge = ~std::uint64_t{0};
    std::string many;  // in memory, a message takes more than its head in the file
    putRecord(many, Op::channel, std::uint32_t{0}, std::string(), std::string(), std::string());
    while (many.size() < (std::size_t{32} << 20U)) {
        many += message;
    }
    const std::string bombs[] = {
        chunkOf(many, "", many.size(), many.size()),
        chunkOf("none", "zstd", std::uint64_t{1} << 62U, 4),
        chunkOf("none", "zstd", Mcap::maxContent, 4),
        chunkOf("", "zstd", 1, huge),
        chunkOf("", "lz4", 0, 0),
        chunkOf("four", "", 3, 4),
        chunkOf(headOf(Op::message, huge), "", 9, 9),
        chunkOf(headOf(Op::message, 4) + "four", "", 13, 13),
        chunkOf(message, "", message.size(), message.size()),  // of a channel that is not there
        chunkOf(chunkOf("", "", 0, 0), "", 49, 49),
    };
    for (const std::string& bytes : bombs) {
        save(folder / "bomb.mcap", withFooter(std::string(detail::mcap::magic) + bytes));
        const RecordingInfo info = recordingInfo(folder / "bomb.mcap");
        EXPECT_EQ(info.end, RecordingEnd::damaged) << &bytes - bombs;
        EXPECT_TRUE(info.times.empty());
    }
    for (const std::uint64_t size : {huge, huge / 2 + 1, Mcap::maxContent}) {
        for (const auto op : {Op::chunk, Op::footer, Op::header}) {
            save(folder / "cut.mcap", std::string(detail::mcap::magic) + headOf(op, size));
            EXPECT_EQ(recordingInfo(folder / "cut.mcap").end, RecordingEnd::cut);
        }
    }
}

/// A few bytes of a file become many pairs, and one schema the schema of many channels.
TEST(Mcap, DescriptionsOfChannelsHaveALimit) {
    using namespace detail::mcap;
    const TemporaryFolder folder;
    std::string bytes(magic);
    constexpr std::uint16_t schema = 1;
    const std::string mebibyte(1 << 20, 'x');  // as a name it is kept for each channel
    putRecord(bytes, Op::schema, schema, mebibyte, text("jsonschema"), mebibyte);
    const auto addChannel = [&](std::uint16_t id, const std::string& pairs) {
        putRecord(bytes, Op::channel, id, schema, text("topic"), text("msgpack"), pairs);
    };
    addChannel(0, std::string(24'000'000, '\0'));  // texts without bytes
    for (std::uint16_t id = 1; id <= 600; ++id) {
        addChannel(static_cast<std::uint16_t>(id % 300 + 1), "");  // as often as they like
    }
    save(folder / "bomb.mcap", withFooter(bytes));
    Reader reader(folder / "bomb.mcap");
    Message message;
    EXPECT_FALSE(reader.next(message));
    EXPECT_EQ(reader.channels().count(0), 0U);
    EXPECT_GT(reader.channels().size(), 200U);
    EXPECT_LT(reader.channels().size(), 256U);
    EXPECT_EQ(reader.end(), RecordingEnd::damaged);
}

#if defined(SLUICE_RECORD_PYTHON)
/// Runs a script, such as mcap_files.py, which uses the official package of the format.
bool runScript(const std::string& arguments, const std::string& script = SLUICE_RECORD_SCRIPT) {
    return std::system((SLUICE_RECORD_PYTHON " " + script + " " + arguments).c_str()) == 0;
}

TEST(Mcap, TheOfficialReaderReadsOurFiles) {
    const TemporaryFolder folder;
    RecorderOptions options;
    options.chunkSize = 500;
    const std::string path = folder / "run.mcap";
    EXPECT_EQ(recordReadings(path, 50, options).written, 50U);
    EXPECT_TRUE(runScript("check " + path + " 50"));
    const std::string copy = folder / "copy.mcap";
    EXPECT_TRUE(runScript(path + " " + copy, SLUICE_RECORD_JSON));
    EXPECT_TRUE(runScript("check " + copy + " 50"));

    const std::string bytes = contentOf(path);
    save(path, bytes.substr(0, bytes.size() / 2));
    EXPECT_TRUE(runScript(path + " " + copy + ".cut", SLUICE_RECORD_JSON));
    EXPECT_EQ(recordingInfo(copy + ".cut").end, RecordingEnd::complete);
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
