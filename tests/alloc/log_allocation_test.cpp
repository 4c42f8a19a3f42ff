#include "support/allocation_count.hpp"

#include <sluice/log/backend.hpp>
#include <sluice/log/deferred.hpp>
#include <sluice/log/detail/backend/backend_registry.hpp>
#include <sluice/log/fields.hpp>
#include <sluice/log/logger.hpp>

#include <spdlog/sinks/sink.h>

#include "support/testing.hpp"
#include <thread>

namespace sluice::test {
namespace {

/// Counts records, and allocates nothing.
class CountingSink : public spdlog::sinks::sink {
public:
    void log(const spdlog::details::log_msg&) override { ++records; }
    void flush() override {}
    void set_pattern(const std::string&) override {}
    void set_formatter(std::unique_ptr<spdlog::formatter>) override {}

    std::atomic<int> records{0};
};

class LogAllocationTest : public testing::Test {
protected:
    static constexpr int calls = 1000;  // there is room for them in the lane

    void logAll() {
        for (int i = 0; i < calls; ++i) {
            SLUICE_LOG_INFO(logger, "{} {:.3f} {} {}", i, 0.5, text, "a literal");
            SLUICE_LOG_INFO(known, "{}", i, log::kv("i", i), log::kv("text", text));
            logger->info("in place {}", i);
        }
    }

    /// Waits until the back end has formatted and handed over so many records.
    void await(int records) {
        while (sink->records != records) {
            std::this_thread::yield();
        }
    }

    const std::string text = "a text that is too long to be kept inside of the string";
    std::shared_ptr<log::backend> by = std::make_shared<log::backend>();
    std::shared_ptr<CountingSink> sink = std::make_shared<CountingSink>();
    std::shared_ptr<log::async_logger> logger =
        std::make_shared<log::async_logger>("log", sink, by);
    std::shared_ptr<spdlog::logger> known = logger;
};

TEST_F(LogAllocationTest, NeitherCallsNorTheBackEndAllocate) {
    const log::scoped_context context(log::kv("request", 17));
    logAll();
    await(3 * calls);
    const AllocationCount count;
    logAll();
    await(6 * calls);
    EXPECT_EQ(count.allocations(), 0U);
    EXPECT_EQ(count.deallocations(), 0U);
}

TEST(LogMemoryTest, ABackEndWithoutMemoryForItsListsGoesOnWhenThereIsSome) {
    std::atomic<bool> isShort{false};
    log::backend_options options;
    options.on_thread_start = [&isShort] { failAllocationsWhile(isShort); };
    const auto by = std::make_shared<log::backend>(options);
    const auto sink = std::make_shared<CountingSink>();
    const auto logger = std::make_shared<log::async_logger>("log", sink, by);
    logger->info("text");
    ASSERT_TRUE(by->flush_wait());
    isShort = true;
    constexpr int count = 40;
    std::vector<std::thread> threads;  // each has a lane, and there are more than were expected
    for (int i = 0; i < count; ++i) {
        threads.emplace_back([&] { logger->info("text"); });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_FALSE(by->flush_wait(std::chrono::milliseconds(20)));
    isShort = false;
    EXPECT_TRUE(by->flush_wait());
    EXPECT_EQ(sink->records, 1 + count);
}

TEST(LogMemoryTest, AThreadWithoutMemoryForALaneLogsAllTheSame) {
    std::atomic<bool> isShort{true};
    const auto by = std::make_shared<log::backend>();
    const auto sink = std::make_shared<CountingSink>();
    const auto logger = std::make_shared<log::async_logger>("log", sink, by);
    std::thread([&] {
        failAllocationsWhile(isShort);
        logger->info("text");
        SLUICE_LOG_INFO(logger, "text {}", 1);
        logger->info("{:>2000000}", 1);  // cannot even be formatted
        isShort = false;
        logger->info("text");
    }).join();
    EXPECT_TRUE(by->flush_wait());
    EXPECT_EQ(sink->records, 3);
}

TEST(LogMemoryTest, AnAllocationThatLogsTheFirstErrorOfItsThreadLeavesNoLaneBehind) {
    log::backend_options options;
    options.manual = true;
    const auto by = std::make_shared<log::backend>(options);
    const auto sink = std::make_shared<CountingSink>();
    static std::unique_ptr<log::async_logger> logger;
    logger = std::make_unique<log::async_logger>("log", sink, by);
    std::thread([] {
        logger->info("text");
        callBeforeAllocations([]() noexcept {
            callBeforeAllocations(nullptr);
            logger->error("by operator new");
        });
        logger->error("the first error");
    }).join();
    for (int i = 0; i < 3; ++i) {
        by->poll();
    }
    EXPECT_EQ(sink->records, 3);
    EXPECT_TRUE(by->statistics().threads.empty());
    logger.reset();
}

#if defined(GTEST_HAS_DEATH_TEST)
// A thread that made it later might do so while another one forks: the child would have it half
// made, and wait for it for ever.
TEST(LogProcessTest, IsMadeBeforeTheProgramBegins) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");  // a program of its own
    EXPECT_EXIT(
        {
            const AllocationCount count;
            (void)log::detail::BackendRegistry::instance();
            std::_Exit(count.allocations() == 0 ? 0 : 1);
        },
        testing::ExitedWithCode(0), "");
}
#endif

}  // namespace
}  // namespace sluice::test
