#include "bridged_bus.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace sluice::nats {
namespace {

using namespace std::chrono_literals;
using namespace test;

using Change = std::function<void(NatsOptions&)>;

/// The error of a bridge with changed options. There is no server, because a setting is refused
/// before the bridge connects.
std::string failureOf(const Change& change) {
    NatsOptions options;
    options.url = "nats://127.0.0.1:1";
    options.durable.stream = "fleet";
    change(options);
    return test::failureOf(options);
}

TEST(OptionsTest, TheUsualOnesAreTaken) {
    EXPECT_EQ(failureOf([](NatsOptions&) {}).find("nats: cannot connect to nats://127.0.0.1:1"),
              0U);
    const auto largest = [](NatsOptions& o) {
        o.maxMessageSize = std::size_t{1} << 30U;
        o.durable.ackWait = std::chrono::hours(24 * 365);
        o.durable.forgetAfter = 0ms;
        o.reconnectWait = 0ms;
    };
    EXPECT_EQ(failureOf(largest).find("nats: cannot connect to nats://127.0.0.1:1"), 0U);
}

TEST(OptionsTest, EachWrongSettingIsOneLineWithItsValueAndItsLimit) {
    using D = DurableOptions;
    const auto durable = [](auto D::*member, auto value) -> Change {
        return [=](NatsOptions& o) { o.durable.*member = value; };
    };
    const auto own = [](auto member, auto value) -> Change {
        return [=](NatsOptions& o) { o.*member = value; };
    };
    const std::string year = "; it must be at most 31536000000";
    const std::size_t huge = std::numeric_limits<std::size_t>::max();
    const std::string hugeIs = " is " + std::to_string(huge) + "; it must be at most ";
    const std::vector<std::pair<std::string, Change>> cases{
        {"connectTimeout is 0; it must be at least 1", own(&NatsOptions::connectTimeout, 0ms)},
        {"writeTimeout is -1; it must be at least 0", own(&NatsOptions::writeTimeout, -1ms)},
        {"connectTimeout is 2147483648; it must be at most 2147483647",
         own(&NatsOptions::connectTimeout, std::chrono::milliseconds(2147483648))},
        {"writeTimeout is 2147483648; it must be at most 2147483647",
         own(&NatsOptions::writeTimeout, std::chrono::milliseconds(2147483648))},
        {"reconnectWait is -1; it must be at least 0", own(&NatsOptions::reconnectWait, -1ms)},
        {"reconnectWaitLimit is 99; it must be at least 100",
         own(&NatsOptions::reconnectWaitLimit, 99ms)},
        {"reconnectWaitLimit is 9223372036854775807" + year,
         own(&NatsOptions::reconnectWaitLimit, std::chrono::milliseconds::max())},
        {"reconnectJitter is -1; it must be at least 0", own(&NatsOptions::reconnectJitter, -1ms)},
        {"sendBuffer is 0; it must be at least 1", own(&NatsOptions::sendBuffer, std::size_t{0})},
        {"importBacklog is 0; it must be at least 1", own(&NatsOptions::importBacklog, 0)},
        {"maxRequests is 0; it must be at least 1", own(&NatsOptions::maxRequests, std::size_t{0})},
        {"maxRequests" + hugeIs + "65536", own(&NatsOptions::maxRequests, huge)},
        {"maxMessageSize is 63; it must be at least 64",
         own(&NatsOptions::maxMessageSize, std::size_t{63})},
        {"maxMessageSize" + hugeIs + "1073741824", own(&NatsOptions::maxMessageSize, huge)},
        {"outboxMessages is 3; it must be at least 4", durable(&D::outboxMessages, std::size_t{3})},
        {"outboxMessages" + hugeIs + "16777216", durable(&D::outboxMessages, huge)},
        {"inFlight is 0; it must be at least 1", durable(&D::inFlight, std::size_t{0})},
        {"inFlight" + hugeIs + "16777216", durable(&D::inFlight, huge)},
        {"pullBatch is 0; it must be at least 1", durable(&D::pullBatch, 0)},
        {"pullBatch is 2147483647; it must be at most 16777216",
         durable(&D::pullBatch, std::numeric_limits<int>::max())},
        {"ackWait is 0; it must be at least 1", durable(&D::ackWait, 0ms)},
        {"ackWait is 9223372036854775807" + year,
         durable(&D::ackWait, std::chrono::milliseconds::max())},
        {"retryWait is -1; it must be at least 1", durable(&D::retryWait, -1ms)},
        {"duplicateWindow is 99; it must be at least 100", durable(&D::duplicateWindow, 99ms)},
        {"redeliverAfter is 0; it must be at least 1", durable(&D::redeliverAfter, 0ms)},
        {"forgetAfter is -1; it must be at least 0", durable(&D::forgetAfter, -1ms)},
        {"forgetAfter is 9223372036854775807" + year,
         durable(&D::forgetAfter, std::chrono::milliseconds::max())},
        {"streamBytes is 0; it must be at least 1", durable(&D::streamBytes, std::int64_t{0})},
        {"durable.shareWork is true; it needs durable.name, the name that the programs share",
         durable(&D::shareWork, true)},
        {"replicas is 0; it must be at least 1", durable(&D::replicas, 0)},
    };
    for (const auto& [line, change] : cases) {
        EXPECT_EQ(failureOf(change), "nats: " + line);
    }
}

TEST(OptionsTest, AStreamHasANameOfOneWord) {
    for (const std::string& name :
         {std::string("a b"), std::string("a.b"), std::string("a*"), std::string(">"),
          std::string("a/b"), std::string("a\\b"), std::string("a\tb"), std::string("a\x7F"),
          std::string("a\"b"), std::string("flotte-1_\xC3\xA9")}) {
        EXPECT_EQ(
            failureOf([&](NatsOptions& o) { o.durable.stream = name; }),
            "nats: durable.stream is '" + name +
                "'; it must not contain a space, a control character, a sign beyond ASCII, or one "
                "of . * > / \\ \"");
    }
    const std::string line = failureOf([](NatsOptions& o) { o.durable.stream = "fleet-1_A"; });
    EXPECT_EQ(line.find("nats: cannot connect"), 0U) << line;
}

}  // namespace
}  // namespace sluice::nats
