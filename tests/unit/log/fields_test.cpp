#include "deferred_doubles.hpp"
#include "support/log_sinks.hpp"

#include <sluice/log/backend.hpp>
#include <sluice/log/deferred.hpp>
#include <sluice/log/fields.hpp>
#include <sluice/log/logger.hpp>

#include "support/testing.hpp"
#include <thread>

// Fields of calls, of scopes and of spdlog's mdc.

namespace sluice::log::test {

/// Its formatter logs, in the middle of another call. It is not copied.
struct Chatty {
    spdlog::logger* logger;
};
inline std::string_view textOf(const Chatty& chatty) {
    chatty.logger->info("inner");
    return "1";
}

/// Its formatter throws. It is not copied.
struct Broken {};
inline std::string_view textOf(const Broken&) {
    throw std::runtime_error("broken");
}

}  // namespace sluice::log::test

SLUICE_TEST_PRINTED(Chatty)
SLUICE_TEST_PRINTED(Broken)

namespace sluice::log::test {
namespace {

using sluice::test::CollectingSink;
using Texts = std::vector<std::string>;

enum class Color : unsigned char { red = 3 };
enum class Side : char { buy = '1' };
enum class Flag : bool { no, yes };

/// The text of a field that was encoded and decoded.
std::string printed(const key_value& field) {
    std::vector<std::byte> bytes(detail::sizeOfField(field));
    EXPECT_EQ(detail::writeField(bytes.data(), field), bytes.data() + bytes.size());
    spdlog::memory_buf_t text;
    detail::printFields({bytes.data(), bytes.size()}, text);
    return {text.data(), text.size()};
}

TEST(LogField, PrintsEachTypeOfValue) {
    const char* const none = nullptr;
    const key_value fields[] = {kv("k", -7),
                                kv("k", std::numeric_limits<std::int64_t>::min()),
                                kv("k", std::numeric_limits<std::uint64_t>::max()),
                                kv("k", std::uint8_t{200}),
                                kv("k", 1.5),
                                kv("k", 0.1F),
                                kv("k", true),
                                kv("k", nullptr),
                                kv("k", none),
                                kv("k", "array"),
                                kv("k", std::string_view("view")),
                                kv("k", Color::red),
                                kv("k", Side::buy),
                                kv("k", Flag::no),
                                kv("k", Flag::yes)};
    std::string all;
    for (const key_value& field : fields) {
        all += printed(field);
    }
    EXPECT_EQ(all, " k=-7 k=-9223372036854775808 k=18446744073709551615 k=200 k=1.5 k=0.1 k=true"
                   " k=null k=null k=array k=view k=3 k=49 k=0 k=1");
    EXPECT_EQ(printed(kv("k", 'x')), " k=x");
    EXPECT_EQ(printed(kv("k", std::string("string"))), " k=string");
}

TEST(LogField, QuotesWhatWouldNotBeFoundAgain) {
    EXPECT_EQ(printed(kv("k", "two words")), " k=\"two words\"");
    EXPECT_EQ(printed(kv("k", "")), " k=\"\"");
    EXPECT_EQ(printed(kv("k", "a=b")), " k=\"a=b\"");
    EXPECT_EQ(printed(kv("k", "say \"no\"\\")), R"( k="say \"no\"\\")");
    EXPECT_EQ(printed(kv("k", "line\nfeed\x01")), R"( k="line\nfeed\u0001")");
    EXPECT_EQ(printed(kv("a key", 1)), " \"a key\"=1");
    EXPECT_EQ(printed(kv("k", "\xC3\xA4\xFF")), " k=\xC3\xA4\xFF");
}

class LogFields : public testing::Test {
protected:
    Texts texts() {
        EXPECT_TRUE(by->flush_wait());
        return sink->texts();
    }

    std::shared_ptr<backend> by = std::make_shared<backend>();
    std::shared_ptr<CollectingSink> sink = std::make_shared<CollectingSink>();
    std::shared_ptr<spdlog::logger> logger = std::make_shared<async_logger>("log", sink, by);
};

TEST_F(LogFields, ArePrintedBehindTheMessage) {
    SLUICE_LOG_INFO(logger, "order {} done", 17, kv("ms", 1.5), kv("user", std::string("ann")));
    SLUICE_LOG_INFO(logger, "no field {}", kv("a", 1));
    SLUICE_LOG_INFO(logger, "none");
    SLUICE_LOG_INFO(logger, "", kv("a", 1));
    SLUICE_LOG_INFO(logger, "first {}", kv("a", 1), "argument");
    int evaluated = 0;
    SLUICE_LOG_DEBUG(logger, "off", kv("n", ++evaluated));
    EXPECT_EQ(texts(), (Texts{"order 17 done ms=1.5 user=ann", "no field {} a=1", "none", " a=1",
                              "first argument a=1"}));
    EXPECT_EQ(evaluated, 0);
}

TEST_F(LogFields, MayBeLargerThanTheLane) {
    const std::string large(std::size_t{3} << 20U, 'x');
    SLUICE_LOG_INFO(logger, "large", kv("value", large));
    EXPECT_EQ(texts(), Texts{"large value=" + large});
}

TEST_F(LogFields, OfABacktraceAreText) {
    logger->enable_backtrace(4);
    logger->set_level(spdlog::level::err);
    SLUICE_LOG_INFO(logger, "kept", kv("a", 1));
    SLUICE_LOG_INFO(logger, "in place {}", Chatty{logger.get()}, kv("a", 1));
    SLUICE_LOG_ERROR(logger, "printed", kv("b", 2));
    const scoped_context context(kv("request", 9));  // not of the earlier calls
    logger->dump_backtrace();
    logger->error("last");
    const Texts lines = texts();
    ASSERT_EQ(lines.size(), 8U);
    EXPECT_EQ(lines[0], "printed b=2");
    EXPECT_EQ(lines[2], "kept a=1");
    EXPECT_EQ(lines[4], "in place 1 a=1");
    EXPECT_EQ(lines[5], "printed b=2");
    EXPECT_EQ(lines[7], "last request=9");
}

TEST_F(LogFields, AreTakenByEachLogger) {
    const auto direct = std::make_shared<CollectingSink>();
    spdlog::logger plain("plain", direct);
    SLUICE_LOG_WARN(plain, "at {}", 5, kv("a", "x y"));
    SLUICE_LOG_WARN(&plain, "{braces}", kv("a", nullptr));
    EXPECT_EQ(direct->texts(), (Texts{"at 5 a=\"x y\"", "{braces} a=null"}));
}

TEST_F(LogFields, AreNotThoseOfACallWithinTheCall) {
    SLUICE_LOG_INFO(logger, "outer {}", Chatty{logger.get()}, kv("a", 1));
    EXPECT_EQ(texts(), (Texts{"inner", "outer 1 a=1"}));
}

TEST_F(LogFields, EndWithACallWhoseFormatterThrows) {
    std::string error;
    logger->set_error_handler([&](const std::string& text) { error = text; });
    SLUICE_LOG_INFO(logger, "{}", Broken(), kv("a", 1));
    logger->info("next");
    EXPECT_EQ(error.substr(0, 6), "broken");
    EXPECT_EQ(texts(), Texts{"next"});
}

TEST_F(LogFields, OfAScopeAreThoseOfEachRecord) {
    logger->info("before");
    {
        const scoped_context context(kv("request", 17), kv("user", "ann"));
        logger->info("plain");
        SLUICE_LOG_INFO(logger, "deferred {}", 1);
        SLUICE_LOG_INFO(logger, "fields", kv("a", 1));
        std::thread([this] { logger->info("of another thread"); }).join();
    }
    logger->info("after");
    EXPECT_EQ(texts(),
              (Texts{"before", "plain request=17 user=ann", "deferred 1 request=17 user=ann",
                     "fields request=17 user=ann a=1", "of another thread", "after"}));
}

TEST_F(LogFields, OfAScopeNestAndReturn) {
    const scoped_context outer(kv("a", 1), kv("b", 2));
    {
        const scoped_context inner(kv("a", 3), kv("c", 4));
        logger->info("inner");
    }
    logger->info("outer");
    EXPECT_EQ(texts(), (Texts{"inner b=2 a=3 c=4", "outer a=1 b=2"}));
}

#if SLUICE_LOG_HAS_MDC

TEST_F(LogFields, TheMdcOfTheCallIsContext) {
    spdlog::mdc::put("a", "1");
    logger->info("plain");
    spdlog::mdc::put("b", "two words");
    const scoped_context context(kv("d", 4));
    SLUICE_LOG_INFO(logger, "deferred", kv("c", 3));
    std::thread([this] { logger->info("other"); }).join();
    spdlog::mdc::clear();
    logger->info("none");
    EXPECT_EQ(texts(),
              (Texts{"plain a=1", "deferred a=1 b=\"two words\" d=4 c=3", "other", "none d=4"}));
}

TEST_F(LogFields, LinesOfABacktraceHaveNoMdc) {
    logger->enable_backtrace(4);
    logger->info("kept");
    spdlog::mdc::put("a", "1");
    logger->dump_backtrace();
    spdlog::mdc::clear();
    EXPECT_EQ(texts().at(2), "kept");
}

TEST_F(LogFields, ADestructorOfTheThreadMayLogAfterItsMdc) {
    struct Last {
        std::shared_ptr<spdlog::logger> to;
        ~Last() { to->info("last"); }
    };
    std::thread([this] {
        static thread_local Last last{logger};
        spdlog::mdc::put("key", std::string(100, 'x'));
        last.to->info("first");
    }).join();
    EXPECT_EQ(texts(), (Texts{"first key=" + std::string(100, 'x'), "last"}));
}

#else

TEST(LogMdc, IsEmptyBeforeSpdlogHasIt) {
    EXPECT_TRUE(detail::ThreadMdc::findNonEmpty() == nullptr);
}

#endif

}  // namespace
}  // namespace sluice::log::test
