#include "recording.hpp"

#include <gtest/gtest.h>
#include <sluice/actor.hpp>

#include <limits>
#include <stdexcept>

namespace {

using namespace sluice;
using namespace sluice::test;
using namespace std::chrono_literals;

struct Received {
    std::string what;
    Priority priority;
    bool operator==(const Received& other) const {
        return what == other.what && priority == other.priority;
    }
};

std::vector<Received> received(RecordedBus& bus) {
    std::vector<Received> all;
    bus.processWith(overload(
        [&](const Reading& reading, const RecordedBus::Header& header) {
            all.push_back({reading.place + std::to_string(reading.celsius), header.priority});
        },
        [&](const Stop&, const RecordedBus::Header& header) {
            all.push_back({"stop", header.priority});
        }));
    return all;
}

TEST(Replay, DeliversTheSameMessagesWithTheirPriorities) {
    const TemporaryFolder folder;
    const std::string path = folder / "run.mcap";
    RecordedBus bus;
    Recorder recorder(path);
    recorder.record(bus);
    (void)bus.publish(Reading{1, 0.1, "\"low\"\n", {1, 2, -3}}, Priority::low);
    (void)bus.publish(Reading{2, -1e300, "medium", {}});
    (void)bus.publish(Stop{}, Priority::high);
    bus.process();
    recorder.close();

    RecordedBus again;
    Replay replay(path);
    replay.into(again);
    std::vector<Received> all;
    while (replay.step() == ReplayStep::delivered) {
        for (Received& each : received(again)) {
            all.push_back(std::move(each));
        }
    }
    // The order in which the handlers ran.
    const std::vector<Received> expected = {{"stop", Priority::high},
                                            {"medium" + std::to_string(-1e300), Priority::medium},
                                            {"\"low\"\n" + std::to_string(0.1), Priority::low}};
    EXPECT_EQ(all, expected);
    EXPECT_EQ(replay.end(), RecordingEnd::complete);
    EXPECT_EQ(replay.statistics().delivered, 3U);
}

TEST(Replay, AHandlerMayAddHandlersAndThrow) {
    const TemporaryFolder folder;
    const std::string path = folder / "run.mcap";
    {
        Recorder recorder(path);
        const auto channel = recorder.channel<Reading>("topic");
        channel(Reading{7, std::numeric_limits<double>::infinity(), "", {}});
        recorder.channel<Stop>("stop")(Stop{});
        channel(Reading{8, 0, "", {}});
    }
    Replay replay(path);
    struct {
        Replay& replay;
        std::vector<double> seen;
        int stops = 0;
    } all{replay, {}};
    replay.handle<Reading>([&all](const Reading& reading) {  // small: stored in the receiver
        for (int i = 0; i < 20; ++i) {
            all.replay.handle<Stop>([&all](const Stop&) { ++all.stops; });
        }
        all.seen.push_back(reading.celsius);
        if (reading.sensor == 7) {
            throw std::runtime_error("seven");
        }
    });
    EXPECT_THROW((void)replay.step(), std::runtime_error);
    while (replay.step() == ReplayStep::delivered) {
    }
    EXPECT_EQ(all.seen, std::vector<double>({std::numeric_limits<double>::infinity(), 0}));
    EXPECT_EQ(all.stops, 1);
    EXPECT_EQ(replay.statistics().refused, 1U);
}

struct OfTwo : FullBusTraits {
    static constexpr std::size_t depth = 2;
    static constexpr bool priorities = false;
};

TEST(Replay, TriesAgainWhileTheBusIsFull) {
    const TemporaryFolder folder;
    const std::string path = folder / "run.mcap";
    recordReadings(path, 4);
    Bus<Messages<Reading>, OfTwo> bus;
    Replay replay(path);
    replay.into(bus, "bus");
    EXPECT_EQ(replay.step(), ReplayStep::delivered);
    EXPECT_EQ(replay.step(), ReplayStep::delivered);
    EXPECT_EQ(replay.step(), ReplayStep::full);
    EXPECT_EQ(replay.step(), ReplayStep::full);
    EXPECT_EQ(bus.process(), 2U);
    EXPECT_EQ(replay.step(), ReplayStep::delivered);
    bus.close();
    EXPECT_EQ(replay.step(), ReplayStep::end);
    EXPECT_EQ(replay.statistics().delivered, 3U);
    EXPECT_EQ(replay.statistics().refused, 1U);
}

TEST(Replay, FiltersByTypeTopicAndTime) {
    const TemporaryFolder folder;
    const std::string path = folder / "run.mcap";
    {
        Recorder recorder(path);
        const auto first = recorder.channel<Reading>("a/Reading");
        const auto second = recorder.channel<Reading>("b/Reading");
        const auto stops = recorder.channel<Stop>("a/Stop");
        first(Reading{0, 0, "", {}});
        std::this_thread::sleep_for(2ms);
        second(Reading{1, 0, "", {}});
        stops(Stop{});
    }
    const auto sensors = [&](const std::string& topic, ReplayOptions options) {
        Replay replay(path, options);
        std::vector<std::uint32_t> all;
        replay.handle<Reading>([&](const Reading& each) { all.push_back(each.sensor); }, topic);
        while (replay.step() == ReplayStep::delivered) {
        }
        return all;
    };
    using Sensors = std::vector<std::uint32_t>;
    EXPECT_EQ(sensors("", {}), Sensors({0, 1}));
    EXPECT_EQ(sensors("b/Reading", {}), Sensors({1}));
    ReplayOptions late;
    late.from = 1ms;
    EXPECT_EQ(sensors("", late), Sensors({1}));
    ReplayOptions early;
    early.to = 1ms;
    EXPECT_EQ(sensors("", early), Sensors({0}));
}

namespace newer {
/// Reading of a later version.
struct Reading {
    double humidity = 0.75;
    std::uint64_t sensor = 0;
    std::string place;
};
constexpr auto describe(wire::Type<Reading>) {
    using wire::field;
    return wire::fields(field("humidity", &Reading::humidity), field("sensor", &Reading::sensor),
                        field("place", &Reading::place));
}
}  // namespace newer

TEST(Replay, ReadsTheFieldsThatATypeStillHas) {
    const TemporaryFolder folder;
    const std::string path = folder / "run.mcap";
    recordReadings(path, 1);
    Replay replay(path);
    newer::Reading reading;
    replay.handle<newer::Reading>([&](newer::Reading&& each) { reading = std::move(each); });
    EXPECT_EQ(replay.step(), ReplayStep::delivered);
    EXPECT_EQ(reading.place, "place 0");
    EXPECT_EQ(reading.humidity, 0.75);
}

namespace older {
struct Position {
    double x;
    double y;
};
}  // namespace older
namespace newer {
struct Position {
    double time;
    double x;
    double y;
};
}  // namespace newer

TEST(Replay, TypesOfTheSameNameAreToldApart) {
    using Both = Bus<Messages<newer::Reading, Reading>>;
    const TemporaryFolder folder;
    const std::string path = folder / "run.mcap";
    {
        Both bus;
        Recorder recorder(path);
        recorder.record<Reading>(bus);
        (void)bus.publish(Reading{7, 0, "", {}});
        bus.process();
    }
    EXPECT_EQ(recordingInfo(path).topics.front(), "bus/sluice::test::Reading");
    std::uint32_t sensor = 0;
    const auto set = [&](const Reading& reading) { sensor = reading.sensor; };
    for (const std::string name : {"", "bus"}) {
        Both bus;
        const auto wrong = bus.subscribe<newer::Reading>([](const newer::Reading&) { FAIL(); });
        const auto right = bus.subscribe<Reading>(set);
        Replay replay(path);
        replay.into(bus, name);
        EXPECT_EQ(replay.step(), ReplayStep::delivered);
        bus.process();
        EXPECT_EQ(std::exchange(sensor, 0), 7U);
    }
    Replay alone(path);
    alone.handle<Reading>(set);
    EXPECT_EQ(alone.step(), ReplayStep::delivered);
    EXPECT_EQ(sensor, 7U);
}

TEST(Replay, ATypeWithoutNamesOfFieldsMustBeTheSame) {
    const TemporaryFolder folder;
    const std::string path = folder / "run.mcap";
    {
        Recorder recorder(path);
        recorder.channel<older::Position>("p")(older::Position{1, 2});
    }
    Replay changed(path);
    changed.handle<newer::Position>([](const newer::Position&) { FAIL(); });
    EXPECT_EQ(changed.step(), ReplayStep::end);
    EXPECT_EQ(changed.statistics().unmatched, 1U);
    Replay same(path);
    double y = 0;
    same.handle<older::Position>([&](const older::Position& each) { y = each.y; });
    EXPECT_EQ(same.step(), ReplayStep::delivered);
    EXPECT_EQ(y, 2);
}

TEST(Replay, RunKeepsTheTimesAndStopEndsIt) {
    const TemporaryFolder folder;
    const std::string path = folder / "run.mcap";
    {
        Recorder recorder(path);
        const auto channel = recorder.channel<Reading>("r");
        channel(Reading{});
        std::this_thread::sleep_for(20ms);
        channel(Reading{1, 0, "", {}});
    }
    using Clock = std::chrono::steady_clock;
    for (const double speed : {1.0, 2.0, 0.0}) {
        ReplayOptions options;
        options.speed = speed;
        Replay replay(path, options);
        std::vector<Clock::time_point> times;
        replay.handle<Reading>([&](const Reading&) { times.push_back(Clock::now()); });
        const auto begin = Clock::now();
        EXPECT_TRUE(replay.run());
        ASSERT_EQ(times.size(), 2U);
        if (speed != 0) {
            EXPECT_GE(times[1] - begin, 20ms / speed);
        }
    }
    ReplayOptions slow;
    slow.speed = 1e-9;
    Replay replay(path, slow);
    replay.handle<Reading>([&](const Reading&) { replay.stop(); });
    EXPECT_FALSE(replay.run());
    EXPECT_GE(replay.delay(), 20ms);
}

TEST(Replay, RunWaitsForAConsumer) {
    const TemporaryFolder folder;
    const std::string path = folder / "run.mcap";
    recordReadings(path, 1000);
    Bus<Messages<Reading>, OfTwo> bus;
    std::uint32_t handled = 0;
    const auto subscription = bus.subscribe<Reading>(
        [&](const Reading& reading) { EXPECT_EQ(reading.sensor, handled++); });
    std::thread consumer([&] { bus.run(); });
    ReplayOptions fast;
    fast.speed = 0;
    Replay replay(path, fast);
    replay.into(bus);
    EXPECT_TRUE(replay.run());
    bus.close();
    consumer.join();
    EXPECT_EQ(handled, 1000U);
}

// ---- A robot under ManualExecutor

struct Distance {
    double metres = 0;
};
constexpr auto describe(wire::Type<Distance>) {
    return wire::fields(wire::field("metres", &Distance::metres));
}
struct Start {};

struct Motor : PooledObject<Motor, Messages<Distance, Start>> {
    struct Stands {
        static void enter(Motor& motor) { motor.states += "stands "; }
    };
    struct Drives {
        static void enter(Motor& motor) { motor.states += "drives "; }
    };
    static bool isNear(const Motor& /*motor*/, const Distance& distance) {
        return distance.metres < 0.5;
    }
    using Table = Transitions<On<Stands, Start, Drives>, On<Drives, Distance, Stands, If<&isNear>>>;

    Motor() { machine.start(); }
    void handle(const Distance& distance) {
        if (onDistance) {
            onDistance(distance);
        }
        (void)machine.handle(distance);
    }
    void handle(const Start& start) {
        if (onStart) {
            onStart(start);
        }
        (void)machine.handle(start);
    }

    std::string states;
    std::function<void(const Distance&)> onDistance;
    std::function<void(const Start&)> onStart;
    StateMachine<Motor, Stands, Table> machine{*this};
};

TEST(Replay, ARobotMakesTheSameTransitions) {
    const TemporaryFolder folder;
    const std::string path = folder / "run.mcap";
    std::string states;
    {
        ManualExecutor executor(1);
        Running<Motor> motor(executor);
        Recorder recorder(path);
        motor.onDistance = recorder.channel<Distance>("motor/Distance");
        motor.onStart = recorder.channel<Start>("motor/Start");
        for (const double metres : {2.0, 0.4, 1.0, 0.3, 0.2, 5.0}) {
            (void)motor.post(Start{});
            (void)motor.post(Distance{metres});
            executor.runFor(10ms);
        }
        states = motor.states;
    }
    ManualExecutor executor(2);
    Running<Motor> motor(executor);
    Replay replay(path);
    replay.handle<Distance>([&](Distance&& each) { return motor.tryPost(std::move(each)); });
    replay.handle<Start>([&](Start&& each) { return motor.tryPost(std::move(each)); });
    do {
        executor.runFor(replay.delay());
    } while (replay.step() == ReplayStep::delivered);
    executor.runAll();
    EXPECT_EQ(states, "stands drives stands drives stands drives stands drives ");
    EXPECT_EQ(motor.states, states);
}

}  // namespace
