// The level below which calls are not compiled: for this file it is debug.
#define SLUICE_LOG_ACTIVE_LEVEL SPDLOG_LEVEL_DEBUG
#include "deferred_doubles.hpp"

#include "support/log_sinks.hpp"

#include <sluice/log/backend.hpp>
#include <sluice/log/deferred.hpp>
#include <sluice/log/logger.hpp>

#include "support/testing.hpp"
#include <thread>

namespace sluice::log::test {

/// Is printed as the thread that formats it: "caller" when that is the one which made it.
struct Formatter {
    std::thread::id made = std::this_thread::get_id();
};

/// Is printed in the same way, and not copied.
struct StayingFormatter : Formatter {};

/// Its formatter throws.
enum class Bomb : int {};

inline std::string_view textOf(const Formatter& value) {
    return value.made == std::this_thread::get_id() ? "caller" : "back end";
}
inline std::string_view textOf(Bomb) {
    throw std::runtime_error("the formatter's own");
}

}  // namespace sluice::log::test

template <>
struct sluice::log::copy_when_logging<sluice::log::test::Formatter> : std::true_type {};
SLUICE_TEST_PRINTED(Formatter)
SLUICE_TEST_PRINTED(StayingFormatter)
SLUICE_TEST_PRINTED(Bomb)

namespace sluice::log::test {
namespace {

TEST(DeferredTest, ACallIsPrintedLater) {
    KeepingLogger logger;
    static constexpr const char* format = "{} and {:>4}";
    SLUICE_LOG_INFO(logger, format, "text", 1);
    EXPECT_TRUE(logger.sink->texts.empty());
    ASSERT_EQ(logger.records.size(), 1U);
    EXPECT_EQ(logger.last(), "text and    1");
}

#if defined(__SIZEOF_INT128__)
TEST(DeferredTest, ANumberOf128BitsIsPrinted) {
    __extension__ using Wide = __int128;
    KeepingLogger logger;
    SLUICE_LOG_INFO(logger, "{}", Wide{1} << 64U);
    // Without the compiler's extensions it is no integer of the library, and printed in place.
    EXPECT_EQ(logger.records.empty() ? logger.sink->texts.at(0) : logger.last(),
              "18446744073709551616");
}
#endif

template <class T>
void logFromTemplate(KeepingLogger& logger, const T& value) {
    SLUICE_LOG_WARN(logger, "of a template: {}", value);
}

TEST(DeferredTest, ACallSiteMayBeInATemplateALambdaAndABranch) {
    KeepingLogger logger;
    logFromTemplate(logger, 1);
    logFromTemplate(logger, "one");
    [&logger] { SLUICE_LOG_INFO(logger, "of a lambda"); }();
    if (logger.records.size() == 3) {
        SLUICE_LOG_INFO(logger, "of a branch");
    } else {
        SLUICE_LOG_INFO(logger, "of the other branch");
    }
    std::vector<std::string> texts;
    for (const auto& record : logger.records) {
        texts.push_back(KeepingLogger::print(record));
    }
    EXPECT_EQ(texts, (std::vector<std::string>{"of a template: 1", "of a template: one",
                                               "of a lambda", "of a branch"}));
}

TEST(DeferredTest, EachMacroHasItsLevel) {
    KeepingLogger logger;
    logger.set_level(spdlog::level::trace);
    SLUICE_LOG_DEBUG(logger, "");
    SLUICE_LOG_INFO(logger, "");
    SLUICE_LOG_WARN(logger, "");
    SLUICE_LOG_ERROR(logger, "");
    SLUICE_LOG_CRITICAL(logger, "");
    SLUICE_LOG(logger, spdlog::level::trace, "");
    std::vector<spdlog::level::level_enum> levels;
    for (const auto& record : logger.records) {
        levels.push_back(record.site->level);
    }
    using namespace spdlog::level;
    EXPECT_EQ(levels, (std::vector<level_enum>{debug, info, warn, err, critical, trace}));
}

TEST(DeferredTest, ACallBelowTheActiveLevelIsNotCompiled) {
    KeepingLogger logger;
    logger.set_level(spdlog::level::trace);
    SLUICE_LOG_TRACE(logger, "{}", ofSomethingThatIsNotThere());
    EXPECT_TRUE(logger.records.empty());
}

TEST(DeferredTest, TheLoggerIsGivenInAnyWayAndEvaluatedOnce) {
    auto shared = std::make_shared<KeepingLogger>();
    const auto unique = std::make_unique<KeepingLogger>();
    int evaluated = 0;
    const auto find = [&] {
        ++evaluated;
        return shared;
    };
    SLUICE_LOG_INFO(find(), "{}", 1);
    EXPECT_EQ(evaluated, 1);
    SLUICE_LOG_INFO(shared, "{}", 2);
    SLUICE_LOG_INFO(shared.get(), "{}", 3);
    SLUICE_LOG_INFO(*shared, "{}", 4);
    SLUICE_LOG_INFO(unique, "{}", 5);
    EXPECT_EQ(shared->records.size(), 4U);
    EXPECT_EQ(unique->records.size(), 1U);
}

TEST(DeferredTest, ALoggerThatIsNotAsynchronousFormatsInPlace) {
    const auto sink = std::make_shared<TextSink>();
    const auto logger = std::make_shared<spdlog::logger>("plain", sink);
    const int line = __LINE__ + 1;
    SLUICE_LOG_WARN(logger, "{:>4}|{}", 42, std::string("text"));
    SLUICE_LOG_WARN(logger, "{} without arguments");
    SLUICE_LOG_DEBUG(logger, "off");
    EXPECT_EQ(sink->texts, (std::vector<std::string>{"  42|text", "{} without arguments"}));
    EXPECT_EQ(sink->sources[0].line, line);
    EXPECT_STREQ(sink->sources[0].funcname, __func__);
}

class DeferredBackendTest : public testing::Test {
protected:
    using Texts = std::vector<std::string>;

    /// What the sink has got, when all has been written.
    const Texts& texts() {
        EXPECT_TRUE(by->flush_wait());
        return sink->texts;
    }

    std::shared_ptr<backend> by = std::make_shared<backend>();
    std::shared_ptr<TextSink> sink = std::make_shared<TextSink>();
    std::shared_ptr<async_logger> logger = std::make_shared<async_logger>("deferred", sink, by);
};

TEST_F(DeferredBackendTest, TheBackEndFormats) {
    SLUICE_LOG_INFO(logger, "{} {}", Formatter{}, 1);
    EXPECT_EQ(texts(), Texts{"back end 1"});
}

TEST_F(DeferredBackendTest, ALoggerThatIsKnownBySpdlogsTypeDefersToo) {
    const std::shared_ptr<spdlog::logger> known = logger;
    SLUICE_LOG_INFO(known, "{}", Formatter{});
    SLUICE_LOG_INFO(*known, "{}", Formatter{});
    EXPECT_EQ(texts(), (Texts{"back end", "back end"}));
}

TEST_F(DeferredBackendTest, AnArgumentThatIsNotCopiedIsFormattedByTheCaller) {
    SLUICE_LOG_INFO(logger, "{} {}", Formatter{}, StayingFormatter{});
    EXPECT_EQ(texts(), Texts{"caller caller"});
}

TEST_F(DeferredBackendTest, TheSinkIsToldTheSource) {
    const int line = __LINE__ + 1;
    SLUICE_LOG_WARN(logger, "{}", 1);
    ASSERT_EQ(texts().size(), 1U);
    EXPECT_EQ(sink->sources[0].line, line);
    EXPECT_STREQ(sink->sources[0].funcname, __func__);
    EXPECT_STREQ(sink->sources[0].filename, __FILE__);
}

TEST_F(DeferredBackendTest, ABacktraceHasWhatWasDeferred) {
    logger->enable_backtrace(8);
    SLUICE_LOG_DEBUG(logger, "kept {} {}", 1, "one");
    SLUICE_LOG_INFO(logger, "shown {}", 2);
    logger->debug("kept {}", 3);
    logger->dump_backtrace();
    logger->disable_backtrace();
    SLUICE_LOG_INFO(logger, "{}", Formatter{});
    ASSERT_EQ(texts().size(), 7U);
    EXPECT_EQ(sink->texts[0], "shown 2");
    EXPECT_EQ(Texts(sink->texts.begin() + 2, sink->texts.begin() + 5),
              (Texts{"kept 1 one", "shown 2", "kept 3"}));
    EXPECT_EQ(sink->texts[6], "back end");
}

TEST_F(DeferredBackendTest, WhatAFormatterThrowsGoesToTheErrorHandler) {
    Texts errors;
    logger->set_error_handler([&errors](const std::string& text) { errors.push_back(text); });
    SLUICE_LOG_INFO(logger, "{}", 1);
    const int line = __LINE__ + 1;
    SLUICE_LOG_INFO(logger, "{} {}", 2, Bomb{});
    SLUICE_LOG_INFO(logger, "{:{}}", 3, -1);
    SLUICE_LOG_INFO(logger, "{}", 4);
    EXPECT_FALSE(by->flush_wait()) << "two records were lost";
    EXPECT_EQ(texts(), (Texts{"1", "4"}));
    EXPECT_EQ(by->statistics().lost_in_sinks, 2U);
    ASSERT_EQ(errors.size(), 2U);
    EXPECT_EQ(errors[0],
              "the formatter's own [" + std::string(__FILE__) + "(" + std::to_string(line) + ")]");
}

}  // namespace
}  // namespace sluice::log::test
