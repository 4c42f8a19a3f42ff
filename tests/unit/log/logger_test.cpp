#include "support/crew.hpp"
#include "support/log_sinks.hpp"
#include "support/rendezvous.hpp"
#include "support/temporary_folder.hpp"

#include <sluice/log/backend.hpp>
#include <sluice/log/deferred.hpp>
#include <sluice/log/file_sink.hpp>
#include <sluice/log/logger.hpp>

#include "support/testing.hpp"
#include <spdlog/details/os.h>
#include <spdlog/spdlog.h>

#include <thread>

namespace sluice::log {
namespace {

using namespace std::chrono_literals;
using test::CollectingSink;
using test::GatedSink;
using Texts = std::vector<std::string>;

class LogLogger : public testing::Test {
protected:
    std::shared_ptr<async_logger> make(const std::shared_ptr<spdlog::sinks::sink>& to,
                                       Overflow policy = Overflow::block) {
        auto made = std::make_shared<async_logger>("core", to, writer, policy);
        made->set_error_handler(errors.handler());
        return made;
    }

    test::Errors errors;
    std::shared_ptr<CollectingSink> sink = std::make_shared<CollectingSink>();
    std::shared_ptr<backend> writer = std::make_shared<backend>();
    std::shared_ptr<async_logger> logger = make(sink);
};

TEST_F(LogLogger, GivesTheSinkAllThatSpdlogWould) {
    const auto before = spdlog::details::os::now();
    logger->log(spdlog::source_loc{"file.cpp", 7, "function"}, spdlog::level::warn, "one {}", 1);
    logger->info("two");
    ASSERT_TRUE(writer->flush_wait());
    const auto lines = sink->lines();
    ASSERT_EQ(lines.size(), 2u);
    EXPECT_EQ(lines[0].text, "one 1");
    EXPECT_EQ(lines[0].logger, "core");
    EXPECT_EQ(lines[0].level, spdlog::level::warn);
    EXPECT_EQ(lines[0].thread, spdlog::details::os::thread_id());
    EXPECT_STREQ(lines[0].source.filename, "file.cpp");
    EXPECT_EQ(lines[0].source.line, 7);
    EXPECT_STREQ(lines[0].source.funcname, "function");
    EXPECT_GE(lines[0].time, before);
    EXPECT_LE(lines[0].time, spdlog::details::os::now());
    EXPECT_EQ(lines[1].text, "two");
    EXPECT_TRUE(lines[1].source.empty());
    EXPECT_NE(lines[0].calledBy, std::this_thread::get_id());
}

TEST_F(LogLogger, ChecksLevelsWhereSpdlogDoes) {
    sink->set_level(spdlog::level::err);
    logger->set_level(spdlog::level::warn);
    logger->info("below the logger's");
    logger->warn("below the sink's");
    logger->error("above both");
    ASSERT_TRUE(writer->flush_wait());
    EXPECT_EQ(sink->texts(), Texts{"above both"});
}

TEST_F(LogLogger, TwoThreadsMayBeTheFirstAfterSuchAChange) {
    const auto second = std::make_shared<CollectingSink>();
    constexpr std::size_t rounds = 2000;
    test::Rendezvous meet;
    const auto log = [&] {
        meet.arrive();
        logger->info("text");
        meet.arrive();
    };
    test::Crew crew;
    crew.add([&] {
        for (std::size_t i = 0; i < rounds; ++i) {
            log();
        }
    });
    crew.start();
    for (std::size_t i = 0; i < rounds; ++i) {
        logger->sinks().assign({sink});
        if (i % 2 == 0) {
            logger->sinks().push_back(second);
        }
        log();
    }
    crew.join();
    ASSERT_TRUE(writer->flush_wait());
    EXPECT_EQ(sink->lines().size(), 2 * rounds);
    EXPECT_EQ(second->lines().size(), rounds);
}

static_assert(!std::is_swappable_v<async_logger>, "queued records point to their logger");

// ---- flush

TEST_F(LogLogger, ASinkThatOutlivesItsLoggerIsFlushed) {
    logger->info("text");
    logger.reset();
    ASSERT_TRUE(writer->flush_wait());
    EXPECT_EQ(sink->linesAtFlush(), std::vector<std::size_t>{1});
}

TEST_F(LogLogger, FlushesAfterWhatWasLoggedBefore) {
    for (std::size_t i = 1; i <= 5; ++i) {
        logger->info("line");
        logger->flush();
        test::awaitThat([&] { return sink->flushes() == i; });
    }
    logger->info("after");
    writer->shutdown();
    EXPECT_EQ(sink->linesAtFlush(), (std::vector<std::size_t>{1, 2, 3, 4, 5, 6}));
}

TEST_F(LogLogger, FlushesAfterARecordOfTheFlushLevel) {
    logger->flush_on(spdlog::level::err);
    logger->info("one");
    logger->error("two");
    logger->info("three");
    writer->shutdown();
    EXPECT_EQ(sink->linesAtFlush(), (std::vector<std::size_t>{2, 3}));
}

// ---- A new pattern

/// Logs while no thread writes, so that one batch has all records.
class LogPatternChange : public LogLogger {
protected:
    LogPatternChange() {
        backend_options options;
        options.manual = true;
        writer = std::make_shared<backend>(options);
    }
};

TEST_F(LogPatternChange, ItsPlaceIsBetweenTheRecords) {
    logger = make(sink);
    const auto other = make(sink);
    for (const char* pattern : {"1 %v", "2 %v", "3 %v"}) {
        logger->set_pattern(pattern);
        logger->info("own");
        other->info("of another logger");
    }
    writer->poll();
    EXPECT_EQ(sink->formatted(), (Texts{"1 own", "1 of another logger", "2 own",
                                        "2 of another logger", "3 own", "3 of another logger"}));
    EXPECT_TRUE(sink->hasFormatterOfSluice());
}

TEST_F(LogPatternChange, SpdlogsFunctionsKeepThePlaceInAFileSink) {
    const test::TemporaryFolder folder;
    const auto file = std::make_shared<file_sink_mt>(folder / "log.txt");
    const std::shared_ptr<spdlog::logger> shown = make(file);
    spdlog::register_logger(shown);
    shown->set_pattern("1 %v");
    shown->info("x");
    spdlog::set_pattern("2 %v");
    shown->info("x");
    file->set_pattern("3 %v");
    shown->info("x");
    writer->poll();
    EXPECT_EQ(test::contentOf(folder / "log.txt"), "1 x\n2 x\n3 x\n");
    spdlog::drop(shown->name());
}

TEST_F(LogPatternChange, TakesEffectImmediatelyWhenNoBackEndWrites) {
    logger = make(sink);
    writer->shutdown();
    logger->set_pattern("%v");
    EXPECT_TRUE(sink->hasFormatterOfSluice());
    const test::TemporaryFolder folder;
    const auto file = std::make_shared<file_sink_mt>(folder / "log.txt");
    const auto ended = make(file);
    for (const auto& to : {file, std::make_shared<file_sink_mt>(folder / "log.txt")}) {
        to->set_pattern("alone %v");
        to->log({"core", spdlog::level::info, "x"});
        to->flush();
    }
    EXPECT_EQ(test::contentOf(folder / "log.txt"), "alone x\nalone x\n");
}

TEST_F(LogPatternChange, ASinkThatRefusesItIsReported) {
    class Refusing final : public CollectingSink {
        void set_formatter_(std::unique_ptr<spdlog::formatter> /*formatter*/) override {
            throw std::runtime_error("no formatter");
        }
    };
    logger = make(std::make_shared<Refusing>());
    logger->set_pattern("%v");
    writer->poll();
    EXPECT_EQ(errors.texts(), Texts{"no formatter"});
}

TEST_F(LogLogger, LinesOfThreadsHaveThePatternOfTheirPlace) {
    std::atomic<int> pattern{0};
    logger->set_pattern("0 %v");
    test::Crew crew;
    for (int thread = 0; thread < 3; ++thread) {
        crew.add([&] {
            for (int i = 0; i < 2000; ++i) {
                const int before = pattern.load();
                logger->info(before);  // the pattern is this one or a newer one
            }
        });
    }
    crew.start();
    for (int next = 1; next <= 100; ++next) {
        logger->set_pattern(std::to_string(next) + " %v");
        pattern.store(next);
        logger->info(next);
    }
    crew.join();
    ASSERT_TRUE(writer->flush_wait());
    int newest = 0;
    for (const std::string& line : sink->formatted()) {
        const int its = std::stoi(line);
        EXPECT_GE(its, std::stoi(line.substr(line.find(' '))));
        EXPECT_LE(newest, its);
        newest = its;
    }
    EXPECT_EQ(newest, 100);
}

TEST_F(LogLogger, AnErrorHandlerMaySetAPattern) {
    const test::TemporaryFolder folder;
    const auto file = std::make_shared<file_sink_mt>(folder / "log.txt");
    sink->onLine = [](const spdlog::details::log_msg&) { throw std::runtime_error("full"); };
    logger = std::make_shared<async_logger>("core", spdlog::sinks_init_list{sink, file}, writer);
    logger->set_error_handler([&](const std::string&) { file->set_pattern("%v"); });
    logger->info("first");
    EXPECT_FALSE(writer->flush_wait());
    logger->info("second");
    EXPECT_FALSE(writer->flush_wait());
    EXPECT_EQ(test::contentOf(folder / "log.txt"), "first\nsecond\n");
}

TEST_F(LogLogger, FlushDoesNotWait) {
    const auto gated = std::make_shared<GatedSink>();
    const auto waiting = make(gated);
    waiting->info("held");
    gated->gate.awaitArrival();
    for (int i = 0; i < 10000; ++i) {
        waiting->flush();  // more than any lane has room for
    }
    EXPECT_EQ(gated->gate.pending(), 1u);
    gated->gate.open();
    writer->shutdown();
    EXPECT_LE(gated->flushes(), 3u) << "those that wait are merged";
}

// ---- clone

TEST_F(LogLogger, CloneIsAsynchronousAndSharesSinksAndSettings) {
    logger->set_level(spdlog::level::warn);
    logger->flush_on(spdlog::level::err);
    const std::shared_ptr<spdlog::logger> clone = logger->clone("copy");
    EXPECT_NE(dynamic_cast<async_logger*>(clone.get()), nullptr);
    EXPECT_EQ(clone->name(), "copy");
    logger.reset();
    clone->info("off");
    clone->error("on");
    writer->shutdown();
    const auto lines = sink->lines();
    ASSERT_EQ(lines.size(), 1u);
    EXPECT_EQ(lines[0].logger, "copy");
    EXPECT_EQ(sink->flushes(), 2u) << "its own, and that of the end";
    EXPECT_NE(lines[0].calledBy, std::this_thread::get_id());
    clone->error("refused");
    EXPECT_EQ(errors.texts().size(), 1u) << "the handler is cloned, too";
}

TEST_F(LogLogger, WhatItHasLoggedIsWrittenAfterItHasGone) {
    const std::weak_ptr<CollectingSink> watched = sink;
    const auto gated = std::make_shared<GatedSink>();
    const auto first = make(gated);
    first->info("holds the back end");
    gated->gate.awaitArrival();
    logger->info("one");
    logger.reset();
    gated->gate.open();
    writer->flush_wait();
    EXPECT_EQ(sink->texts(), Texts{"one"});
    sink.reset();
    writer->flush_wait();
    EXPECT_TRUE(watched.expired()) << "the back end lets the sinks go";
}

// ---- backtrace

TEST_F(LogLogger, BacktraceIsWrittenInPlaceAndWithItsTimes) {
    logger->set_level(spdlog::level::info);
    logger->enable_backtrace(3);
    for (int i = 0; i < 10; ++i) {
        logger->debug("debug {}", i);
    }
    const auto traced = spdlog::details::os::now();
    logger->info("before");
    logger->dump_backtrace();
    logger->info("after");
    ASSERT_TRUE(writer->flush_wait());
    EXPECT_EQ(sink->texts(),
              (Texts{"before", "****************** Backtrace Start ******************", "debug 8",
                     "debug 9", "before", "****************** Backtrace End ********************",
                     "after"}));
    const auto lines = sink->lines();
    EXPECT_LE(lines[2].time, traced);
    EXPECT_LE(lines[3].time, traced);
    EXPECT_EQ(lines[4].time, lines[0].time);
}

// ---- times

TEST_F(LogLogger, ATimeOfTheCallersIsPrintedAsItIs) {
    const spdlog::log_clock::time_point past(std::chrono::hours(24));
    const auto future = spdlog::details::os::now() + std::chrono::hours(24);
    const auto nearly = spdlog::details::os::now();
    logger->info("now");
    for (const auto time : {past, future, nearly}) {
        logger->log(time, spdlog::source_loc{}, spdlog::level::info, "own");
    }
    logger->info("now");
    ASSERT_TRUE(writer->flush_wait());
    const auto lines = sink->lines();
    ASSERT_EQ(lines.size(), 5u);
    EXPECT_EQ(lines[1].time, past);
    EXPECT_EQ(lines[2].time, future);
    EXPECT_EQ(lines[3].time, nearly);
    EXPECT_GE(lines[4].time, lines[0].time);
    EXPECT_LT(lines[4].time, future);
}

TEST_F(LogLogger, TimesOfSeveralThreadsAreInTheOrderOfTheLines) {
    const auto early = spdlog::details::os::now();
    logger->info("now");
    // Like a thread that is interrupted between its clock reading and its record.
    std::thread([&] {
        logger->log(early - std::chrono::microseconds(1), {}, spdlog::level::info, "late");
    }).join();
    ASSERT_TRUE(writer->flush_wait());
    const auto lines = sink->lines();
    ASSERT_EQ(lines.size(), 2u);
    EXPECT_EQ(lines[1].time, lines[0].time);
}

// ---- A clock of the user's

class LogClock : public LogLogger {
protected:
    using Time = spdlog::log_clock::time_point;
    LogClock() {
        options.clock = [this] { return now; };
        options.manual = true;
    }
    void begin() {
        writer = std::make_shared<backend>(options);
        logger = make(sink, Overflow::reject);
    }
    std::vector<Time> times() {
        writer->poll();
        std::vector<Time> result;
        for (const test::LoggedLine& line : sink->lines()) {
            result.push_back(line.time);
        }
        return result;
    }

    Time now{std::chrono::hours(24)};
    backend_options options;
};

TEST_F(LogClock, GivesTheTimesOfAllRecords) {
    begin();
    std::vector<Time> expected;
    for (int i = 0; i < 2; ++i) {
        now += 1h;
        logger->info("formatted by the caller");
        SLUICE_LOG_INFO(logger, "by the back end {}", i);
        logger->log(Time(), spdlog::source_loc{}, spdlog::level::info, "with a time");
        logger->clone("copy")->info("of a clone");
        logger->sinks().assign({sink});
        expected.insert(expected.end(), 4, now);
    }
    now += 1h;
    EXPECT_EQ(times(), expected);
}

TEST_F(LogClock, GivesTheTimeOfADropNotice) {
    options.queue_size = 1;
    options.notice_interval = 0s;
    begin();
    logger->info("accepted");
    logger->info("rejected");
    writer->poll();
    now += 1h;
    EXPECT_EQ(times(), (std::vector<Time>{now - 1h, now}));
}

TEST_F(LogClock, WhenItThrowsTheSystemsClockIsReadAndTheErrorReported) {
    const Time before = spdlog::log_clock::now();
    options.clock = []() -> Time { throw std::runtime_error("no time"); };
    begin();
    SLUICE_LOG_INFO(logger, "x");
    ASSERT_EQ(times().size(), 1u);
    EXPECT_GE(times()[0], before);
    EXPECT_EQ(errors.texts(), Texts{"no time"});
}

// ---- re-entry

TEST_F(LogLogger, ASinkMayLogAlsoWhenTheLaneIsFull) {
    backend_options options;
    options.queue_size = 4;
    options.notice_interval = no_limit;
    const auto small = std::make_shared<backend>(options);
    const auto recursive = std::make_shared<CollectingSink>();
    const auto talking = std::make_shared<async_logger>("talking", recursive, small);
    recursive->onLine = [&](const spdlog::details::log_msg& message) {
        if (message.level == spdlog::level::info) {
            for (int i = 0; i < 20; ++i) {
                talking->debug("from the sink");
            }
            talking->flush();
        }
    };
    talking->set_level(spdlog::level::debug);
    talking->info("outer");
    ASSERT_TRUE(small->flush_wait());
    ASSERT_TRUE(small->flush_wait());
    const std::size_t inner = recursive->texts().size() - 1;
    EXPECT_GE(inner, 1u);
    EXPECT_LT(inner, 20u);
    EXPECT_EQ(inner + small->discard_counter(), 20u);
    // The sink's own flush may be carried out together with the first one of this thread.
    EXPECT_GE(recursive->flushes(), 2u);
    EXPECT_LE(recursive->flushes(), 3u);
}

/// Notices when it goes before what it was given has been handed on.
class FrailSink : public batch_sink {
public:
    explicit FrailSink(bool& wentUnended) : wentUnended_(wentUnended) {}
    ~FrailSink() override { wentUnended_ = isOpen_; }
    void log(const spdlog::details::log_msg&) override { ADD_FAILURE() << "one by one"; }
    void log_batch(const spdlog::details::log_msg*, std::size_t count,
                   std::size_t& taken) override {
        taken = count;
        gate.pass();
        isOpen_ = true;
    }
    void end_batch() override { isOpen_ = false; }
    void flush() override {}
    void set_pattern(const std::string&) override {}
    void set_formatter(std::unique_ptr<spdlog::formatter>) override {}

    test::Gate gate;

private:
    bool& wentUnended_;
    bool isOpen_ = false;
};

TEST_F(LogLogger, ANoticeOfDropsIsHandedOnBeforeTheLoggersSinksGo) {
    backend_options options;
    options.queue_size = 1;
    options.notice_interval = 1h;  // so the end of the logger is what tells
    const auto small = std::make_shared<backend>(options);
    bool wentUnended = false;
    auto frail = std::make_shared<FrailSink>(wentUnended);
    auto dropping = std::make_shared<async_logger>("core", frail, small, Overflow::reject);
    dropping->info("held");
    frail->gate.awaitArrival();
    dropping->info("dropped");
    dropping.reset();
    frail->gate.open();
    frail.reset();
    ASSERT_TRUE(small->flush_wait());
    EXPECT_EQ(small->discard_counter(), 1u);
    EXPECT_FALSE(wentUnended);
}

// ---- errors of sinks, and a back end that has ended

TEST_F(LogLogger, SinkErrorsReachTheHandlerOnTheBackEnd) {
    sink->onLine = [](const spdlog::details::log_msg& message) {
        if (message.level == spdlog::level::err) {
            throw std::runtime_error("full");
        }
        if (message.level == spdlog::level::critical) {
            throw 7;
        }
    };
    logger->info("one");
    logger->error("two");
    logger->critical("three");
    logger->log(spdlog::source_loc{"file.cpp", 7, "function"}, spdlog::level::err, "four");
    logger->info("five");
    EXPECT_FALSE(writer->flush_wait());
    EXPECT_EQ(sink->texts(), (Texts{"one", "five"}));
    EXPECT_EQ(errors.texts(), (Texts{"full", "unknown exception", "full [file.cpp(7)]"}));
    for (const std::thread::id id : errors.threads()) {
        EXPECT_NE(id, std::this_thread::get_id());
    }
}

TEST_F(LogLogger, FlushErrorsReachTheHandler) {
    sink->onFlush = [] { throw std::runtime_error("no disk"); };
    EXPECT_FALSE(writer->shutdown());
    EXPECT_EQ(errors.texts(), Texts{"no disk"});
}

TEST_F(LogLogger, ErrorsAreReportedAfterTheLoggerHasGone) {
    const auto gated = std::make_shared<GatedSink>();
    auto other = make(gated);
    gated->onLine = [gate = &gated->gate](const spdlog::details::log_msg&) {
        gate->pass();
        throw std::runtime_error("late");
    };
    other->info("one");
    gated->gate.awaitArrival();
    other.reset();
    gated->gate.open();
    writer->shutdown();
    EXPECT_EQ(errors.texts(), Texts{"late"});
}

TEST_F(LogLogger, AnErrorHandlerThatThrowsEndsNothing) {
    sink->onLine = [](const spdlog::details::log_msg& message) {
        if (message.level == spdlog::level::err) {
            throw std::runtime_error("full");
        }
    };
    logger->set_error_handler([](const std::string& text) { throw std::runtime_error(text); });
    logger->error("one");
    logger->info("two");
    EXPECT_FALSE(writer->flush_wait());
    EXPECT_EQ(sink->texts(), Texts{"two"});
}

// ---- the end of the back end

TEST_F(LogLogger, ReportsWhenItsBackEndHasEnded) {
    writer.reset();
    logger->info("one");
    logger->flush();
    EXPECT_EQ(errors.texts(), (Texts{"async log: the back end doesn't exist anymore",
                                     "async flush: the back end doesn't exist anymore"}));
    async_logger orphan("orphan", sink, std::shared_ptr<backend>());
    orphan.set_error_handler(errors.handler());
    orphan.info("one");
    EXPECT_EQ(errors.texts().size(), 3u);
    EXPECT_TRUE(sink->texts().empty());
}

}  // namespace
}  // namespace sluice::log
