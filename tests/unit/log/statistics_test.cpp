#include "support/log_sinks.hpp"

#include <sluice/log/backend.hpp>
#include <sluice/log/logger.hpp>
#include <sluice/log/statistics.hpp>

#include "support/testing.hpp"
#include <thread>

#if defined(__linux__)
#include <pthread.h>
#endif

namespace sluice::log {
namespace {

using test::GatedSink;

TEST(LogStatistics, CountPerThreadAndInTotal) {
    backend_options options;
    options.queue_size = 8;
    options.notice_interval = no_limit;
    const auto gated = std::make_shared<GatedSink>();
    const auto writer = std::make_shared<backend>(options);
    async_logger logger("core", gated, writer, Overflow::reject);
    logger.info("held");
    gated->gate.awaitArrival();

    test::Gate stays;
    std::thread other([&] {
#if defined(__linux__)
        pthread_setname_np(pthread_self(), "other");
#endif
        for (int i = 0; i < 20; ++i) {
            logger.info("text");
        }
        stays.pass();
    });
    stays.awaitArrival();

    const backend_statistics held = writer->statistics();
    EXPECT_EQ(held.logged, 9u);
    EXPECT_EQ(held.rejected, 12u);
    EXPECT_EQ(held.messages, 9u);
    EXPECT_EQ(writer->queue_size(), 9u);
    EXPECT_GT(held.bytes, 9u * sizeof(void*));
    ASSERT_EQ(held.threads.size(), 2u);
    const bool otherIsFirst = held.threads[0].rejected != 0;
    const thread_statistics& others = held.threads[otherIsFirst ? 0 : 1];
    const thread_statistics& mine = held.threads[otherIsFirst ? 1 : 0];
    EXPECT_EQ(mine.thread_id, spdlog::details::os::thread_id());
    EXPECT_EQ(mine.logged, 1u);
    EXPECT_EQ(others.logged, 8u);
    EXPECT_EQ(others.rejected, 12u);
    EXPECT_EQ(others.messages, 8u);
#if defined(__linux__)
    EXPECT_EQ(others.thread_name, "other");
#endif

    gated->gate.open();
    ASSERT_TRUE(writer->flush_wait());
    const backend_statistics after = writer->statistics();
    EXPECT_EQ(after.messages, 0u);
    EXPECT_EQ(after.written, 9u);
    EXPECT_EQ(after.high_water_messages, 8u);
    stays.open();
    other.join();
    writer->shutdown();
    logger.set_error_handler([](const std::string&) {});
    logger.info("refused");
    EXPECT_EQ(writer->statistics().rejected_after_end, 1u);
    EXPECT_EQ(writer->statistics().logged, 9u) << "of threads that have gone, too";
}

}  // namespace
}  // namespace sluice::log
