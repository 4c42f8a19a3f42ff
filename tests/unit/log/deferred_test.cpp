// The level below which calls are not compiled: for this file it is debug.
#define SLUICE_LOG_ACTIVE_LEVEL SPDLOG_LEVEL_DEBUG
#include "deferred_doubles.hpp"

#include <sluice/log/deferred.hpp>

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::log::test {

/// Its formatter throws.
enum class Bomb : int {};

}  // namespace sluice::log::test

template <>
struct fmt::formatter<sluice::log::test::Bomb> : fmt::formatter<int> {
    template <class Context>
    auto format(sluice::log::test::Bomb, Context& context) const -> decltype(context.out()) {
        throw std::runtime_error("the formatter's own");
    }
};

namespace sluice::log::test {
namespace {

TEST(DeferredTest, ACallIsPrintedLater) {
    KeepingLogger logger;
    SLUICE_LOG_INFO(logger, "{} and {:>4}", "text", 1);
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

TEST(DeferredTest, ASiteSaysWhereItIs) {
    KeepingLogger logger;
    const int line = __LINE__ + 1;
    SLUICE_LOG_ERROR(logger, "here: {}", 1);
    const detail::DeferredSite& site = *logger.records.back().site;
    EXPECT_EQ(site.level, spdlog::level::err);
    EXPECT_EQ(site.source.line, line);
    EXPECT_STREQ(site.source.funcname, __func__);
    EXPECT_EQ(std::string_view(site.source.filename), __FILE__);
    EXPECT_EQ(std::string_view(site.format.data(), site.format.size()), "here: {}");
}

TEST(DeferredTest, ACallSiteIsOneSite) {
    KeepingLogger logger;
    for (int i = 0; i < 2; ++i) {
        SLUICE_LOG_INFO(logger, "{}", i);
    }
    SLUICE_LOG_INFO(logger, "{}", 2);
    EXPECT_EQ(logger.records[0].site, logger.records[1].site);
    EXPECT_NE(logger.records[0].site, logger.records[2].site);
}

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

TEST(DeferredTest, ArgumentsOfACallThatIsOffAreNotEvaluated) {
    KeepingLogger logger;
    int evaluated = 0;
    SLUICE_LOG_DEBUG(logger, "{}", ++evaluated);
    EXPECT_EQ(evaluated, 0);
    EXPECT_TRUE(logger.records.empty());
    logger.set_level(spdlog::level::debug);
    SLUICE_LOG_DEBUG(logger, "{}", ++evaluated);
    EXPECT_EQ(evaluated, 1);
    EXPECT_EQ(logger.last(), "1");
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

TEST(DeferredTest, ACallThatOnlyTheBacktraceWantsIsMade) {
    KeepingLogger logger;
    logger.enable_backtrace(8);
    SLUICE_LOG_DEBUG(logger, "kept {}", 1);
    ASSERT_EQ(logger.records.size(), 1U);
    EXPECT_EQ(logger.last(), "kept 1");
}

TEST(DeferredTest, AFormatterThatThrowsDoesSoWhereItIsPrinted) {
    KeepingLogger logger;
    SLUICE_LOG_INFO(logger, "{} {}", 1, Bomb{});
    SLUICE_LOG_INFO(logger, "{:{}}", 1, -1);  // a width that can only be judged then
    ASSERT_EQ(logger.records.size(), 2U);
    EXPECT_THROW((void)KeepingLogger::print(logger.records[0]), std::runtime_error);
    EXPECT_THROW((void)KeepingLogger::print(logger.records[1]), fmt::format_error);
}

TEST(DeferredTest, AFormatMayBeAConstantWithAName) {
    static constexpr const char* format = "named: {}";
    KeepingLogger logger;
    SLUICE_LOG_INFO(logger, format, 1);
    EXPECT_EQ(logger.last(), "named: 1");
}

TEST(PlainFormatTest, IsWhatHasOnlyFieldsWithoutSpecifications) {
    using detail::isPlainFormat;
    EXPECT_TRUE(isPlainFormat(""));
    EXPECT_TRUE(isPlainFormat("text"));
    EXPECT_TRUE(isPlainFormat("{}{} and {}"));
    EXPECT_FALSE(isPlainFormat("{} and {0}"));
    EXPECT_FALSE(isPlainFormat("{:}"));
    EXPECT_FALSE(isPlainFormat("{} {:x}"));
    EXPECT_FALSE(isPlainFormat("{{ {}"));
    EXPECT_FALSE(isPlainFormat("{} }}"));
}

TEST(FormatCheckTest, FindsWhatIsWrongBeforeTheSpecificationsAreLookedAt) {
    using detail::findFault;
    using detail::FormatFault;
    EXPECT_EQ(findFault("", 0), FormatFault::none);
    EXPECT_EQ(findFault("{}{}", 2), FormatFault::none);
    EXPECT_EQ(findFault("{{}} {{{0}}}", 1), FormatFault::none);
    EXPECT_EQ(findFault("{0:>{1}} {2:.{3}}", 4), FormatFault::none);
    EXPECT_EQ(findFault("{", 1), FormatFault::brace);
    EXPECT_EQ(findFault("}", 1), FormatFault::brace);
    EXPECT_EQ(findFault("{}}", 1), FormatFault::brace);
    EXPECT_EQ(findFault("{0", 1), FormatFault::brace);
    EXPECT_EQ(findFault("{:>{}", 2), FormatFault::brace);
    EXPECT_EQ(findFault("{:>4} }", 1), FormatFault::brace);
    EXPECT_EQ(findFault("{name}", 1), FormatFault::name);
    EXPECT_EQ(findFault("{} {}", 1), FormatFault::tooFew);
    EXPECT_EQ(findFault("{1}", 1), FormatFault::tooFew);
    EXPECT_EQ(findFault("{18446744073709551616000000}", 1), FormatFault::tooFew);
}

}  // namespace
}  // namespace sluice::log::test
