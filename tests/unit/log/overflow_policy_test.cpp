#include "support/log_sinks.hpp"

#include <sluice/base/overflow.hpp>
#include <sluice/log/backend.hpp>
#include <sluice/log/logger.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace sluice::log {
namespace {

using test::GatedSink;
using Texts = std::vector<std::string>;

/// A thread logs 100 records while the back end is held with the first one of another thread.
class LogOverflowPolicy : public testing::Test {
protected:
    LogOverflowPolicy() {
        backend_options options;
        options.queue_size = 4;
        options.notice_interval = no_limit;
        writer = std::make_shared<backend>(options);
    }

    Texts logged(Overflow policy) {
        const auto logger = std::make_shared<async_logger>("core", gated, writer, policy);
        logger->info("held");
        gated->gate.awaitArrival();
        std::thread caller([&] {
            for (int i = 0; i < 100; ++i) {
                logger->info(i);
                if (i == 50 && policy == Overflow::block) {
                    return;
                }
            }
        });
        if (policy == Overflow::block) {
            gated->gate.open();
        }
        caller.join();
        gated->gate.open();
        writer->shutdown();
        Texts texts = gated->texts();
        texts.erase(texts.begin());
        return texts;
    }

    std::shared_ptr<GatedSink> gated = std::make_shared<GatedSink>();
    std::shared_ptr<backend> writer;
};

TEST_F(LogOverflowPolicy, BlockLosesNothing) {
    const Texts texts = logged(Overflow::block);
    ASSERT_EQ(texts.size(), 51u);
    for (std::size_t i = 0; i < texts.size(); ++i) {
        EXPECT_EQ(texts[i], std::to_string(i));
    }
    EXPECT_EQ(writer->discard_counter() + writer->overrun_counter(), 0u);
}

TEST_F(LogOverflowPolicy, OverrunOldestKeepsTheNewest) {
    EXPECT_EQ(logged(Overflow::dropOldest), (Texts{"96", "97", "98", "99"}));
    EXPECT_EQ(writer->overrun_counter(), 96u);
    EXPECT_EQ(writer->discard_counter(), 0u);
}

// The sink is stuck with a record of the same thread: those behind it still make room.
TEST_F(LogOverflowPolicy, OverrunOldestKeepsTheNewestInTheFirstStallOfAThread) {
    async_logger logger("core", gated, writer, Overflow::dropOldest);
    logger.info("held");
    gated->gate.awaitArrival();
    for (int i = 0; i < 100; ++i) {
        logger.info(i);
    }
    gated->gate.open();
    writer->shutdown();
    EXPECT_EQ(gated->texts(), (Texts{"held", "96", "97", "98", "99"}));
    EXPECT_EQ(writer->overrun_counter(), 96u);
    EXPECT_EQ(writer->discard_counter(), 0u);
}

TEST_F(LogOverflowPolicy, DiscardNewKeepsTheOldest) {
    EXPECT_EQ(logged(Overflow::reject), (Texts{"0", "1", "2", "3"}));
    EXPECT_EQ(writer->discard_counter(), 96u);
    EXPECT_EQ(writer->overrun_counter(), 0u);
}

}  // namespace
}  // namespace sluice::log
