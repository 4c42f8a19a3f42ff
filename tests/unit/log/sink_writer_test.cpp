#include "support/log_sinks.hpp"

#include <sluice/log/detail/backend/batch_writer.hpp>

#include "support/testing.hpp"

namespace sluice::log::detail {
namespace {

using Texts = std::vector<std::string>;

/// Remembers its batches.
class Batches final : public batch_sink {
public:
    std::vector<Texts> batches;
    int ends = 0;
    int flushes = 0;
    bool isFull = false;

    void log(const spdlog::details::log_msg&) override { ADD_FAILURE() << "one by one"; }
    void log_batch(const spdlog::details::log_msg* first, std::size_t count,
                   std::size_t& taken) override {
        Texts texts;
        for (taken = 0; taken < count; ++taken) {
            const spdlog::details::log_msg& message = first[taken];
            if (isFull && message.payload == "bad") {
                throw std::runtime_error("full");
            }
            texts.emplace_back(message.payload.data(), message.payload.size());
        }
        batches.push_back(texts);
    }
    void end_batch() override {
        ++ends;
        if (isFull) {
            throw std::runtime_error("still full");
        }
    }
    void flush() override { ++flushes; }
    void set_pattern(const std::string&) override {}
    void set_formatter(std::unique_ptr<spdlog::formatter>) override {}
};

class LogSinkWriter : public testing::Test {
protected:
    std::unique_ptr<LoggerState> state(const std::vector<spdlog::sink_ptr>& sinks) {
        return std::make_unique<LoggerState>("core", sinks, Overflow::block, channel);
    }
    /// The errors that the logger receives, instead of `errors`.
    LoggerState* stateWith(const spdlog::err_handler& itsHandler,
                           const std::vector<spdlog::sink_ptr>& sinks) {
        return &loggers.add(std::make_unique<LoggerState>(
            "core", sinks, Overflow::block, std::make_shared<ErrorChannel>("core", &itsHandler)));
    }
    void add(LoggerState& logger, const std::string& text, std::uint8_t flags = RecordHead::none) {
        RecordHead head{};
        head.logger = &logger;
        head.level = spdlog::level::info;
        head.flags = flags;
        kept.push_back(std::make_unique<std::string>(text));
        writer.add(head, reinterpret_cast<const std::byte*>(kept.back()->data()), text.size(), {});
    }

    test::Errors errors;
    const spdlog::err_handler handler = errors.handler();
    std::shared_ptr<ErrorChannel> channel = std::make_shared<ErrorChannel>("core", &handler);
    std::shared_ptr<Batches> batches = std::make_shared<Batches>();
    std::shared_ptr<test::CollectingSink> single = std::make_shared<test::CollectingSink>();
    std::vector<std::unique_ptr<std::string>> kept;
    LoggerList loggers;
    std::atomic<bool> isAbandoned{false};
    SinkWriter writer{loggers, isAbandoned};
};

TEST_F(LogSinkWriter, ConsecutiveRecordsWithTheSameSinksMakeARun) {
    const auto one = state({batches, single});
    const auto same = state({batches, single});
    const auto other = state({batches});
    add(*one, "a");
    add(*same, "b");
    EXPECT_TRUE(batches->batches.empty());
    add(*other, "c");
    EXPECT_EQ(batches->batches, (std::vector<Texts>{{"a", "b"}}));
    EXPECT_EQ(single->texts(), (Texts{"a", "b"}));
    writer.endRun();
    EXPECT_EQ(batches->batches, (std::vector<Texts>{{"a", "b"}, {"c"}}));
    EXPECT_EQ(batches->ends, 0);
    writer.endBatch();
    EXPECT_EQ(batches->ends, 1);
    writer.endBatch();
    EXPECT_EQ(batches->ends, 1) << "it has got nothing since";
}

TEST_F(LogSinkWriter, ARunHasALimit) {
    const auto logger = state({batches});
    for (std::size_t i = 0; i < SinkWriter::longestRun + 1; ++i) {
        add(*logger, "a");
    }
    ASSERT_EQ(batches->batches.size(), 1u);
    EXPECT_EQ(batches->batches[0].size(), SinkWriter::longestRun);
}

TEST_F(LogSinkWriter, ARecordThatFlushesEndsItsRun) {
    const auto logger = state({batches, single});
    add(*logger, "a");
    add(*logger, "b", RecordHead::flushes);
    EXPECT_EQ(batches->batches.size(), 1u);
    EXPECT_EQ(batches->flushes, 1);
    EXPECT_EQ(single->linesAtFlush(), std::vector<std::size_t>{2});
}

TEST_F(LogSinkWriter, ErrorsOfBatchesAreReportedAndTheOthersGetTheirs) {
    const auto logger = state({batches, single});
    batches->isFull = true;
    for (const char* const text : {"bad", "a", "bad", "bad"}) {
        add(*logger, text);
    }
    writer.endBatch();
    EXPECT_EQ(errors.texts(), (Texts{"full", "full", "full", "still full"}));
    EXPECT_EQ(single->texts(), (Texts{"bad", "a", "bad", "bad"}));
    EXPECT_EQ(writer.takeLost(), 3u);
    EXPECT_EQ(writer.takeLost(), 0u);
}

TEST_F(LogSinkWriter, EachLoggerReceivesTheErrorsOfItsRecords) {
    test::Errors others;
    const spdlog::err_handler othersHandler = others.handler();
    const auto first = stateWith(handler, {batches, single});
    const auto second = stateWith(othersHandler, {batches, single});
    batches->isFull = true;
    single->onLine = [](const spdlog::details::log_msg& message) {
        throw std::runtime_error(std::string(message.payload.data(), message.payload.size()));
    };
    add(*first, "bad");
    add(*second, "other");
    writer.endRun();
    EXPECT_EQ(errors.texts(), (Texts{"full", "bad"}));
    EXPECT_EQ(others.texts(), (Texts{"other"}));
    EXPECT_EQ(writer.takeLost(), 2u);
}

TEST_F(LogSinkWriter, CallsNoSinkAfterItIsAbandoned) {
    const auto logger = state({batches, single});
    single->onLine = [this](const spdlog::details::log_msg&) { isAbandoned = true; };
    batches->isFull = true;
    for (const char* const text : {"bad", "a", "b"}) {
        add(*logger, text);
    }
    writer.endRun();
    EXPECT_EQ(single->texts(), (Texts{"bad"}));
    EXPECT_EQ(writer.takeLost(), 3u);
}

TEST_F(LogSinkWriter, ARecordThatTwoSinksLoseIsLostOnce) {
    const auto logger = state({batches, single});
    batches->isFull = true;
    single->onLine = [](const spdlog::details::log_msg&) { throw std::runtime_error("full"); };
    add(*logger, "bad");
    add(*logger, "a");
    writer.endRun();
    EXPECT_EQ(writer.takeLost(), 2u);
}

}  // namespace
}  // namespace sluice::log::detail
