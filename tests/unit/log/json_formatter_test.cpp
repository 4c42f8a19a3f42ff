#include "support/temporary_folder.hpp"

#include <sluice/log/backend.hpp>
#include <sluice/log/deferred.hpp>
#include <sluice/log/fields.hpp>
#include <sluice/log/file_sink.hpp>
#include <sluice/log/json_formatter.hpp>
#include <sluice/log/logger.hpp>

#include <spdlog/sinks/ostream_sink.h>

#include "support/testing.hpp"
#include <nlohmann/json.hpp>

namespace sluice::log::test {
namespace {

using nlohmann::json;

class JsonFormatterTest : public testing::Test {
protected:
    JsonFormatterTest() { sink->set_formatter(std::make_unique<json_formatter>("\n")); }

    /// The lines so far, each read by a parser that refuses what is no JSON.
    std::vector<json> lines() {
        EXPECT_TRUE(by->flush_wait());
        std::vector<json> result;
        std::istringstream all(text.str());
        for (std::string line; std::getline(all, line);) {
            result.push_back(json::parse(line));
        }
        return result;
    }

    std::ostringstream text;
    std::shared_ptr<spdlog::sinks::ostream_sink_mt> sink =
        std::make_shared<spdlog::sinks::ostream_sink_mt>(text);
    std::shared_ptr<backend> by = std::make_shared<backend>();
    std::shared_ptr<spdlog::logger> logger = std::make_shared<async_logger>("log", sink, by);
};

TEST_F(JsonFormatterTest, ALineIsAnObject) {
    const scoped_context context(kv("request", 9));
    SLUICE_LOG_WARN(logger, "order {} done", 17, kv("ms", 1.5), kv("ok", true), kv("who", "ann"));
    const json line = lines().at(0);
    EXPECT_EQ(line["level"], "warning");
    EXPECT_EQ(line["logger"], "log");
    EXPECT_EQ(line["thread"], spdlog::details::os::thread_id());
    EXPECT_EQ(line["file"], __FILE__);
    EXPECT_EQ(line["message"], "order 17 done");
    EXPECT_EQ(line["context"], json({{"request", 9}}));
    EXPECT_EQ(line["fields"], json({{"ms", 1.5}, {"ok", true}, {"who", "ann"}}));
}

TEST_F(JsonFormatterTest, TheTimeIsUtcWithMicroseconds) {
    json_formatter formatter("");
    for (const auto& [micros, expected] : std::vector<std::pair<std::int64_t, std::string>>{
             {951827696000123, "2000-02-29T12:34:56.000123Z"},
             {951827696999999, "2000-02-29T12:34:56.999999Z"},
             {951827697000000, "2000-02-29T12:34:57.000000Z"},
             {-1, "1969-12-31T23:59:59.999999Z"}}) {
#if defined(_WIN32)
        if (micros < 0) {
            continue;  // the system knows no dates before 1970
        }
#endif
        const spdlog::log_clock::time_point time{std::chrono::microseconds(micros)};
        spdlog::memory_buf_t line;
        formatter.format({time, {}, "log", spdlog::level::info, "text"}, line);
        EXPECT_EQ(json::parse(line.begin(), line.end())["time"], expected);
    }
}

TEST_F(JsonFormatterTest, NumbersThatJsonLacksAreNull) {
    using Limits = std::numeric_limits<double>;
    SLUICE_LOG_INFO(logger, "numbers", kv("nan", Limits::quiet_NaN()),
                    kv("inf", -Limits::infinity()),
                    kv("single", std::numeric_limits<float>::quiet_NaN()), kv("none", nullptr),
                    kv("most", Limits::max()), kv("tiny", Limits::denorm_min()),
                    kv("least", std::numeric_limits<std::int64_t>::min()),
                    kv("large", std::numeric_limits<std::uint64_t>::max()));
    const json fields = lines().at(0)["fields"];
    for (const char* const name : {"nan", "inf", "single", "none"}) {
        EXPECT_TRUE(fields[name].is_null()) << name;
    }
    EXPECT_EQ(fields["most"], Limits::max());
    EXPECT_EQ(fields["tiny"], Limits::denorm_min());
    EXPECT_EQ(fields["least"], std::numeric_limits<std::int64_t>::min());
    EXPECT_EQ(fields["large"], std::numeric_limits<std::uint64_t>::max());
}

TEST_F(JsonFormatterTest, AnyTextIsAString) {
    std::string all;
    for (int c = 0; c < 128; ++c) {
        all.push_back(static_cast<char>(c));
    }
    all += "\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80";
    SLUICE_LOG_INFO(logger, "{}", all, kv(all, all));
    const json line = lines().at(0);
    EXPECT_EQ(line["message"], all);
    EXPECT_EQ(line["fields"][all], all);
}

TEST_F(JsonFormatterTest, BytesThatAreNoUtf8AreReplaced) {
    const std::string bad = "\xEF\xBF\xBD";
    const std::vector<std::pair<std::string, std::string>> cases{
        {"a\xFF\x62", "a" + bad + "b"},               // never a lead
        {"\x80", bad},                                // a part alone
        {"\xC3", bad},                                // the rest is missing
        {"\xE2\x82", bad + bad},                      // cut off
        {"\xC0\xAF", bad + bad},                      // overlong
        {"\xE0\x9F\xBF", bad + bad + bad},            // overlong
        {"\xED\xA0\x80", bad + bad + bad},            // half of a surrogate pair
        {"\xF0\x8F\xBF\xBF", bad + bad + bad + bad},  // overlong
        {"\xF4\x90\x80\x80", bad + bad + bad + bad},  // beyond U+10FFFF
        {"\xF4\x8F\xBF\xBF", "\xF4\x8F\xBF\xBF"},     // the last character
        {"\xE2\x82\"", bad + bad + "\""},             // a quote in place of a part
    };
    for (const auto& [given, expected] : cases) {
        SLUICE_LOG_INFO(logger, "{}", given, kv("v", given));
    }
    const std::vector<json> all = lines();
    ASSERT_EQ(all.size(), cases.size());
    for (std::size_t i = 0; i < cases.size(); ++i) {
        EXPECT_EQ(all[i]["message"], cases[i].second) << i;
        EXPECT_EQ(all[i]["fields"]["v"], cases[i].second) << i;
    }
}

TEST_F(JsonFormatterTest, OtherLoggersHaveFieldsToo) {
    spdlog::logger plain("plain", sink);
    SLUICE_LOG_INFO(plain, "text", kv("a", 1));
    plain.info("none");
    const std::vector<json> both = lines();
    EXPECT_EQ(both.at(0)["message"], "text");
    EXPECT_EQ(both.at(0)["fields"], json({{"a", 1}}));
    for (const char* const member : {"context", "fields", "file"}) {
        EXPECT_FALSE(both.at(1).contains(member));
    }
}

TEST_F(JsonFormatterTest, ABatchSinkFindsEachRecordsFields) {
    const sluice::test::TemporaryFolder folder;
    const std::string path = folder / "log.json";
    async_logger batched("batched", std::make_shared<file_sink_mt>(path), by);
    batched.set_formatter(std::make_unique<json_formatter>("\n"));
    for (int i = 0; i < 600; ++i) {
        if (i % 2 == 0) {
            SLUICE_LOG_INFO(batched, "n", kv("i", i));
        } else {
            batched.info("n");
        }
    }
    EXPECT_TRUE(by->flush_wait());
    std::istringstream all(sluice::test::contentOf(path));
    int i = 0;
    for (std::string line; std::getline(all, line); ++i) {
        const json read = json::parse(line);
        ASSERT_EQ(read["message"], "n");
        ASSERT_EQ(read.contains("fields"), i % 2 == 0) << i;
        if (i % 2 == 0) {
            ASSERT_EQ(read["fields"]["i"], i);
        }
    }
    EXPECT_EQ(i, 600);
}

}  // namespace
}  // namespace sluice::log::test
