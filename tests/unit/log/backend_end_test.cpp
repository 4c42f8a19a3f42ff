// The end of a back end: by its owner, by a sink, by several at once.

#include "logger_of.hpp"

#include "support/crew.hpp"
#include "support/log_sinks.hpp"
#include "support/watchdog.hpp"

#include <sluice/log/backend.hpp>
#include <sluice/log/logger.hpp>

#include "support/testing.hpp"
#include <thread>

namespace sluice::log {
namespace {

using namespace std::chrono_literals;
using test::CollectingSink;
using test::Errors;
using test::GatedSink;
using test::loggerOf;
using Texts = std::vector<std::string>;

TEST(LogBackend, CountsWhatItCouldNotWriteInTime) {
    const auto gated = std::make_shared<GatedSink>();
    const auto writer = std::make_shared<backend>();
    const auto logger = loggerOf(writer, gated);
    logger->info("held");
    gated->gate.awaitArrival();
    for (int i = 0; i < 5000; ++i) {
        logger->info(i);
    }
    EXPECT_FALSE(writer->shutdown(1ms));
    EXPECT_FALSE(writer->shutdown());
    EXPECT_FALSE(writer->flush_wait(1ms));
    logger->info("refused");
    EXPECT_EQ(writer->statistics().rejected_after_end, 1u);
    EXPECT_EQ(writer->queue_size(), 5001u);
    gated->gate.open();
    EXPECT_LT(gated->texts().size(), 5001u);
}

TEST(LogBackend, WritesNoFurtherRecordWhenItsTimeIsOver) {
    test::Gate start;
    std::atomic<bool> isOver{false};
    backend_options options;
    options.on_thread_start = [&] { start.pass(); };
    options.on_thread_stop = [&] { isOver = true; };
    const auto gated = std::make_shared<GatedSink>();
    const auto writer = std::make_shared<backend>(options);
    async_logger logger("core", gated, writer, Overflow::dropOldest);  // its records are copied
    const auto logTen = [&] {
        for (int i = 0; i < 10; ++i) {
            logger.info(i);
        }
    };
    logTen();
    std::thread(logTen).join();
    start.open();
    gated->gate.awaitArrival();
    EXPECT_FALSE(writer->shutdown(1ms));
    gated->gate.open();
    test::awaitThat([&] { return isOver.load(); });
    EXPECT_EQ(gated->texts(), Texts{"0"});
    const auto counts = writer->statistics();
    EXPECT_EQ(counts.written + counts.lost_in_sinks + counts.messages, 20u);
    EXPECT_EQ(writer->queue_size(), counts.messages);
}

TEST(LogBackend, RejectsWithoutEvictionWhenItsTimeIsOver) {
    std::atomic<bool> isOver{false};
    backend_options options;
    options.queue_size = 32;
    options.on_thread_stop = [&] { isOver = true; };
    const auto gated = std::make_shared<GatedSink>();
    const auto writer = std::make_shared<backend>(options);
    auto ended = std::make_shared<async_logger>("ended", gated, writer, Overflow::dropOldest);
    async_logger logger("log", gated, writer, Overflow::dropOldest);
    ended->info("held");
    gated->gate.awaitArrival();
    for (int i = 0; i < 100; ++i) {
        ended->info(i);
    }
    ended.reset();
    EXPECT_FALSE(writer->shutdown(1ms));
    gated->gate.open();
    test::awaitThat([&] { return isOver.load(); });
    const std::uint64_t evicted = writer->statistics().dropped;
    logger.info("refused");
    EXPECT_EQ(writer->statistics().rejected_after_end, 1u);
    EXPECT_EQ(writer->statistics().dropped, evicted);
}

TEST(LogBackend, TheLimitOfAShutdownHoldsBesideAnother) {
    const test::Watchdog watchdog([](std::FILE*) {});
    const auto gated = std::make_shared<GatedSink>();
    const auto writer = std::make_shared<backend>();
    const auto logger = loggerOf(writer, gated);
    logger->info("held");
    gated->gate.awaitArrival();
    std::thread other([&] { EXPECT_TRUE(writer->shutdown()); });
    logger->set_error_handler([](const std::string&) {});
    test::awaitThat([&] {
        logger->info("until it is refused");
        return writer->statistics().rejected_after_end != 0;
    });
    EXPECT_FALSE(writer->shutdown(1ms));
    gated->gate.open();
    other.join();
}

TEST(LogBackend, AnErrorHandlerThatLogsAfterTheEndIsCalledOnce) {
    const auto writer = std::make_shared<backend>();
    const auto logger = loggerOf(writer, std::make_shared<CollectingSink>());
    writer->shutdown();
    int calls = 0;
    logger->set_error_handler([&](const std::string& text) {
        if (++calls < 1000) {
            logger->error(text);
        }
    });
    logger->info("refused");
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(writer->statistics().rejected_after_end, 2u);
    logger->flush();
    EXPECT_EQ(calls, 2);
}

TEST(LogBackend, ASinkMayEndItAndTheRestIsWritten) {
    const auto sink = std::make_shared<CollectingSink>();
    const auto writer = std::make_shared<backend>();
    test::Gate gate;
    sink->onLine = [&](const spdlog::details::log_msg& message) {
        if (message.level == spdlog::level::err) {
            gate.pass();
            EXPECT_FALSE(writer->shutdown());
        }
    };
    const auto logger = loggerOf(writer, sink);
    logger->error("text");
    gate.awaitArrival();
    logger->info("behind it");
    gate.open();
    test::awaitThat([&] { return sink->texts().size() == 2; });
    EXPECT_FALSE(writer->shutdown());
    EXPECT_FALSE(writer->flush_wait()) << "nobody would come for it";
    logger->info("refused");
    EXPECT_EQ(writer->statistics().rejected_after_end, 1u);
}

TEST(LogBackend, ASinkMayEndItWhileAnotherThreadDoes) {
    const auto sink = std::make_shared<CollectingSink>();
    const auto writer = std::make_shared<backend>();
    test::Gate gate;
    std::atomic<bool> hasReturned{false};
    sink->onLine = [&](const spdlog::details::log_msg&) {
        gate.pass();
        while (writer->statistics().rejected_after_end == 0) {  // the other thread has begun
            std::this_thread::yield();
        }
        EXPECT_FALSE(writer->shutdown());
        hasReturned = true;
    };
    const auto logger = loggerOf(writer, sink);
    logger->info("text");
    gate.awaitArrival();
    std::thread other([&] { EXPECT_TRUE(writer->shutdown()); });
    Errors errors;
    logger->set_error_handler(errors.handler());
    gate.open();
    test::awaitThat([&] {
        logger->trace("nothing");
        std::size_t before = writer->statistics().rejected_after_end;
        if (before == 0) {
            logger->info("until it is refused");
        }
        return before != 0;
    });
    other.join();
    EXPECT_TRUE(hasReturned);
}

TEST(LogBackend, TwoMayBeEndedByEachOthersSinks) {
    const test::Watchdog watchdog([](std::FILE*) {});
    struct Side {
        std::shared_ptr<backend> writer = std::make_shared<backend>();
        std::shared_ptr<CollectingSink> sink = std::make_shared<CollectingSink>();
        test::Gate gate;
    };
    Side one;
    Side other;
    const auto endBy = [](Side& from, backend& ended) {
        from.sink->onLine = [&](const spdlog::details::log_msg&) {
            from.gate.pass();
            ended.shutdown();
        };
        loggerOf(from.writer, from.sink)->info("text");
        from.gate.awaitArrival();
    };
    endBy(one, *other.writer);
    endBy(other, *one.writer);
    one.gate.open();
    other.gate.open();
    test::awaitThat([&] { return one.sink->lines().size() + other.sink->lines().size() == 2; });
}

TEST(LogBackend, WakesCallersThatWaitForRoomWhenItEnds) {
    backend_options options;
    options.queue_size = 2;
    const auto gated = std::make_shared<GatedSink>();
    const auto writer = std::make_shared<backend>(options);
    const auto logger = loggerOf(writer, gated);
    Errors errors;
    logger->set_error_handler(errors.handler());
    std::atomic<int> calls{0};
    std::thread caller([&] {
        for (; calls < 10; ++calls) {
            logger->info("text");
        }
    });
    gated->gate.awaitArrival();
    EXPECT_FALSE(writer->shutdown(1ms));
    caller.join();
    EXPECT_GE(errors.texts().size(), 1u);
    EXPECT_EQ(writer->statistics().rejected_after_end, errors.texts().size());
}

// ---- several

TEST(LogBackend, MayEndAndBeginWhileThreadsLog) {
    const test::Watchdog watchdog([](std::FILE*) {});
    const auto sink = std::make_shared<CollectingSink>();
    std::shared_ptr<backend> writer = std::make_shared<backend>();
    std::shared_ptr<async_logger> current = loggerOf(writer, sink);
    std::atomic<std::size_t> refused{0};
    const auto count = [&](const std::string&) { ++refused; };
    current->set_error_handler(count);
    std::atomic<bool> isOver{false};
    std::atomic<std::size_t> calls{0};
    test::Crew crew;
    for (int i = 0; i < 3; ++i) {
        crew.add([&] {
            while (!isOver) {
                const auto logger = std::atomic_load(&current);
                for (int n = 0; n < 10; ++n) {
                    logger->info("text");
                    ++calls;
                }
            }
        });
    }
    crew.start();
    for (int round = 0; round < 30; ++round) {
        auto next = std::make_shared<backend>();
        auto logger = loggerOf(next, sink);
        logger->set_error_handler(count);
        if (round % 2 == 0) {
            writer.reset();  // threads are still logging there
        }
        std::atomic_store(&current, std::move(logger));
        writer = std::move(next);
        const std::size_t before = calls;
        test::awaitThat([&] { return calls > before + 20; });
    }
    isOver = true;
    crew.join();
    current.reset();
    writer.reset();
    EXPECT_EQ(sink->lines().size() + refused, calls);
}

}  // namespace
}  // namespace sluice::log
