#include "deferred_doubles.hpp"

#include <sluice/log/limited.hpp>

#include "support/testing.hpp"
#include <thread>

namespace sluice::log::test {
namespace {

using std::chrono::milliseconds;

std::vector<std::string> textsOf(const KeepingLogger& logger) {
    std::vector<std::string> texts;
    for (const KeepingLogger::Record& record : logger.records) {
        texts.push_back(KeepingLogger::print(record));
    }
    return texts;
}

std::chrono::steady_clock::time_point at(int time) {
    return std::chrono::steady_clock::time_point(milliseconds(time));
}

TEST(LimitedTest, OnceLogsTheFirstCallAndEvaluatesNoOther) {
    KeepingLogger logger;
    int evaluated = 0;
    for (int i = 0; i < 5; ++i) {
        SLUICE_LOG_ONCE(logger, spdlog::level::warn, "call {}", ++evaluated);
    }
    EXPECT_EQ(textsOf(logger), std::vector<std::string>{"call 1"});
    EXPECT_EQ(evaluated, 1);
}

TEST(LimitedTest, CallsBelowTheLevelAreNotCounted) {
    KeepingLogger logger;
    for (const auto level : {spdlog::level::err, spdlog::level::info}) {
        logger.set_level(level);
        SLUICE_LOG_ONCE(logger, spdlog::level::info, "once");
        SLUICE_LOG_EVERY(2, logger, spdlog::level::info, "every");
        SLUICE_LOG_AT_MOST(1, logger, spdlog::level::info, "at most");
    }
    EXPECT_EQ(textsOf(logger), (std::vector<std::string>{"once", "every", "at most"}));
}

TEST(LimitedTest, EveryLogsTheFirstOfEachN) {
    KeepingLogger logger;
    for (int i = 0; i < 7; ++i) {
        SLUICE_LOG_EVERY(3, logger, spdlog::level::info, "{}", i);
    }
    EXPECT_EQ(textsOf(logger), (std::vector<std::string>{"0", "3", "6"}));
}

enum class Every : int { second = 2 };

struct Limits {
    static const int every = 2;  // without a definition
};

TEST(LimitedTest, TheNumberIsAnythingThatConvertsToAnInteger) {
    KeepingLogger logger;
    const std::atomic<int> atomic{2};
    constexpr int captured = 2;
    const auto log = [](KeepingLogger& to) {
        SLUICE_LOG_EVERY(captured, to, spdlog::level::info, "{{}}");
        SLUICE_LOG_AT_MOST(captured, to, spdlog::level::info, "{{}}");
    };
    for (int call = 0; call < 3; ++call) {
        log(logger);
        SLUICE_LOG_EVERY(atomic, logger, spdlog::level::info, "{{}}");
        SLUICE_LOG_EVERY(Every::second, logger, spdlog::level::info, "{{}}");
        SLUICE_LOG_EVERY(Limits::every, logger, spdlog::level::info, "{{}}");
        SLUICE_LOG_EVERY(~std::uint64_t{0}, logger, spdlog::level::info, "once");
        SLUICE_LOG_EVERY(0, logger, spdlog::level::info, "each");
        SLUICE_LOG_AT_MOST(0, logger, spdlog::level::info, "once");
    }
    EXPECT_EQ(logger.records.size(), 4U * 2 + 2 + 1 + 3 + 1);
}

TEST(LimitedTest, ASecondBeginsWithTheFirstCallAfterTheLastOne) {
    detail::RateLimit limit;
    EXPECT_TRUE(limit.passes(2, at(500)));
    EXPECT_TRUE(limit.passes(2, at(1499)));
    EXPECT_FALSE(limit.passes(2, at(1499)));
    EXPECT_TRUE(limit.passes(2, at(1500)));
    EXPECT_TRUE(limit.passes(2, at(1500)));
    EXPECT_FALSE(limit.passes(2, at(2499)));
    EXPECT_TRUE(limit.passes(2, at(9000)));
}

TEST(LimitedTest, ACallWithAnEarlierTimeBelongsToTheSecondThatRuns) {
    detail::RateLimit limit;
    EXPECT_TRUE(limit.passes(1, at(5000)));
    EXPECT_FALSE(limit.passes(1, at(3000)));
    EXPECT_FALSE(limit.passes(1, at(5999)));
}

TEST(LimitedTest, TheCountOfASecondNeverReachesItsTime) {
    detail::RateLimit limit;
    constexpr int most = (1 << 24) - 1;
    int passed = 0;
    for (int i = 0; i < most + 2; ++i) {
        passed += limit.passes(~std::uint64_t{0}, at(7)) ? 1 : 0;
    }
    EXPECT_EQ(passed, most);
    EXPECT_EQ(limit.takeHeldBack(), 2U);
    EXPECT_EQ(limit.takeHeldBack(), 0U) << "it is told once";
}

TEST(LimitedTest, AtMostTellsBeforeTheNextMessageWhatItHeldBack) {
    KeepingLogger logger;
    std::uint64_t calls = 0;
    std::uint64_t messages = 0;
    std::uint64_t heldBack = 0;
    // Ends with the first message of another second: nothing is untold then.
    while (heldBack == 0) {
        logger.records.clear();
        SLUICE_LOG_AT_MOST(2, logger, spdlog::level::err, "call {}", ++messages);
        ++calls;
        if (logger.records.size() == 2) {
            heldBack = std::stoull(KeepingLogger::print(logger.records[0]));
        }
    }
    ASSERT_EQ(logger.records.size(), 2U);
    EXPECT_EQ(textsOf(logger),
              (std::vector<std::string>{std::to_string(heldBack) + " messages held back",
                                        "call " + std::to_string(messages)}));
    EXPECT_EQ(calls, messages + heldBack);
    EXPECT_EQ(logger.records[0].site->level, spdlog::level::err);
    EXPECT_EQ(logger.records[0].site->source.line, logger.records[1].site->source.line);
}

TEST(LimitedTest, ThreadsShareTheCounts) {
    constexpr int threadCount = 4;
    constexpr int callCount = 5000;
    detail::OnceLimit once;
    detail::EveryLimit every;
    detail::RateLimit rate;
    std::atomic<int> passedOnce{0};
    std::atomic<int> passedEvery{0};
    std::atomic<int> passedRate{0};
    std::vector<std::thread> threads;
    for (int thread = 0; thread < threadCount; ++thread) {
        threads.emplace_back([&] {
            for (int i = 0; i < callCount; ++i) {
                passedOnce += once.passes() ? 1 : 0;
                passedEvery += every.passes(10) ? 1 : 0;
                passedRate += rate.passes(7, at(i / 1000)) ? 1 : 0;
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(passedOnce, 1);
    EXPECT_EQ(passedEvery, threadCount * callCount / 10);
    EXPECT_EQ(passedRate, 7);
    EXPECT_EQ(rate.takeHeldBack(), std::uint64_t{threadCount * callCount - 7});
}

}  // namespace
}  // namespace sluice::log::test
