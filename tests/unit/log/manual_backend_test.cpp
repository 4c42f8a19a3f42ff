#include "support/log_sinks.hpp"
#include "support/scale.hpp"

#include <sluice/log/backend.hpp>
#include <sluice/log/deferred.hpp>
#include <sluice/log/logger.hpp>

#include <spdlog/sinks/base_sink.h>

#include "support/testing.hpp"
#include <thread>

#if !defined(_WIN32)
#include <sys/wait.h>
#include <unistd.h>
#endif

namespace sluice::log::test {
namespace {

using sluice::test::CollectingSink;

class ManualBackendTest : public testing::Test {
protected:
    static backend_options manual() {
        backend_options options;
        options.manual = true;
        options.queue_size = 4;
        return options;
    }

    static std::vector<std::string> numbers(int count) {
        std::vector<std::string> result;
        for (int i = 0; i < count; ++i) {
            result.push_back(std::to_string(i));
        }
        return result;
    }
    void logNumbers(int count) {
        for (int i = 0; i < count; ++i) {
            logger->info("{}", i);
        }
    }

    std::shared_ptr<backend> by = std::make_shared<backend>(manual());
    std::shared_ptr<CollectingSink> sink = std::make_shared<CollectingSink>();
    std::shared_ptr<async_logger> logger = std::make_shared<async_logger>("log", sink, by);
};

TEST_F(ManualBackendTest, PollWritesOnTheCallersThread) {
    logNumbers(3);
    EXPECT_TRUE(sink->texts().empty());
    EXPECT_EQ(by->poll(), 3U);
    EXPECT_EQ(sink->texts(), numbers(3));
    EXPECT_EQ(sink->lines()[0].calledBy, std::this_thread::get_id());
    EXPECT_EQ(by->poll(), 0U);
    logNumbers(3);
    EXPECT_TRUE(by->flush_wait()) << "it writes, too";
    EXPECT_EQ(sink->texts().size(), 6U);
    EXPECT_EQ(sink->flushes(), 1U);
    std::thread([&] { EXPECT_FALSE(by->flush_wait(std::chrono::milliseconds(5))); }).join();
    EXPECT_EQ(backend().poll(), 0U) << "it has a thread";
}

TEST_F(ManualBackendTest, AFullLaneOfThePollingThreadIsEmptiedByItself) {
    logNumbers(100);  // before any poll()
    by->poll();
    logNumbers(100);
    by->poll();
    EXPECT_EQ(sink->texts().size(), 200U);
    EXPECT_EQ(by->discard_counter(), 0U);
}

// A destructor of a thread-local object runs when the thread has no lane any more.
struct AtThreadEnd {
    std::function<void()> run;
    ~AtThreadEnd() {
        if (run) {
            run();
        }
    }
};

TEST_F(ManualBackendTest, APollingThreadThatEndsEmptiesTheLaneOfAll) {
    constexpr int many = 20'000;
    std::thread polling([&] {
        thread_local AtThreadEnd last;
        last.run = [&] { logNumbers(many); };
        logger->info("so the thread has a lane, which goes first");
        by->poll();
    });
    polling.join();
    by->poll();
    EXPECT_EQ(sink->texts().size(), many + 1U);
    EXPECT_EQ(by->statistics().rejected, 0U);
}

TEST_F(ManualBackendTest, AFullLaneAndAFlushOfAnotherThreadWaitForPoll) {
    std::atomic<bool> isOver{false};
    std::thread other([&] {
        logNumbers(100);
        EXPECT_TRUE(by->flush_wait());
        isOver = true;
    });
    while (!isOver) {
        by->poll();
        std::this_thread::yield();
    }
    other.join();
    EXPECT_EQ(sink->texts(), numbers(100));
    for (const auto& line : sink->lines()) {
        EXPECT_EQ(line.calledBy, std::this_thread::get_id());
    }
}

TEST_F(ManualBackendTest, TheThreadThatPolledLastIsThePollingThread) {
    std::thread([&] {
        by->poll();
        logNumbers(100);
        EXPECT_TRUE(by->flush_wait());
    }).join();
    EXPECT_EQ(sink->texts(), numbers(100));
}

TEST_F(ManualBackendTest, ShutdownWritesTheRestAndFlushes) {
    logNumbers(3);
    EXPECT_TRUE(by->shutdown());
    EXPECT_EQ(sink->texts(), numbers(3));
    EXPECT_EQ(sink->flushes(), 1U);
    logger->set_error_handler([](const std::string&) {});
    logger->info("late");
    EXPECT_EQ(by->poll(), 0U);
    EXPECT_FALSE(by->flush_wait());
    EXPECT_EQ(by->statistics().rejected_after_end, 1U);
    EXPECT_EQ(sink->flushes(), 1U);
}

TEST_F(ManualBackendTest, ASinkKeepsAFormatterThatIsQueuedAtATimeout) {
    logger->set_pattern("new %v");
    EXPECT_FALSE(by->shutdown(std::chrono::nanoseconds(0)));
    sink->log({"log", spdlog::level::info, "x"});
    EXPECT_EQ(sink->formatted(), std::vector<std::string>{"new x"});
}

/// Does something in its first call.
class ActingSink : public spdlog::sinks::base_sink<std::mutex> {
public:
    std::function<void()> act;
    std::atomic<int> records{0};

private:
    // NOLINTBEGIN(readability-identifier-naming): names of spdlog
    void sink_it_(const spdlog::details::log_msg&) override {
        if (++records == 1) {
            act();
        }
    }
    void flush_() override {}
    // NOLINTEND(readability-identifier-naming)
};

TEST_F(ManualBackendTest, ItsLimitsHoldWithASlowSink) {
    auto options = manual();
    options.queue_size = 4000;
    by = std::make_shared<backend>(options);
    logger = std::make_shared<async_logger>("log", sink, by);
    sink->onLine = [](const auto&) { std::this_thread::sleep_for(std::chrono::milliseconds(2)); };
    for (const auto ends : {&backend::flush_wait, &backend::shutdown}) {
        logNumbers(1000);
        EXPECT_FALSE((*by.*ends)(std::chrono::milliseconds(20)));
        EXPECT_GT(by->queue_size(), 0U);
        EXPECT_EQ(sink->texts().size() + by->queue_size(), by->statistics().logged);
    }
}

TEST_F(ManualBackendTest, ASinkNeitherPollsNorWaits) {
    const auto acting = std::make_shared<ActingSink>();
    async_logger outer("outer", acting, by);
    acting->act = [&] {
        EXPECT_EQ(by->poll(), 0U);
        EXPECT_FALSE(by->flush_wait());
        logNumbers(1000);  // what has no room is discarded
    };
    outer.info("text");
    EXPECT_EQ(by->poll(), 1U);
    by->poll();
    EXPECT_NE(by->discard_counter(), 0U);
    EXPECT_EQ(by->discard_counter() + sink->texts().size(), 1000U + 1U);  // and a line that says so
}

#if !defined(_WIN32)
TEST_F(ManualBackendTest, TheChildOfAForkPolls) {
    if (sluice::test::underThreadSanitizer) {
        GTEST_SKIP() << "the child makes the mutex of the lanes anew, which ThreadSanitizer takes "
                        "for one that is still locked";
    }
    logNumbers(2);
    const pid_t child = fork();
    if (child == 0) {
        const std::size_t before = sink->texts().size();
        for (int i = 0; i < 10; ++i) {
            logger->info("child");
        }
        by->poll();
        _exit(before == 0 && sink->texts().size() == 10 ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    logNumbers(10);
    by->poll();
    EXPECT_EQ(sink->texts().size(), 12U);
}
#endif

}  // namespace
}  // namespace sluice::log::test
