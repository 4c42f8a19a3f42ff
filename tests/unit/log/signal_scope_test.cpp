#include "support/log_sinks.hpp"

#include <sluice/log/backend.hpp>
#include <sluice/log/logger.hpp>
#include <sluice/log/signal_scope.hpp>

#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace sluice::log {
namespace {

TEST(LogSignalScope, AThreadThatHasNotLoggedYetMakesNoLane) {
    const auto sink = std::make_shared<test::CollectingSink>();
    const auto writer = std::make_shared<backend>();
    async_logger logger("core", sink, writer);
    std::thread([&] {
        const signal_scope scope;
        logger.info("text");
        EXPECT_EQ(writer->statistics().threads.size(), 0u);
    }).join();
    ASSERT_TRUE(writer->flush_wait());
    EXPECT_EQ(sink->texts(), std::vector<std::string>{"text"});
}

TEST(LogSignalScope, KeepsErrno) {
    errno = 7;
    {
        const signal_scope scope;
        errno = 8;
    }
    EXPECT_EQ(errno, 7);
}

}  // namespace
}  // namespace sluice::log
