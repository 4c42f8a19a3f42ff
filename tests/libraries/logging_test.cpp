#include "libraries/logging.hpp"
#include "support/log_sinks.hpp"

#include <sluice/log/functions.hpp>
#include <sluice/log/logger.hpp>

#include <gtest/gtest.h>

#include <memory>

namespace sluice::test {
namespace {

TEST(LogLibraries, AllHaveTheSameDefaultBackEnd) {
    const LogOfProcess one = logOfOneLibrary();
    const LogOfProcess another = logOfAnother();
    EXPECT_EQ(one.defaultBackend, another.defaultBackend);
    EXPECT_EQ(one.defaultBackend, log::default_backend().get());
    EXPECT_EQ(one.members, another.members);
}

TEST(LogLibraries, AllKnowThatASinkIsCalled) {
    const auto sink = std::make_shared<CollectingSink>();
    bool isKnown = false;
    sink->onLine = [&](const spdlog::details::log_msg&) {
        isKnown = isOneLibraryInASink() && isAnotherInASink();
    };
    log::async_logger logger("core", sink, log::default_backend());
    logger.info("text");
    EXPECT_TRUE(log::default_backend()->flush_wait());
    EXPECT_TRUE(isKnown);
}

}  // namespace
}  // namespace sluice::test
