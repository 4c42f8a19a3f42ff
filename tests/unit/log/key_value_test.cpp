#include "support/log_sinks.hpp"

#include <sluice/log/backend.hpp>
#include <sluice/log/deferred.hpp>
#include <sluice/log/detail/format/pair_text.hpp>
#include <sluice/log/key_value.hpp>
#include <sluice/log/logger.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::log::test {
namespace {

using sluice::test::CollectingSink;

enum class Color : unsigned char { red = 3 };
enum class Side : char { buy = '1' };
enum class Flag : bool { no, yes };

/// What a text sink prints of a pair, after it has travelled as bytes.
std::string printed(const key_value& pair) {
    std::vector<std::byte> bytes(detail::sizeOfPair(pair));
    EXPECT_EQ(detail::writePair(bytes.data(), pair), bytes.data() + bytes.size());
    spdlog::memory_buf_t text;
    detail::printPairs({bytes.data(), bytes.size()}, text);
    return {text.data(), text.size()};
}

TEST(KeyValueTest, PrintsEachTypeOfValue) {
    const char* const none = nullptr;
    EXPECT_EQ(printed(kv("k", -7)), " k=-7");
    EXPECT_EQ(printed(kv("k", std::numeric_limits<std::int64_t>::min())),
              " k=-9223372036854775808");
    EXPECT_EQ(printed(kv("k", std::numeric_limits<std::uint64_t>::max())),
              " k=18446744073709551615");
    EXPECT_EQ(printed(kv("k", std::uint8_t{200})), " k=200");
    EXPECT_EQ(printed(kv("k", 1.5)), " k=1.5");
    EXPECT_EQ(printed(kv("k", 0.1F)), " k=0.1");
    EXPECT_EQ(printed(kv("k", true)), " k=true");
    EXPECT_EQ(printed(kv("k", 'x')), " k=x");
    EXPECT_EQ(printed(kv("k", Color::red)), " k=3");
    EXPECT_EQ(printed(kv("k", nullptr)), " k=null");
    EXPECT_EQ(printed(kv("k", none)), " k=null");
    EXPECT_EQ(printed(kv("k", "array")), " k=array");
    EXPECT_EQ(printed(kv("k", std::string("string"))), " k=string");
    EXPECT_EQ(printed(kv("k", std::string_view("view"))), " k=view");
}

TEST(KeyValueTest, AnEnumerationIsANumberWhateverItsType) {
    EXPECT_EQ(printed(kv("k", Side::buy)), " k=49");
    EXPECT_EQ(printed(kv("k", Flag::no)), " k=0");
    EXPECT_EQ(printed(kv("k", Flag::yes)), " k=1");
}

TEST(KeyValueTest, QuotesWhatWouldNotBeFoundAgain) {
    EXPECT_EQ(printed(kv("k", "two words")), " k=\"two words\"");
    EXPECT_EQ(printed(kv("k", "")), " k=\"\"");
    EXPECT_EQ(printed(kv("k", "a=b")), " k=\"a=b\"");
    EXPECT_EQ(printed(kv("k", "say \"no\"\\")), R"( k="say \"no\"\\")");
    EXPECT_EQ(printed(kv("k", "line\nfeed\x01")), R"( k="line\nfeed\u0001")");
    EXPECT_EQ(printed(kv("a key", 1)), " \"a key\"=1");
    EXPECT_EQ(printed(kv("k", "\xC3\xA4\xFF")), " k=\xC3\xA4\xFF");
}

class KeyValueCalls : public testing::Test {
protected:
    std::vector<std::string> texts() {
        EXPECT_TRUE(by->flush_wait());
        return sink->texts();
    }

    std::shared_ptr<backend> by = std::make_shared<backend>();
    std::shared_ptr<CollectingSink> sink = std::make_shared<CollectingSink>();
    std::shared_ptr<spdlog::logger> logger = std::make_shared<async_logger>("log", sink, by);
};

TEST_F(KeyValueCalls, DeferredCallsHavePairs) {
    SLUICE_LOG_INFO(logger, "order {} done", 17, kv("ms", 1.5), kv("user", std::string("ann")));
    SLUICE_LOG_INFO(logger, "no field {}", kv("a", 1));
    SLUICE_LOG_INFO(logger, "none");
    SLUICE_LOG_INFO(logger, "", kv("a", 1));
    EXPECT_EQ(texts(), (std::vector<std::string>{"order 17 done ms=1.5 user=ann", "no field {} a=1",
                                                 "none", " a=1"}));
}

TEST_F(KeyValueCalls, TheMessageMayBeLargerThanTheLane) {
    const std::string large(std::size_t{3} << 20U, 'x');
    SLUICE_LOG_INFO(logger, "large", kv("value", large));
    EXPECT_EQ(texts(), std::vector<std::string>{"large value=" + large});
}

TEST_F(KeyValueCalls, RunsOfManyRecordsKeepTheirPairs) {
    std::vector<std::string> expected;
    for (int i = 0; i < 1000; ++i) {
        if (i % 3 == 0) {
            SLUICE_LOG_INFO(logger, "plain {}", i);
            expected.push_back("plain " + std::to_string(i));
        } else {
            SLUICE_LOG_INFO(logger, "pair", kv("i", i));
            expected.push_back("pair i=" + std::to_string(i));
        }
    }
    EXPECT_EQ(texts(), expected);
}

TEST_F(KeyValueCalls, ArgumentsAreNotEvaluatedWhenTheLevelIsOff) {
    int evaluated = 0;
    SLUICE_LOG_DEBUG(logger, "off", kv("n", ++evaluated));
    EXPECT_EQ(evaluated, 0);
    EXPECT_TRUE(texts().empty());
}

TEST_F(KeyValueCalls, ABacktraceKeepsPairsAsText) {
    logger->enable_backtrace(4);
    logger->set_level(spdlog::level::err);
    SLUICE_LOG_INFO(logger, "kept", kv("a", 1));
    SLUICE_LOG_ERROR(logger, "printed", kv("b", 2));
    logger->dump_backtrace();
    const std::vector<std::string> lines = texts();
    ASSERT_EQ(lines.size(), 5U);
    EXPECT_EQ(lines[0], "printed b=2");
    EXPECT_EQ(lines[2], "kept a=1");
    EXPECT_EQ(lines[3], "printed b=2");
}

TEST_F(KeyValueCalls, OtherLoggersPrintPairsToo) {
    const auto direct = std::make_shared<CollectingSink>();
    spdlog::logger plain("plain", direct);
    SLUICE_LOG_WARN(plain, "at {}", 5, kv("a", "x y"));
    EXPECT_EQ(direct->texts(), std::vector<std::string>{"at 5 a=\"x y\""});
}

}  // namespace
}  // namespace sluice::log::test
