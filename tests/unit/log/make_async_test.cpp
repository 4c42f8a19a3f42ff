#include "support/log_sinks.hpp"

#include <sluice/log/make_async.hpp>

#include <gtest/gtest.h>
#include <spdlog/spdlog.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace sluice::log {
namespace {

using test::CollectingSink;
using test::Errors;
using Texts = std::vector<std::string>;

class LogMakeAsync : public testing::Test {
protected:
    std::shared_ptr<CollectingSink> sink = std::make_shared<CollectingSink>();
    std::shared_ptr<backend> writer = std::make_shared<backend>();
    std::shared_ptr<spdlog::logger> old = std::make_shared<spdlog::logger>("core", sink);
};

TEST_F(LogMakeAsync, ItsSinksAreTheSinksThemselves) {
    const auto made = make_async(old, writer);
    ASSERT_EQ(made->sinks().size(), 1u);
    EXPECT_NE(dynamic_cast<CollectingSink*>(made->sinks()[0].get()), nullptr);
    made->info("one");
    ASSERT_TRUE(writer->flush_wait());
    const auto lines = sink->lines();
    ASSERT_EQ(lines.size(), 1u);
    EXPECT_EQ(lines[0].logger, "core");
    EXPECT_NE(lines[0].calledBy, std::this_thread::get_id());
}

TEST_F(LogMakeAsync, ASinkThatIsAddedLaterIsCalledByTheBackEnd) {
    const auto made = make_async(old, writer);
    const auto later = std::make_shared<CollectingSink>();
    made->sinks().push_back(later);
    made->info("one");
    ASSERT_TRUE(writer->flush_wait());
    EXPECT_EQ(sink->texts(), Texts{"one"});
    const auto lines = later->lines();
    ASSERT_EQ(lines.size(), 1u);
    EXPECT_NE(lines[0].calledBy, std::this_thread::get_id());
}

TEST_F(LogMakeAsync, TheSettingsStay) {
    Errors errors;
    old->set_error_handler(errors.handler());
    old->set_level(spdlog::level::warn);
    old->flush_on(spdlog::level::err);
    const auto made = make_async(old, writer, Overflow::reject);
    EXPECT_EQ(made->policy(), Overflow::reject);
    EXPECT_EQ(made->flush_level(), spdlog::level::err);
    made->info("below the level");
    made->warn("one");
    ASSERT_TRUE(writer->flush_wait());
    EXPECT_EQ(sink->texts(), Texts{"one"});
    writer->shutdown();
    made->warn("two");
    EXPECT_EQ(errors.texts().size(), 1u) << "the error handler has moved over, too";
}

TEST_F(LogMakeAsync, TheRegistryHasTheNewOne) {
    spdlog::register_logger(old);
    const auto made = make_async(old, writer);
    EXPECT_EQ(spdlog::get("core"), made);
    spdlog::drop("core");
}

TEST_F(LogMakeAsync, ALoggerThatIsNotRegisteredStaysSo) {
    const auto other = std::make_shared<spdlog::logger>("core", sink);
    spdlog::register_logger(other);
    static_cast<void>(make_async(old, writer));
    EXPECT_EQ(spdlog::get("core"), other);
    spdlog::drop("core");
}

TEST_F(LogMakeAsync, TheDefaultLoggerIsTheNewOne) {
    const auto before = spdlog::default_logger();
    spdlog::set_default_logger(std::make_shared<spdlog::logger>("", sink));
    const auto made = make_async(spdlog::default_logger(), writer);
    EXPECT_EQ(spdlog::default_logger(), made);
    spdlog::info("text {}", 1);
    ASSERT_TRUE(writer->flush_wait());
    spdlog::set_default_logger(before);
    const auto lines = sink->lines();
    ASSERT_EQ(lines.size(), 1u);
    EXPECT_EQ(lines[0].text, "text 1");
    EXPECT_NE(lines[0].calledBy, std::this_thread::get_id());
}

TEST_F(LogMakeAsync, WithoutALoggerItThrows) {
    EXPECT_THROW(static_cast<void>(make_async(nullptr, writer)), spdlog::spdlog_ex);
}

}  // namespace
}  // namespace sluice::log
