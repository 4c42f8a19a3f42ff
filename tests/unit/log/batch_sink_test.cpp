#include <sluice/log/batch_sink.hpp>

#include <gtest/gtest.h>
#include <spdlog/logger.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace {

/// The least that a batch_sink has to do.
class Collector final : public sluice::log::batch_sink {
public:
    std::vector<std::string> lines;
    int batches = 0;

    void log(const spdlog::details::log_msg& message) override {
        lines.emplace_back(message.payload.data(), message.payload.size());
    }
    void log_batch(const spdlog::details::log_msg* first, std::size_t count,
                   std::size_t& taken) override {
        for (taken = 0; taken < count; ++taken) {
            log(first[taken]);
        }
    }
    void end_batch() override { ++batches; }
    void flush() override {}
    void set_pattern(const std::string&) override {}
    void set_formatter(std::unique_ptr<spdlog::formatter>) override {}
};

TEST(LogBatchSink, IsASinkOfAnyLogger) {
    const auto sink = std::make_shared<Collector>();
    spdlog::logger logger("core", sink);
    logger.info("one");
    EXPECT_EQ(sink->lines, std::vector<std::string>{"one"});
}

TEST(LogBatchSink, IsFoundAmongSinksByItsType) {
    const spdlog::sink_ptr sink = std::make_shared<Collector>();
    auto* const found = dynamic_cast<sluice::log::batch_sink*>(sink.get());
    ASSERT_NE(found, nullptr);
    const spdlog::details::log_msg messages[] = {
        {"core", spdlog::level::info, "one"},
        {"core", spdlog::level::info, "two"},
    };
    std::size_t taken = 0;
    found->log_batch(messages, 2, taken);
    EXPECT_EQ(taken, 2u);
    found->end_batch();
    const auto& collector = static_cast<const Collector&>(*sink);
    EXPECT_EQ(collector.lines, (std::vector<std::string>{"one", "two"}));
    EXPECT_EQ(collector.batches, 1);
}

}  // namespace
