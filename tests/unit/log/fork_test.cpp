#include "support/crew.hpp"
#include "support/log_sinks.hpp"
#include "support/scale.hpp"
#include "support/temporary_folder.hpp"
#include "support/watchdog.hpp"

#include <sluice/log/backend.hpp>
#include <sluice/log/file_sink.hpp>
#include <sluice/log/logger.hpp>

#include "support/testing.hpp"
#include <spdlog/sinks/basic_file_sink.h>

#include <thread>

#if SLUICE_HAS_POSIX
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sluice::log {
namespace {

/// Runs `work` in a forked child and expects that it ends well.
template <class Work>
void inChild(Work work) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        alarm(20);  // a child that hangs is ended
        _exit(work() ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "status " << status;
}

class LogFork : public testing::Test {
protected:
    void SetUp() override {
        if (test::underThreadSanitizer) {
            GTEST_SKIP() << "ThreadSanitizer lets no thread begin in the child of a fork";
        }
    }

    std::vector<std::string> linesOf(const std::string& path) const {
        std::istringstream content(test::contentOf(path));
        std::vector<std::string> lines;
        for (std::string line; std::getline(content, line);) {
            lines.push_back(line);
        }
        return lines;
    }

    test::TemporaryFolder folder;
    const std::string file = folder / "log.txt";
    std::shared_ptr<backend> writer = std::make_shared<backend>();
};

TEST_F(LogFork, ParentAndChildLogOnAndNothingIsWrittenTwice) {
    const auto sink = std::make_shared<spdlog::sinks::basic_file_sink_mt>(file);
    async_logger logger("core", sink, writer);
    logger.set_pattern("%v");
    for (int i = 0; i < 100; ++i) {
        logger.info("before {}", i);
    }
    inChild([&] {
        for (int i = 0; i < 100; ++i) {
            logger.info("child {}", i);
        }
        return writer->flush_wait();
    });
    for (int i = 0; i < 100; ++i) {
        logger.info("after {}", i);
    }
    ASSERT_TRUE(writer->flush_wait());
    const std::vector<std::string> lines = linesOf(file);
    EXPECT_EQ(lines.size(), 300u);
    EXPECT_EQ(std::set<std::string>(lines.begin(), lines.end()).size(), 300u);
}

TEST_F(LogFork, WhileThreadsLog) {
    // It writes whole lines: one of stdio's has blocks, and the child's line may come between two.
    const auto sink = std::make_shared<file_sink_mt>(file);
    async_logger logger("core", sink, writer);
    logger.set_pattern("%v");
    std::atomic<bool> isOver{false};
    std::atomic<int> logged{0};
    std::atomic<int> begun{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; ++t) {
        threads.emplace_back([&, t] {
            for (int i = 0; !isOver; ++i) {
                logger.info("thread {} {}", t, i);
                ++logged;
                begun += i == 0 ? 1 : 0;
                std::this_thread::yield();
            }
        });
    }
    // A thread's first record makes its lane, from an allocator that the child has as it then is.
    test::awaitThat([&] { return begun == 3; });
    for (int i = 0; i < 10; ++i) {
        const int before = logged;
        while (logged < before + 100) {
            std::this_thread::yield();
        }
        inChild([&, i] {
            logger.info("child {}", i);
            return writer->flush_wait() && writer->shutdown();
        });
    }
    isOver = true;
    for (std::thread& thread : threads) {
        thread.join();
    }
    ASSERT_TRUE(writer->flush_wait());
    const std::vector<std::string> lines = linesOf(file);
    EXPECT_EQ(lines.size(), static_cast<std::size_t>(logged) + 10);
    EXPECT_EQ(std::set<std::string>(lines.begin(), lines.end()).size(), lines.size());
}

#if defined(__linux__)
/// Opens its gate when a thread begins to fork, before the back ends hear of it.
class ForkSignal {
public:
    static ForkSignal& instance() {
        static ForkSignal* const forEver = new ForkSignal;
        return *forEver;
    }
    void aim(test::Gate* gate) { gate_ = gate; }

private:
    // What was registered last is called first.
    ForkSignal() {
        pthread_atfork([] { instance().tell(); }, nullptr, nullptr);
    }
    void tell() {
        if (test::Gate* const gate = gate_.exchange(nullptr)) {
            gate->open();
        }
    }
    std::atomic<test::Gate*> gate_{nullptr};
};

/// One thread forks; its fork waits for a sink that does `work`.
template <class Work>
void forkBesideASink(Work work) {
    const test::Watchdog watchdog([](std::FILE*) {});
    const auto writer = std::make_shared<backend>();
    const auto sink = std::make_shared<test::CollectingSink>();
    {
        test::Gate gate;
        sink->onLine = [&](const spdlog::details::log_msg&) {
            gate.pass();
            work();
        };
        async_logger logger("core", sink, writer);
        logger.info("text");
        gate.awaitArrival();
        ForkSignal::instance().aim(&gate);
        inChild([] { return true; });
        EXPECT_TRUE(writer->flush_wait());
    }
    EXPECT_EQ(sink->lines().size(), 1u);
}

TEST_F(LogFork, AProgramThatASinkStartsBlocksNoSignals) {
    const auto sink = std::make_shared<test::CollectingSink>();
    const auto hasNoneBlocked = [] {
        sigset_t blocked;
        pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
        return sigismember(&blocked, SIGTERM) == 0;
    };
    sink->onLine = [&](const spdlog::details::log_msg&) { inChild(hasNoneBlocked); };
    async_logger logger("core", sink, writer);
    logger.info("text");
    EXPECT_TRUE(writer->flush_wait());
    EXPECT_EQ(sink->texts().size(), 1u);
}

TEST_F(LogFork, WhileASinkForks) {
    forkBesideASink([] { inChild([] { return true; }); });
}

TEST_F(LogFork, WhileASinkMakesABackEnd) {
    forkBesideASink([] { const backend another; });
}

// Each waits in a sink of its own back end. In the child the other back end has ended.
TEST_F(LogFork, WhileTwoSinksFork) {
    const test::Watchdog watchdog([](std::FILE*) {});
    std::atomic<int> inSinks{0};
    std::vector<std::shared_ptr<backend>> writers;
    std::vector<std::shared_ptr<async_logger>> loggers;
    for (int i = 0; i < 2; ++i) {
        const auto sink = std::make_shared<test::CollectingSink>();
        sink->onLine = [&, i](const spdlog::details::log_msg&) {
            ++inSinks;
            test::awaitThat([&] { return inSinks == 2; });
            inChild([&, i] {
                loggers[static_cast<std::size_t>(1 - i)]->set_error_handler(
                    [](const std::string&) {});
                loggers[static_cast<std::size_t>(1 - i)]->info("refused or taken");
                return true;
            });
        };
        writers.push_back(std::make_shared<backend>());
        loggers.push_back(std::make_shared<async_logger>("core", sink, writers.back()));
    }
    for (const auto& logger : loggers) {
        logger->info("text");
    }
    for (const auto& each : writers) {
        EXPECT_TRUE(each->flush_wait());
    }
}
#endif

TEST_F(LogFork, CallsNoSink) {
    test::Gate start;
    backend_options options;
    options.on_thread_start = [&] { start.pass(); };
    writer = std::make_shared<backend>(options);
    const auto sink = std::make_shared<test::CollectingSink>();
    async_logger logger("core", sink, writer);
    logger.info("text");
    inChild([&] { return writer->queue_size() == 0; });
    EXPECT_EQ(sink->lines().size() + sink->flushes(), 0u);
    start.open();
    ASSERT_TRUE(writer->flush_wait());
    ASSERT_EQ(sink->lines().size(), 1u);
    EXPECT_NE(sink->lines()[0].calledBy, std::this_thread::get_id());
}

// In the child, nobody would ever unlock what the sink has locked.
TEST_F(LogFork, WithAMutexThatASinkWaitsFor) {
    const test::Watchdog watchdog([](std::FILE*) {});
    const auto sink = std::make_shared<test::CollectingSink>();
    std::mutex users;
    test::Gate gate;
    gate.open();
    sink->onLine = [&](const spdlog::details::log_msg&) {
        gate.pass();
        const std::lock_guard<std::mutex> lock(users);
    };
    async_logger logger("core", sink, writer);
    {
        const std::lock_guard<std::mutex> lock(users);
        logger.info("text");
        gate.awaitArrival();
        inChild([&] { return !writer->flush_wait() && !writer->shutdown(); });
    }
    ASSERT_TRUE(writer->flush_wait());
    EXPECT_EQ(sink->lines().size(), 1u);
}

TEST_F(LogFork, WhileBackEndsAndLoggersEnd) {
    std::atomic<bool> isOver{false};
    const auto sink = std::make_shared<test::CollectingSink>();
    std::thread ending([&] {
        while (!isOver) {
            const auto another = std::make_shared<backend>();
            async_logger logger("core", sink, another);
            logger.info("text");
            another->shutdown();
        }
    });
    for (int i = 0; i < 300; ++i) {
        inChild([] { return true; });
    }
    isOver = true;
    ending.join();
}

TEST_F(LogFork, AChildThatLogsNothingEndsItsBackEnd) {
    async_logger logger("core", std::make_shared<test::CollectingSink>(), writer);
    logger.info("text");
    inChild([&] {
        const bool isComplete = writer->shutdown() && !writer->flush_wait();
        writer.reset();
        return isComplete;
    });
    EXPECT_TRUE(writer->flush_wait());
}

TEST_F(LogFork, TheChildHasThePatternThatWasSetBefore) {
    async_logger logger("core", std::make_shared<file_sink_mt>(file), writer);
    std::vector<std::string> expected;
    for (int i = 0; i < 20; ++i) {
        logger.set_pattern(std::to_string(i) + " %v");
        inChild([&] {
            logger.info("text");
            return writer->shutdown();
        });
        expected.push_back(std::to_string(i) + " text");
    }
    EXPECT_EQ(linesOf(file), expected);
}

TEST_F(LogFork, WhileItsWorkerWaitsForWork) {
    const auto sink = std::make_shared<test::CollectingSink>();
    async_logger logger("core", sink, writer);
    constexpr std::size_t rounds = 50;
    for (std::size_t i = 0; i < rounds; ++i) {
        // A lane that the worker has not seen yet, and one that has been left.
        std::thread([&] { logger.info("text"); }).join();
        inChild([] { return true; });
    }
    ASSERT_TRUE(writer->flush_wait());
    EXPECT_EQ(sink->lines().size(), rounds);
}

TEST_F(LogFork, WhileTheSinkOfOneBackEndUsesAnother) {
    const auto older = std::make_shared<backend>();
    const auto newer = std::make_shared<backend>();
    const auto last = std::make_shared<test::CollectingSink>();
    const auto target = std::make_shared<async_logger>("target", last, newer);
    const auto sink = std::make_shared<test::GatedSink>();
    constexpr std::size_t flushes = 20000;
    sink->onLine = [&](const spdlog::details::log_msg&) {
        sink->gate.pass();
        for (std::size_t i = 0; i < flushes; ++i) {
            target->flush();
        }
    };
    async_logger logger("core", sink, older);
    logger.info("text");
    sink->gate.awaitArrival();
    sink->gate.open();
    inChild([] { return true; });
    EXPECT_TRUE(older->flush_wait());
    EXPECT_TRUE(newer->flush_wait());
    EXPECT_GE(last->flushes(), 1u);  // requests are merged
}

TEST_F(LogFork, DoesNotWaitForASinkThatWasGivenUp) {
    const auto sink = std::make_shared<test::GatedSink>();
    async_logger logger("core", sink, writer);
    logger.info("held");
    sink->gate.awaitArrival();
    EXPECT_FALSE(writer->shutdown(std::chrono::milliseconds(1)));
    inChild([&] { return !writer->flush_wait(); });
    EXPECT_EQ(sink->gate.pending(), 1u);
    sink->gate.open();
}

TEST_F(LogFork, TheChildCountsOnlyItsOwnRecords) {
    const auto sink = std::make_shared<test::CollectingSink>();
    sink->onLine = [](const spdlog::details::log_msg& message) {
        if (message.payload == "lost") {
            throw std::runtime_error("no room on the disk");
        }
    };
    async_logger logger("counted", sink, writer);
    logger.set_error_handler([](const std::string&) {});
    logger.info("written");
    logger.info("lost");
    inChild([&] {
        logger.info("child");
        const bool isFlushed = writer->flush_wait();
        const auto counts = writer->statistics();
        return isFlushed && counts.logged == 1 && counts.written == 1 && counts.lost_in_sinks == 0;
    });
    EXPECT_FALSE(writer->flush_wait()) << "the parent has lost one";
    EXPECT_EQ(writer->statistics().written, 1u);
}

TEST_F(LogFork, TheChildCallsHooksAlsoIfAThreadOfTheParentIsInOne) {
    file_sink_mt sink(file);
    test::Gate gate;
    std::atomic<int> calls{0};
    file_rotation rotation;
    rotation.max_bytes = 1;
    rotation.after_rotation = [&](const std::string&) {
        if (calls++ == 0) {
            gate.pass();
        }
    };
    sink.set_rotation(rotation);
    const auto logTwo = [&sink] {
        for (int i = 0; i < 2; ++i) {
            sink.log({"core", spdlog::level::info, "line"});
            sink.flush();
        }
    };
    std::thread other(logTwo);
    gate.awaitArrival();
    inChild([&] {
        logTwo();
        return calls == 3;
    });
    gate.open();
    other.join();
}

TEST_F(LogFork, ADropNoticeIsFlushedBefore) {
    backend_options options;
    options.queue_size = 1;
    options.pacing = pacing_policy::nap;
    options.notice_interval = std::chrono::milliseconds(200);
    writer = std::make_shared<backend>(options);
    const auto sink = std::make_shared<test::GatedSink>();
    async_logger logger("core", sink, writer, Overflow::reject);
    logger.info("held");
    sink->gate.awaitArrival();
    for (int i = 0; i < 5; ++i) {
        logger.info("discarded");
    }
    sink->gate.open();
    ASSERT_TRUE(writer->flush_wait());
    test::awaitThat([&] { return sink->texts().back().find("dropped") != std::string::npos; });
    inChild([&] { return sink->linesAtFlush().back() == sink->lines().size(); });
}

TEST_F(LogFork, TheChildTellsOnlyOfItsOwnDrops) {
    backend_options options;
    options.queue_size = 1;
    options.notice_interval = std::chrono::nanoseconds::zero();
    writer = std::make_shared<backend>(options);
    const auto sink = std::make_shared<test::CollectingSink>();
    test::Gate gate;
    sink->onLine = [&](const spdlog::details::log_msg& message) {
        if (message.payload == "held") {
            gate.pass();
        }
    };
    async_logger oldest("oldest", sink, writer, Overflow::dropOldest);
    async_logger newest("newest", sink, writer, Overflow::reject);
    oldest.info("held");
    gate.awaitArrival();
    for (int i = 0; i < 5; ++i) {
        oldest.info("overrun");
    }
    for (int i = 0; i < 5; ++i) {
        newest.info("discarded");
    }
    gate.open();
    ASSERT_TRUE(writer->flush_wait());
    ASSERT_GT(writer->overrun_counter(), 0u);
    ASSERT_GT(writer->discard_counter(), 0u);
    ASSERT_TRUE(writer->flush_wait());  // the notices, too
    const std::size_t before = sink->lines().size();
    inChild([&] {
        oldest.info("child");
        bool isRight = writer->flush_wait() && writer->flush_wait();
        isRight = isRight && sink->lines().size() == before + 1;
        isRight = isRight && writer->overrun_counter() + writer->discard_counter() == 0;
        return isRight && writer->shutdown() && sink->lines().size() == before + 1;
    });
}

}  // namespace
}  // namespace sluice::log
#endif
