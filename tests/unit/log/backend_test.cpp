#include "support/crew.hpp"
#include "support/log_sinks.hpp"
#include "support/watchdog.hpp"

#include <sluice/log/backend.hpp>
#include <sluice/log/logger.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#if defined(__linux__)
#include <pthread.h>
#include <sched.h>
#endif

namespace sluice::log {
namespace {

using namespace std::chrono_literals;
using test::CollectingSink;
using test::Errors;
using test::GatedSink;
using Texts = std::vector<std::string>;

std::shared_ptr<async_logger> loggerOf(const std::shared_ptr<backend>& by,
                                       const std::shared_ptr<spdlog::sinks::sink>& sink,
                                       overflow_policy policy = overflow_policy::block) {
    return std::make_shared<async_logger>("core", sink, by, policy);
}

// ---- set-up

void expectRefused(const backend_options& options, const std::string& setting,
                   const std::string& value) {
    try {
        backend refused(options);
        ADD_FAILURE() << setting << " is accepted";
    } catch (const spdlog::spdlog_ex& error) {
        EXPECT_NE(std::string(error.what()).find(setting), std::string::npos) << error.what();
        EXPECT_NE(std::string(error.what()).find(value), std::string::npos) << error.what();
        EXPECT_NE(std::string(error.what()).find("limit"), std::string::npos) << error.what();
    }
}

TEST(LogBackend, RefusesWhatCannotWork) {
    backend_options options;
    options.queue_size = 0;
    expectRefused(options, "queue_size", ": 0");
    options.queue_size = static_cast<std::size_t>(-1);
    expectRefused(options, "queue_size", "18446744073709551615");
    options = {};
    options.queue_bytes = 7;
    expectRefused(options, "queue_bytes", ": 7");
    options.queue_bytes = static_cast<std::size_t>(-1);
    expectRefused(options, "queue_bytes", "18446744073709551615");
    options = {};
    options.max_hold = 0ns;
    EXPECT_THROW(backend refused(options), spdlog::spdlog_ex);
}

TEST(LogBackend, CallsItsHooksOnTheThreadThatCallsTheSinks) {
    std::mutex mutex;
    std::vector<std::pair<std::string, std::thread::id>> seen;
    const auto note = [&](const char* what) {
        const std::lock_guard<std::mutex> lock(mutex);
        seen.emplace_back(what, std::this_thread::get_id());
    };
    backend_options options;
    options.on_thread_start = [&] { note("start"); };
    options.on_thread_stop = [&] { note("stop"); };
    const auto sink = std::make_shared<CollectingSink>();
    sink->onLine = [&](const spdlog::details::log_msg&) { note("line"); };
    {
        const auto writer = std::make_shared<backend>(options);
        loggerOf(writer, sink)->info("text");
    }
    ASSERT_EQ(seen.size(), 3u);
    EXPECT_EQ(seen[0].first + seen[1].first + seen[2].first, "startlinestop");
    EXPECT_EQ(seen[0].second, seen[1].second);
    EXPECT_EQ(seen[1].second, seen[2].second);
    EXPECT_NE(seen[0].second, std::this_thread::get_id());
}

TEST(LogBackend, AHookMayLogAndDoesNotWaitForItsOwnThread) {
    test::Gate isMade;
    std::weak_ptr<backend> made;
    std::weak_ptr<async_logger> logger;
    std::vector<bool> flushed;
    const auto use = [&] {
        const auto by = made.lock();
        for (int i = 0; i < 10; ++i) {
            logger.lock()->info("from a hook");
        }
        flushed.push_back(by->flush_wait());
    };
    backend_options options;
    options.queue_size = 4;
    options.on_thread_start = [&] {
        isMade.pass();
        use();
    };
    options.on_thread_stop = use;
    const auto writer = std::make_shared<backend>(options);
    const auto sink = std::make_shared<CollectingSink>();
    const auto owned = loggerOf(writer, sink);
    Errors errors;
    owned->set_error_handler(errors.handler());
    made = writer;
    logger = owned;
    isMade.open();
    EXPECT_TRUE(writer->flush_wait());
    EXPECT_TRUE(writer->shutdown());
    EXPECT_EQ(flushed, (std::vector<bool>{false, false}));
    EXPECT_EQ(sink->texts().size() + writer->discard_counter() + writer->statistics().refused, 21u);
    EXPECT_EQ(errors.texts().size(), 10u);
}

TEST(LogBackend, WorksWhenAHookThrows) {
    backend_options options;
    options.on_thread_start = [] { throw std::runtime_error("refused by a hook"); };
    const auto sink = std::make_shared<CollectingSink>();
    const auto writer = std::make_shared<backend>(options);
    loggerOf(writer, sink)->info("text");
    EXPECT_TRUE(writer->flush_wait());
    EXPECT_EQ(sink->texts(), Texts{"text"});
}

#if defined(__linux__)
TEST(LogBackend, NamesItsThreadAndKeepsItOnAProcessor) {
    backend_options options;
    options.thread_name = "a name that is too long";
    options.cpu = sched_getcpu();
    std::string name;
    cpu_set_t processors;
    const auto sink = std::make_shared<CollectingSink>();
    sink->onLine = [&](const spdlog::details::log_msg&) {
        char text[32] = {};
        pthread_getname_np(pthread_self(), text, sizeof text);
        name = text;
        sched_getaffinity(0, sizeof processors, &processors);
    };
    const auto writer = std::make_shared<backend>(options);
    loggerOf(writer, sink)->info("text");
    writer->shutdown();
    EXPECT_EQ(name, "a name that is ");
    EXPECT_EQ(CPU_COUNT(&processors), 1);
    EXPECT_TRUE(CPU_ISSET(static_cast<std::size_t>(options.cpu), &processors));
}

TEST(LogBackend, WorksWhereItMayNotStayOnTheProcessor) {
    backend_options options;
    options.cpu = 100000;
    const auto sink = std::make_shared<CollectingSink>();
    const auto writer = std::make_shared<backend>(options);
    loggerOf(writer, sink)->info("text");
    writer->shutdown();
    EXPECT_EQ(sink->texts(), Texts{"text"});
}
#endif

// ---- flush_wait

TEST(LogBackend, FlushWaitCoversWhatAnybodyLoggedBefore) {
    const auto sink = std::make_shared<CollectingSink>();
    const auto writer = std::make_shared<backend>();
    const auto logger = loggerOf(writer, sink);
    std::atomic<std::size_t> logged{0};
    test::Crew crew;
    for (int i = 0; i < 4; ++i) {
        crew.add([&] {
            for (int n = 0; n < 200; ++n) {
                logger->info("line");
                ++logged;
                if (n % 20 == 0) {
                    const std::size_t before = logged;
                    ASSERT_TRUE(writer->flush_wait());
                    ASSERT_GE(sink->lines().size(), before);
                    ASSERT_GE(sink->linesAtFlush().back(), before);
                }
            }
        });
    }
    crew.join();
}

TEST(LogBackend, FlushWaitFlushesTheSinksOfAllLoggersOnce) {
    const auto shared = std::make_shared<CollectingSink>();
    const auto own = std::make_shared<CollectingSink>();
    const auto writer = std::make_shared<backend>();
    const auto one = loggerOf(writer, shared);
    const auto two =
        std::make_shared<async_logger>("two", spdlog::sinks_init_list{shared, own}, writer);
    EXPECT_TRUE(writer->flush_wait());
    EXPECT_EQ(shared->flushes(), 1u);
    EXPECT_EQ(own->flushes(), 1u);
}

TEST(LogBackend, FlushWaitGivesUpInTime) {
    const auto gated = std::make_shared<GatedSink>();
    const auto writer = std::make_shared<backend>();
    const auto logger = loggerOf(writer, gated);
    logger->info("held");
    gated->gate.awaitArrival();
    EXPECT_FALSE(writer->flush_wait(1ms));
    gated->gate.open();
    EXPECT_TRUE(writer->flush_wait());
    EXPECT_EQ(gated->texts(), Texts{"held"});
}

TEST(LogBackend, FlushWaitInASinkReturnsAtOnce) {
    const auto sink = std::make_shared<CollectingSink>();
    const auto writer = std::make_shared<backend>();
    bool result = true;
    sink->onLine = [&](const spdlog::details::log_msg&) { result = writer->flush_wait(); };
    loggerOf(writer, sink)->info("text");
    writer->shutdown();
    EXPECT_FALSE(result);
}

// ---- shutdown

TEST(LogBackend, WritesWhatItHasTakenBeforeItEnds) {
    const auto sink = std::make_shared<CollectingSink>();
    auto writer = std::make_shared<backend>();
    const auto logger = loggerOf(writer, sink);
    for (int i = 0; i < 5000; ++i) {
        logger->info(i);
    }
    writer.reset();
    const Texts texts = sink->texts();
    ASSERT_EQ(texts.size(), 5000u);
    EXPECT_EQ(texts.back(), "4999");
}

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
    EXPECT_EQ(writer->refused_counter(), 1u);
    EXPECT_EQ(writer->queue_size(), 5001u);
    gated->gate.open();
    EXPECT_LT(gated->texts().size(), 5001u);
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
    EXPECT_EQ(writer->refused_counter(), 1u);
}

TEST(LogBackend, ASinkMayEndItWhileAnotherThreadDoes) {
    const auto sink = std::make_shared<CollectingSink>();
    const auto writer = std::make_shared<backend>();
    test::Gate gate;
    std::atomic<bool> hasReturned{false};
    sink->onLine = [&](const spdlog::details::log_msg&) {
        gate.pass();
        while (writer->refused_counter() == 0) {  // the other thread has begun
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
        std::size_t before = writer->refused_counter();
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
    EXPECT_EQ(writer->refused_counter(), errors.texts().size());
}

// ---- several

TEST(LogBackend, SeveralDoNotMeet) {
    const auto gated = std::make_shared<GatedSink>();
    const auto sink = std::make_shared<CollectingSink>();
    const auto slow = std::make_shared<backend>();
    const auto fast = std::make_shared<backend>();
    const auto slowLogger = loggerOf(slow, gated);
    const auto fastLogger = loggerOf(fast, sink);
    slowLogger->info("slow");
    gated->gate.awaitArrival();
    for (int i = 0; i < 100; ++i) {
        fastLogger->info("fast");
        slowLogger->info("slow");
    }
    EXPECT_TRUE(fast->flush_wait());
    EXPECT_EQ(sink->texts(), Texts(100, "fast"));
    gated->gate.open();
    slow->shutdown();
    EXPECT_EQ(gated->texts(), Texts(101, "slow"));
}

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

// ---- dropped records

TEST(LogBackend, CountsAndTellsWhatWasDiscarded) {
    backend_options options;
    options.queue_size = 4;
    options.notice_interval = 0ns;
    const auto gated = std::make_shared<GatedSink>();
    const auto writer = std::make_shared<backend>(options);
    const auto logger = loggerOf(writer, gated, overflow_policy::discard_new);
    logger->info("held");
    gated->gate.awaitArrival();
    for (int i = 0; i < 100; ++i) {
        logger->info("text");
    }
    const std::size_t discarded = writer->discard_counter();
    EXPECT_GE(discarded, 96u);
    gated->gate.open();
    ASSERT_TRUE(writer->flush_wait());  // finds that records are missing
    ASSERT_TRUE(writer->flush_wait());  // has told so
    EXPECT_EQ(writer->overrun_counter(), 0u);
    const Texts texts = gated->texts();
    EXPECT_EQ(texts.size(), 101u - discarded + 1u);
    EXPECT_EQ(texts.back(), std::to_string(discarded) + " records dropped");
    writer->reset_discard_counter();
    EXPECT_EQ(writer->discard_counter(), 0u);
}

TEST(LogBackend, CountsAndTellsWhatWasOverrun) {
    backend_options options;
    options.queue_size = 4;
    options.notice_interval = 0ns;
    const auto gated = std::make_shared<GatedSink>();
    const auto writer = std::make_shared<backend>(options);
    const auto logger = loggerOf(writer, gated, overflow_policy::overrun_oldest);
    logger->info("held");
    gated->gate.awaitArrival();
    for (int i = 0; i < 100; ++i) {
        logger->info(i);
    }
    gated->gate.open();
    ASSERT_TRUE(writer->flush_wait());
    ASSERT_TRUE(writer->flush_wait());
    const std::size_t overrun = writer->overrun_counter();
    const std::size_t discarded = writer->discard_counter();
    EXPECT_GE(overrun + discarded, 95u);
    const Texts texts = gated->texts();
    EXPECT_EQ(texts.size(), 101u - overrun - discarded + 1u);
    EXPECT_EQ(texts.back(), std::to_string(overrun + discarded) + " records dropped");
    writer->reset_overrun_counter();
    EXPECT_EQ(writer->overrun_counter(), 0u);
}

TEST(LogBackend, TellsNothingWhenItIsToldNotTo) {
    backend_options options;
    options.queue_size = 4;
    options.notice_interval = no_limit;
    const auto gated = std::make_shared<GatedSink>();
    const auto writer = std::make_shared<backend>(options);
    const auto logger = loggerOf(writer, gated, overflow_policy::discard_new);
    logger->info("held");
    gated->gate.awaitArrival();
    for (int i = 0; i < 100; ++i) {
        logger->info("text");
    }
    gated->gate.open();
    writer->shutdown();
    for (const std::string& text : gated->texts()) {
        EXPECT_TRUE(text == "held" || text == "text") << text;
    }
}

}  // namespace
}  // namespace sluice::log
