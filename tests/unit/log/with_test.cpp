#include "support/log_sinks.hpp"

#include <sluice/log/backend.hpp>
#include <sluice/log/logger.hpp>
#include <sluice/log/signal_scope.hpp>
#include <sluice/log/with.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace sluice::log::test {

/// Its formatter logs. So it runs in the middle of another call.
struct Chatty {
    spdlog::logger* logger;
};

/// Its formatter throws.
struct Broken {};

}  // namespace sluice::log::test

template <>
struct fmt::formatter<sluice::log::test::Chatty> : fmt::formatter<int> {
    template <class Context>
    auto format(const sluice::log::test::Chatty& chatty, Context& context) const
        -> decltype(context.out()) {
        chatty.logger->info("inner");
        return fmt::formatter<int>::format(1, context);
    }
};

template <>
struct fmt::formatter<sluice::log::test::Broken> : fmt::formatter<int> {
    template <class Context>
    auto format(const sluice::log::test::Broken&, Context& context) const
        -> decltype(context.out()) {
        throw std::runtime_error("broken");
    }
};

namespace sluice::log::test {
namespace {

using sluice::test::CollectingSink;

class WithTest : public testing::Test {
protected:
    std::vector<std::string> texts() {
        EXPECT_TRUE(by->flush_wait());
        return sink->texts();
    }

    std::shared_ptr<backend> by = std::make_shared<backend>();
    std::shared_ptr<CollectingSink> sink = std::make_shared<CollectingSink>();
    std::shared_ptr<spdlog::logger> logger = std::make_shared<async_logger>("log", sink, by);
};

TEST_F(WithTest, EachLevelHasACall) {
    logger->set_level(spdlog::level::trace);
    const auto call = [this](int i) { return with(logger, kv("i", i)); };
    call(0).trace("{}", "t");
    call(1).debug("{}", "d");
    call(2).info("{}", "i");
    call(3).warn("{}", "w");
    call(4).error("{}", "e");
    call(5).critical("{}", "c");
    call(6).log(spdlog::level::off, "o");
    EXPECT_EQ(texts(), (std::vector<std::string>{"t i=0", "d i=1", "i i=2", "w i=3", "e i=4",
                                                 "c i=5", "o i=6"}));
    for (std::size_t i = 0; i < 7; ++i) {
        EXPECT_EQ(static_cast<std::size_t>(sink->lines()[i].level), i);
    }
}

TEST_F(WithTest, TheCallMayHaveAPlaceAndNoArguments) {
    with(*logger, kv("a", 1), kv("b", 2)).log({"file", 7, "f"}, spdlog::level::info, "{braces}");
    EXPECT_EQ(texts(), std::vector<std::string>{"{braces} a=1 b=2"});
    EXPECT_EQ(sink->lines()[0].source.line, 7);
}

TEST_F(WithTest, ACallBelowTheLevelPrintsNothing) {
    with(logger, kv("a", 1)).debug("off");
    EXPECT_TRUE(texts().empty());
}

TEST_F(WithTest, ACallWithinTheCallHasNoPairs) {
    with(logger, kv("a", 1)).info("outer {}", Chatty{logger.get()});
    EXPECT_EQ(texts(), (std::vector<std::string>{"inner", "outer 1 a=1"}));
}

TEST_F(WithTest, ASignalHandlerTakesNoPairsOfTheCallItInterrupts) {
    const std::vector<key_value> pairs{kv("a", 1)};
    {
        const detail::ScopedPairs interrupted({pairs.data(), pairs.size()});
        {
            const signal_scope scope;
            logger->info("handler");
        }
        logger->info("interrupted");
    }
    logger->info("after");
    EXPECT_EQ(texts(), (std::vector<std::string>{"handler", "interrupted a=1", "after"}));
}

TEST_F(WithTest, AFormatterThatThrowsTellsTheErrorHandler) {
    std::string told;
    logger->set_error_handler([&](const std::string& text) { told = text; });
    with(logger, kv("a", 1)).info("{}", Broken());
    logger->info("next");
    EXPECT_EQ(told.substr(0, 6), "broken");
    EXPECT_EQ(texts(), std::vector<std::string>{"next"});
}

TEST_F(WithTest, OtherLoggersPrintPairsToo) {
    const auto direct = std::make_shared<CollectingSink>();
    spdlog::logger plain("plain", direct);
    with(plain, kv("a", 1)).info("{}", 2);
    with(&plain, kv("a", nullptr)).info("none");
    EXPECT_EQ(direct->texts(), (std::vector<std::string>{"2 a=1", "none a=null"}));
}

TEST_F(WithTest, ABacktraceKeepsPairsAsText) {
    logger->enable_backtrace(4);
    with(logger, kv("a", 1)).info("kept");
    logger->dump_backtrace();
    EXPECT_EQ(texts()[2], "kept a=1");
}

}  // namespace
}  // namespace sluice::log::test
