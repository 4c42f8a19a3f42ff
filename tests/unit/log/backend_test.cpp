#include "logger_of.hpp"

#include "support/crew.hpp"
#include "support/log_sinks.hpp"
#include "support/watchdog.hpp"

#include <sluice/base/blocked_signals.hpp>
#include <sluice/log/backend.hpp>
#include <sluice/log/deferred.hpp>
#include <sluice/log/logger.hpp>

#include "support/testing.hpp"
#include <csignal>
#include <thread>

#if defined(__linux__)
#include <pthread.h>
#endif

namespace sluice::log {
namespace {

using namespace std::chrono_literals;
using test::CollectingSink;
using test::Errors;
using test::GatedSink;
using test::loggerOf;
using Texts = std::vector<std::string>;

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
    constexpr auto tooMany = static_cast<std::size_t>(-1);
    options.queue_size = 0;
    expectRefused(options, "queue_size", ": 0");
    options.queue_size = tooMany;
    expectRefused(options, "queue_size", std::to_string(tooMany));
    options = {};
    options.queue_bytes = 7;
    expectRefused(options, "queue_bytes", ": 7");
    options.queue_bytes = tooMany;
    expectRefused(options, "queue_bytes", std::to_string(tooMany));
}

#if !defined(_WIN32)
static_assert(sizeof(sluice::detail::BlockedSignals) == sizeof(sigset_t), "it blocks some");

// A handler on the back end's thread that calls exit() would wait for its own thread.
TEST(LogBackend, ItsThreadBlocksSignalsExceptFaults) {
    sigset_t blocked;
    backend_options options;
    options.on_thread_start = [&] { pthread_sigmask(SIG_BLOCK, nullptr, &blocked); };
    backend(options).shutdown();
    EXPECT_TRUE(sigismember(&blocked, SIGTERM) && sigismember(&blocked, SIGUSR1));
    EXPECT_FALSE(sigismember(&blocked, SIGSEGV) || sigismember(&blocked, SIGABRT));
    sigset_t callers;
    pthread_sigmask(SIG_BLOCK, nullptr, &callers);
    EXPECT_FALSE(sigismember(&callers, SIGTERM));
}
#endif

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
    EXPECT_EQ(sink->texts().size() + writer->discard_counter() +
                  writer->statistics().rejected_after_end,
              21u);
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
TEST(LogBackend, NamesItsThread) {
    backend_options options;
    options.thread_name = "a name that is too long";
    std::string name;
    const auto sink = std::make_shared<CollectingSink>();
    sink->onLine = [&](const spdlog::details::log_msg&) {
        char text[32] = {};
        pthread_getname_np(pthread_self(), text, sizeof text);
        name = text;
    };
    const auto writer = std::make_shared<backend>(options);
    loggerOf(writer, sink)->info("text");
    writer->shutdown();
    EXPECT_EQ(name, "a name that is ");
}
#endif

TEST(LogBackend, EveryPacingPolicyWritesWhatIsLogged) {
    for (const auto policy : {pacing_policy::park, pacing_policy::nap, pacing_policy::spin}) {
        backend_options options;
        options.pacing = policy;
        const auto sink = std::make_shared<CollectingSink>();
        const auto writer = std::make_shared<backend>(options);
        const auto logger = loggerOf(writer, sink);
        for (std::size_t count = 1; count <= 20; ++count) {
            logger->info("text");
            test::awaitThat([&] { return sink->lines().size() == count; });
        }
    }
}

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

// ---- dropped records

TEST(LogBackend, CountsAndTellsWhatWasDropped) {
    for (const auto policy : {Overflow::reject, Overflow::dropOldest}) {
        for (const auto interval : {std::chrono::nanoseconds(0), no_limit}) {
            backend_options options;
            options.queue_size = 4;
            options.notice_interval = interval;
            std::map<spdlog::level::level_enum, std::uint64_t> dropped;
            options.on_drop = [&](const dropped_records& some) {
                EXPECT_EQ(some.logger, "core");
                EXPECT_NE(some.count, 0u);
                dropped[some.level] += some.count;
                throw std::runtime_error("reported as an error");
            };
            const auto gated = std::make_shared<GatedSink>();
            const auto writer = std::make_shared<backend>(options);
            const auto logger = loggerOf(writer, gated, policy);
            Errors errors;
            logger->set_error_handler(errors.handler());
            logger->info("held");
            gated->gate.awaitArrival();
            for (int i = 0; i < 100; ++i) {
                logger->log(i < 90 ? spdlog::level::info : spdlog::level::warn, i);
            }
            gated->gate.open();
            ASSERT_TRUE(writer->flush_wait());  // finds that records are missing
            ASSERT_TRUE(writer->flush_wait());  // has written so
            const std::size_t missing = writer->overrun_counter() + writer->discard_counter();
            EXPECT_GE(missing, 95u);
            EXPECT_EQ(writer->overrun_counter() == 0, policy == Overflow::reject);
            const Texts texts = gated->texts();
            EXPECT_EQ(texts.size(), 101u - missing + (interval == no_limit ? 0u : 1u));
            EXPECT_EQ(texts.back() == std::to_string(missing) + " records dropped",
                      interval != no_limit);
            writer->shutdown();
            EXPECT_EQ(dropped[spdlog::level::info] + dropped[spdlog::level::warn], missing);
            EXPECT_EQ(dropped[spdlog::level::warn], policy == Overflow::reject ? 10u : 6u);
            EXPECT_EQ(dropped.size(), 2u);
            EXPECT_GE(errors.texts().size(), 2u);
            writer->reset_overrun_counter();
            writer->reset_discard_counter();
            EXPECT_EQ(writer->overrun_counter() + writer->discard_counter(), 0u);
        }
    }
}

/// Holds the back end's thread until the gate is opened.
backend_options heldBy(test::Gate& start, std::size_t room) {
    backend_options options;
    options.queue_size = room;
    options.notice_interval = no_limit;
    options.on_thread_start = [&] { start.pass(); };
    return options;
}

TEST(LogBackend, DropOldestEvictsNoRecordOfALoggerWithAnotherPolicy) {
    test::Gate start;
    const auto sink = std::make_shared<CollectingSink>();
    const auto writer = std::make_shared<backend>(heldBy(start, 8));
    const auto debug = loggerOf(writer, sink, Overflow::dropOldest);
    const auto warning = loggerOf(writer, sink, Overflow::block);
    debug->info("evicted");
    warning->warn("kept");
    for (int i = 0; i < 100; ++i) {
        debug->info("debug {}", i);
    }
    start.open();
    ASSERT_TRUE(writer->flush_wait());
    const Texts texts = sink->texts();
    ASSERT_EQ(texts.size(), 8u);
    EXPECT_EQ(texts.front(), "kept");
    EXPECT_EQ(writer->overrun_counter(), 1u);
    EXPECT_EQ(writer->discard_counter(), 93u);
}

TEST(LogBackend, RecordsBelowErrTakeNoRoomFromErrors) {
    for (const auto policy : {Overflow::reject, Overflow::dropOldest}) {
        test::Gate start;
        const auto sink = std::make_shared<CollectingSink>();
        const auto writer = std::make_shared<backend>(heldBy(start, 8));
        const auto logger = loggerOf(writer, sink, policy);
        const auto logThem = [&](int begin, int end) {
            for (int i = begin; i < end; ++i) {
                logger->log(i % 25 == 0 ? spdlog::level::err : spdlog::level::warn, i);
            }
        };
        logThem(0, 100);
        SLUICE_LOG_CRITICAL(logger, "{}", 100);
        std::thread([&] { logThem(101, 126); }).join();
        const backend_statistics counts = writer->statistics();
        EXPECT_EQ(counts.messages, 5u + 1u + 2u * 8u);
        EXPECT_EQ(counts.dropped + counts.rejected, 126u - counts.messages);
        ASSERT_EQ(counts.threads.size(), 4u);
        std::uint64_t errors = 0;
        for (const thread_statistics& lane : counts.threads) {
            errors += lane.errors ? lane.messages : 0;
            EXPECT_EQ(lane.dropped + lane.rejected == 0, lane.errors);
        }
        EXPECT_EQ(errors, 6u);
        start.open();
        EXPECT_TRUE(writer->flush_wait());
        Texts kept;
        for (const auto& line : sink->lines()) {
            if (line.level >= spdlog::level::err) {
                kept.push_back(line.text);
            }
        }
        EXPECT_EQ(kept, (Texts{"0", "25", "50", "75", "100", "125"}));
    }
}

// Two lanes of each thread, so their records are merged.
TEST(LogBackend, KeepsTheOrderOfLevels) {
    const auto sink = std::make_shared<CollectingSink>();
    const auto writer = std::make_shared<backend>();
    const auto logger = loggerOf(writer, sink);
    test::Crew crew;
    for (int thread = 0; thread < 3; ++thread) {
        crew.add([&, thread] {
            for (int i = 0; i < 2000; ++i) {
                const auto level = i % 3 == 0 ? spdlog::level::err : spdlog::level::info;
                logger->log(level, "{} {}", thread, i);
            }
        });
    }
    crew.start();
    crew.join();
    ASSERT_TRUE(writer->flush_wait());
    std::map<char, int> next;
    for (const std::string& text : sink->texts()) {
        EXPECT_EQ(std::stoi(text.substr(2)), next[text[0]]++);
    }
    EXPECT_EQ(next, (std::map<char, int>{{'0', 2000}, {'1', 2000}, {'2', 2000}}));
}

// Half of the lane would be 32 records.
TEST(LogBackend, ASlowSinkWakesACallerThatWaitsForRoomAfterAFewRecords) {
    const test::Watchdog watchdog([](std::FILE*) {});
    test::Gate start;
    test::Gate rest;
    const auto sink = std::make_shared<CollectingSink>();
    int received = 0;
    sink->onLine = [&](const spdlog::details::log_msg&) {
        if (++received == 20) {
            rest.pass();
        }
    };
    const auto writer = std::make_shared<backend>(heldBy(start, 64));
    const auto logger = loggerOf(writer, sink);
    std::thread caller([&] {
        for (int i = 0; i < 65; ++i) {
            logger->info("text");
        }
        rest.open();
    });
    start.open();
    caller.join();
    EXPECT_TRUE(writer->flush_wait());
}

// The sink is stuck with a record of the same thread: those behind it still make room.
TEST(LogBackend, DropOldestKeepsTheNewestRecordsOfTheThread) {
    backend_options options;
    options.queue_size = 4;
    options.notice_interval = no_limit;
    const auto writer = std::make_shared<backend>(options);
    const auto gated = std::make_shared<GatedSink>();
    const auto logger = loggerOf(writer, gated, Overflow::dropOldest);
    logger->info("held");
    gated->gate.awaitArrival();
    for (int i = 0; i < 100; ++i) {
        logger->info(i);
    }
    gated->gate.open();
    writer->shutdown();
    EXPECT_EQ(gated->texts(), (Texts{"held", "96", "97", "98", "99"}));
    EXPECT_EQ(writer->overrun_counter(), 96u);
    EXPECT_EQ(writer->discard_counter(), 0u);
}

TEST(LogBackend, BytesOfALaneGrowWithItsMessagesUnlessTheyAreSet) {
    backend_options options;
    EXPECT_EQ(options.bytes_of_room(), std::size_t{1} << 20U);
    options.queue_size = std::size_t{1} << 20U;
    EXPECT_EQ(options.bytes_of_room(), std::size_t{1} << 27U);
    options.queue_size = std::size_t{1} << 29U;
    EXPECT_EQ(options.bytes_of_room(), std::size_t{1} << 30U);
    options.queue_bytes = 4096;
    EXPECT_EQ(options.bytes_of_room(), 4096U);
}

}  // namespace
}  // namespace sluice::log
