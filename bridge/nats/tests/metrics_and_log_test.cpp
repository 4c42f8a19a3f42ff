#include "station.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <string>

std::string runLogGuide(const std::string& url, const std::string& file);

namespace sluice::nats {
namespace {

using namespace test;

TEST(MetricsAndLogTest, TheStatesOfTheLinksAreMetrics) {
    NatsServer server;
    Station station(server);
    const auto states = [&] {
        std::string text;
        station.bridge.statistics().forEach([&](const std::string& name, std::uint64_t value) {
            text += name.rfind("link_", 0) == 0 ? name + " " + std::to_string(value) + " " : "";
        });
        return text;
    };
    EXPECT_EQ(states(), "link_high 0 link_rest 0 ");
    server.kill();
    await([&] { return states() == "link_high 1 link_rest 1 "; });
    (void)station.bridge.close(std::chrono::milliseconds(0));
    EXPECT_EQ(states(), "link_high 2 link_rest 2 ");
}

TEST(MetricsAndLogTest, AnObserverWritesIntoTheLog) {
    const NatsServer server;
    const TemporaryFolder folder;
    const std::string page = runLogGuide(server.url(), folder / "log");
    EXPECT_NE(page.find("\nnats_gaps 0\n"), std::string::npos) << page;
    const std::string log = contentOf(folder / "log");
    EXPECT_NE(log.find("the link 'high' is closed\n"), std::string::npos) << log;
    EXPECT_NE(log.find("the link 'rest' is closed\n"), std::string::npos) << log;
}

}  // namespace
}  // namespace sluice::nats
