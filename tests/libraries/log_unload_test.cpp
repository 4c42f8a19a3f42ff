#include "support/log_sinks.hpp"

#include <sluice/log/functions.hpp>
#include <sluice/log/logger.hpp>

#include <gtest/gtest.h>

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

// The log calls of a plugin refer to its format strings and code. The program does not export its
// symbols, so program and plugin share no variable of the library.

namespace sluice::test {
namespace {

using Texts = std::vector<std::string>;

void logInUnloadedPlugin(const std::shared_ptr<spdlog::logger>& logger) {
    void* const plugin = ::dlopen(SLUICE_TEST_PLUGIN, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(plugin, nullptr) << ::dlerror();
    using Log = void (*)(const std::shared_ptr<spdlog::logger>&);
    const auto log = reinterpret_cast<Log>(::dlsym(plugin, "logInPlugin"));
    std::thread([&] { log(logger); }).join();
    EXPECT_EQ(::dlclose(plugin), 0);
}

TEST(LogUnloadTest, RecordsOfAPluginAreWrittenAfterItIsClosed) {
    const auto sink = std::make_shared<CollectingSink>();
    Gate gate;
    log::backend_options options;
    options.on_thread_start = [&] { gate.pass(); };
    const auto by = std::make_shared<log::backend>(options);
    const auto logger = std::make_shared<log::async_logger>("core", sink, by);
    logger->set_error_handler([](const std::string&) {});  // the plugin logs after the back end
    logInUnloadedPlugin(logger);
    gate.open();
    EXPECT_TRUE(by->flush_wait());
    EXPECT_EQ(sink->texts(), Texts{"the plugin begins 1"});
}

TEST(LogUnloadTest, StaticObjectsOfAClosedPluginLogAtTheEndOfTheProgram) {
    EXPECT_EXIT(
        {
            const auto sink = std::make_shared<CollectingSink>();
            sink->onLine = [](const spdlog::details::log_msg& message) {
                std::fprintf(stderr, "%.*s;", static_cast<int>(message.payload.size()),
                             message.payload.data());
            };
            logInUnloadedPlugin(
                std::make_shared<log::async_logger>("core", sink, log::default_backend()));
            std::exit(0);
        },
        testing::ExitedWithCode(0), "begins 1;the plugin ends 2;");
}

}  // namespace
}  // namespace sluice::test
