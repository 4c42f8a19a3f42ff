#pragma once

#include "mcap.hpp"

#include <sluice/bus/bus.hpp>
#include <sluice/wire/describe.hpp>

#include <support/temporary_folder.hpp>

#include <chrono>
#include <cstdint>
#include <fstream>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

namespace sluice::test {

struct Reading {
    std::uint32_t sensor = 0;
    double celsius = 0;
    std::string place;
    std::vector<std::int64_t> samples;
};
constexpr auto describe(wire::Type<Reading>) {
    using wire::field;
    return wire::fields(field("sensor", &Reading::sensor), field("celsius", &Reading::celsius),
                        field("place", &Reading::place), field("samples", &Reading::samples));
}
struct Stop {};

using RecordedBus = Bus<Messages<Reading, Stop>>;

inline void save(const std::string& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
}

/// Records `count` readings, in chunks of a few messages.
inline RecorderStatistics recordReadings(const std::string& path, std::uint32_t count,
                                         RecorderOptions options = {}) {
    RecordedBus bus;
    Recorder recorder(path, options);
    recorder.record(bus);
    for (std::uint32_t i = 0; i < count; ++i) {
        EXPECT_EQ(bus.publish(Reading{i, i * 0.5, "place " + std::to_string(i), {-1, i}}),
                  SendResult::ok);
        bus.process();
    }
    recorder.close();
    return recorder.statistics();
}

inline std::vector<std::uint32_t> upTo(std::size_t count) {
    std::vector<std::uint32_t> numbers(count);
    std::iota(numbers.begin(), numbers.end(), 0U);
    return numbers;
}

/// What a file contains.
struct RecordingInfo {
    std::vector<std::string> topics;
    std::vector<std::chrono::nanoseconds> times;  // since 1970
    RecorderStatistics missing;                   // the last counts
    RecordingEnd end;
};
inline RecordingInfo recordingInfo(const std::string& path) {
    detail::mcap::Reader file(path);
    RecordingInfo info;
    for (detail::mcap::Message message; file.next(message);) {
        info.topics.push_back(file.channels().at(message.channel).topic);
        info.times.emplace_back(message.logTime);
    }
    Replay replay(path);
    replay.handle<RecorderStatistics>([&](const RecorderStatistics& each) { info.missing = each; });
    while (replay.step() == ReplayStep::delivered) {
    }
    const ReplayStatistics counts = replay.statistics();
    EXPECT_EQ(counts.unmatched + counts.delivered, info.times.size());
    info.end = replay.end();
    EXPECT_EQ(info.end, file.end());
    return info;
}

/// The sensors' numbers of the file's readings.
inline std::vector<std::uint32_t> sensorsIn(Replay& replay) {
    std::vector<std::uint32_t> sensors;
    replay.handle<Reading>([&](const Reading& reading) { sensors.push_back(reading.sensor); });
    while (replay.step() == ReplayStep::delivered) {
    }
    return sensors;
}

}  // namespace sluice::test
