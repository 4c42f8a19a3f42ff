// The blocks of docs/guide/inside.md. It needs the library sluice::live.

#include <sluice/actor.hpp>
#include <sluice/bus.hpp>
#include <sluice/inspect.hpp>
#include <sluice/live/live_page.hpp>
#include <sluice/queue.hpp>

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <string>
#include <string_view>
#include <thread>

#include <unistd.h>

namespace {

struct Scan {};
struct Stop {};

class Mapper : public sluice::ActiveObject<Mapper, sluice::Messages<Scan, Stop>> {
public:
    void handle(const Scan& /*scan*/) {}
    void handle(const Stop& /*stop*/) {}
};

sluice::Bus<sluice::Messages<Scan, Stop>> bus;

TEST(InsideGuideTest, APageShowsTheProgram) {
    sluice::Running<Mapper> mapper({"mapper"});

    sluice::Inspector inspector;
    const auto watchBus = inspector.watch("control", bus);
    const auto watchMapper = inspector.watch("mapper", mapper);
    const auto watchThreads = inspector.watch("threads", sluice::readThreads);
    inspector.addFlow("laser", "control", "Scan");
    inspector.addFlow("control", "mapper");

    const sluice::LivePage page(inspector, {});
    std::printf("%s\n", page.address().c_str());

    EXPECT_EQ(page.address().substr(0, 17), "http://127.0.0.1:");
}

TEST(InsideGuideTest, ASocketAndAToken) {
    const sluice::Inspector inspector;
    const std::string path = testing::TempDir() + "inside_guide_" + std::to_string(::getpid());
    {
        sluice::LiveOptions options;
        options.unixSocket = path;
        const sluice::LivePage page(inspector, options);
        EXPECT_EQ(page.address(), "unix:" + path);
    }
    const std::string secret = "0123456789abcdef";
    sluice::LiveOptions options;
    options.address = "0.0.0.0";
    options.token = secret;
    options.hostNames = {"robot.lan"};
    const sluice::FlightRecorder recorder;
    options.recorder = &recorder;
    const sluice::LivePage page(inspector, options);
    EXPECT_FALSE(page.address().empty());
}

TEST(InsideGuideTest, NumbersOfTheProgramItself) {
    sluice::Inspector inspector;
    const auto watch = inspector.watch("main", [](sluice::ObjectReadings& out) {
        out.gauge("robot_battery_percent", "Charge of the battery.", 83);
    });
    std::string text;
    sluice::writeMetrics(
        inspector.snapshot(), [&](std::string_view part) { text += part; },
        sluice::MetricsFormat::openMetrics);
    EXPECT_NE(text.find("robot_battery_percent{object=\"main\"} 83\n"), std::string::npos);
}

TEST(InsideGuideTest, FindingsInATest) {
    sluice::Inspector inspector;
    const auto watchBus = inspector.watch("control", bus);
    const sluice::Snapshot before = inspector.snapshot();
    while (bus.publish(Scan{}, sluice::Priority::low) == sluice::SendResult::ok) {
    }
    const auto found = sluice::findings(before, inspector.snapshot());
    for (const sluice::Finding& each : found) {
        std::printf("%s: %s\n", each.object.c_str(), each.text.c_str());
    }
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].text.substr(0, 14), "low is refused");
}

}  // namespace
